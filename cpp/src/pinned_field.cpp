#include "pinned_field.hpp"

#include <algorithm>
#include <numeric>

namespace lowdim::detail {
namespace {

constexpr std::int64_t few = 1000; // moving points whose forces on each other are summed exactly
constexpr float slack = 0.1f;      // of the width of a box, by which the grid is wider

} // namespace

PinnedField::PinnedField(Repel how, int k, const Falloff& falloff, double spacing)
    : how_(how), k_(k), falloff_(falloff), grid_(falloff, std::min(k, 2), spacing) {}

// Charges the grid by the pinned points if it does not cover those that move; false if the map is too wide.
bool PinnedField::reach(const float* Y, std::int64_t moving, std::int64_t n, int n_threads, Watch& watch) {
    const Grid::Box now = grid_.box_of(Y, charged_ ? moving : n, n_threads, watch);
    bool inside = charged_;
    for (std::size_t d = 0; d < static_cast<std::size_t>(k_); ++d)
        inside &= now.low[d] >= box_.low[d] && now.high[d] <= box_.high[d];
    if (inside || watch.stopped())
        return true;
    Grid::Box wide = charged_ ? grid_.box_of(Y, n, n_threads, watch) : now;
    for (std::size_t d = 0; d < static_cast<std::size_t>(k_); ++d) {
        const float more = slack * (wide.high[d] - wide.low[d]) + 1.0f;
        wide.low[d] -= more;
        wide.high[d] += more;
    }
    charged_ = !watch.stopped() && grid_.suits(wide, n);
    if (!charged_)
        return false;
    box_ = wide;
    grid_.charge(Y + moving * k_, n - moving, box_, n_threads, watch);
    return true;
}

double PinnedField::operator()(Repulsion& repel, const float* Y, std::int64_t moving, std::int64_t n,
                               float* forces, int n_threads, Watch& watch) {
    const bool gridded = how_ == Repel::by_grid;
    if (gridded && !reach(Y, moving, n, n_threads, watch))
        return repel(Y, n, forces, nullptr, n_threads, watch);
    if (watch.stopped())
        return 1;
    const float* pinned = Y + moving * k_;
    const auto size = static_cast<std::size_t>(moving * k_);
    if (!measured_) {
        std::vector<float> unread(static_cast<std::size_t>((n - moving) * k_));
        among_ = repel(pinned, n - moving, unread.data(), nullptr, n_threads, watch);
        measured_ = true;
    }
    forces_.resize(size);
    phi_.resize(static_cast<std::size_t>(moving));
    double between = 0, own = 0;
    if (gridded) {
        between = grid_.read(Y, moving, forces_.data(), nullptr, n_threads, watch);
    } else {
        repel_exactly(Y, moving, pinned, n - moving, k_, falloff_, forces_.data(), phi_.data(), n_threads,
                      watch);
        between = std::accumulate(phi_.begin(), phi_.end(), 0.0);
    }
    if (moving <= few) {
        repel_exactly(Y, moving, Y, moving, k_, falloff_, forces, phi_.data(), n_threads, watch);
        own = std::accumulate(phi_.begin(), phi_.end(), -static_cast<double>(moving));
    } else {
        own = repel(Y, moving, forces, nullptr, n_threads, watch);
    }
    std::transform(forces_.begin(), forces_.end(), forces, forces, [](float a, float b) { return a + b; });
    return among_ + 2 * between + own;
}

} // namespace lowdim::detail
