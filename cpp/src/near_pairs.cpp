// Points by strip and bin, and the sum of the near and the far part.
#include "near_pairs.hpp"

#include "chunks.hpp"
#include "falloffs.hpp"
#include "instructions.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace lowdim::detail {
namespace {

constexpr double spacing = 1;          // of the grid for the far part
constexpr float reach = 5.3f;          // where the near part has fallen to 2e-5
constexpr float bin = 1;               // width; the height of a strip is the reach
constexpr int bins_within = 6;         // a reach
constexpr double vectors_a_cell = 0.4; // of pairs: as many take the time of a cell of a grid
constexpr float nowhere = 1e17f;       // no neighbour of any point

using Rows = Nearby::Rows;

// Calls visit(from, to) with the places of the points that may be within reach of those in a bin.
template <class Visit>
LOWDIM_INLINE void each_row(const Rows& rows, std::int64_t strip, std::int64_t bin, const Visit& visit) {
    const std::int64_t first = std::max<std::int64_t>(bin - bins_within, 0),
                       last = std::min(bin + bins_within + 1, rows.bins - 1);
    for (std::int64_t s = std::max<std::int64_t>(strip - 1, 0); s < std::min(strip + 2, rows.strips); ++s) {
        const std::int64_t from = rows.starts[s * rows.bins + first], to = rows.starts[s * rows.bins + last];
        if (from < to)
            visit(from, to);
    }
}

#define LOWDIM_KERNEL "near_pairs.inl"
#include "each_isa.inl"

} // namespace

Nearby::Nearby() : far_({}, 2, spacing, 0, KernelPart::far) {}

Nearby::Rows Nearby::rows() const {
    const auto room = static_cast<std::int64_t>(points_.size());
    return {planes_.data(), planes_.data() + room, points_.data(), starts_.data(), strips_, bins_};
}

bool Nearby::arrange(const float* Y, std::int64_t n, const Grid::Box& box, double cells) {
    if (!far_.suits(box, n)) // its cells would be larger than what the two parts were made for
        return false;
    const double wide = static_cast<double>(box.high[0]) - box.low[0],
                 tall = static_cast<double>(box.high[1]) - box.low[1], most = vectors_a_cell * cells;
    // Points that are spread evenly have the fewest pairs.
    const double evenly =
        static_cast<double>(n) * 3 * reach * (2 * bins_within + 1) * bin / ((wide + 1) * (tall + 1));
    if (static_cast<double>(n) * std::max(evenly / side, 1.0) > most)
        return false;
    strips_ = static_cast<std::int64_t>(tall / reach) + 1;
    bins_ = static_cast<std::int64_t>(wide / bin) + 2;
    starts_.assign(static_cast<std::size_t>(strips_ * bins_ + 1), 0);
    bin_of_.resize(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
        const auto strip =
            std::min(static_cast<std::int64_t>((Y[2 * i + 1] - box.low[1]) / reach), strips_ - 1);
        const auto at = std::min(static_cast<std::int64_t>((Y[2 * i] - box.low[0]) / bin), bins_ - 2);
        bin_of_[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(strip * bins_ + at);
        ++starts_[static_cast<std::size_t>(strip * bins_ + at)];
    }
    // The last bin of a strip is empty and has room for a whole vector from the last point on.
    std::int32_t next = 0;
    for (std::int64_t b = 0; b < strips_ * bins_; ++b)
        next +=
            std::exchange(starts_[static_cast<std::size_t>(b)], next) + (b % bins_ == bins_ - 1 ? side : 0);
    starts_.back() = next;
    const Rows rows = this->rows();
    double vectors = 0;
    for (std::int64_t strip = 0; strip < strips_; ++strip)
        for (std::int64_t b = 0; b + 1 < bins_; ++b) {
            const std::int64_t at = strip * bins_ + b;
            const auto count =
                starts_[static_cast<std::size_t>(at) + 1] - starts_[static_cast<std::size_t>(at)];
            if (count)
                each_row(rows, strip, b, [&](std::int64_t from, std::int64_t to) {
                    vectors += count * static_cast<double>((to - from + side - 1) / side);
                });
        }
    if (vectors > most)
        return false;
    points_.assign(static_cast<std::size_t>(next), -1);
    planes_.assign(2 * static_cast<std::size_t>(next), nowhere);
    places_ = starts_;
    for (std::int64_t i = 0; i < n; ++i) {
        const auto bin = static_cast<std::size_t>(bin_of_[static_cast<std::size_t>(i)]);
        const auto at = static_cast<std::size_t>(places_[bin]++);
        points_[at] = static_cast<std::int32_t>(i);
        planes_[at] = Y[2 * i];
        planes_[at + static_cast<std::size_t>(next)] = Y[2 * i + 1];
    }
    return true;
}

double Nearby::operator()(const float* Y, std::int64_t n, const Grid::Box& box, float* forces, float* phi,
                          int n_threads, Watch& watch) {
    far_.charge(Y, n, box, n_threads, watch);
    if (watch.stopped())
        return 1;
    const double sum = far_.read(Y, n, forces, phi, n_threads, watch);
    const Rows rows = this->rows();
    std::vector<double> sums(static_cast<std::size_t>(strips_), 0.0);
    const auto add = LOWDIM_PICK(add_pairs);
    each_piece(strips_, n_threads, watch, [&](std::int64_t strip) {
        sums[static_cast<std::size_t>(strip)] = add(rows, strip, forces, phi);
    });
    return std::accumulate(sums.begin(), sums.end(), sum);
}

} // namespace lowdim::detail
