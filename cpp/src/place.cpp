// New points of a fixed map.
#include "chunks.hpp"
#include "exact.hpp"
#include "falloffs.hpp"
#include "grid.hpp"

#include <lowdim/descent.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <vector>

namespace lowdim {
namespace {

constexpr std::int64_t chunk = 16;
constexpr double margin = 10;         // of the grid about the map, in units of the falloff
constexpr double still = 1e-5;        // a step of this length ends the search
constexpr std::int64_t likeliest = 4; // neighbours whose places are starts too
constexpr float apart = 1.0f;         // from the place found, for a start to lead elsewhere

// The field of the map at one point: from the grid where it reaches, else summed.
class Field {
public:
    Field(const float* Y, std::int64_t n, int k, const Falloff& falloff, double spacing, int n_threads,
          Watch& watch)
        : k_(k), gridded_(k <= 2), grid_(falloff, k, spacing, margin), sums_(Y, n, k, falloff) {
        if (gridded_)
            grid_.charge(Y, n, grid_.box_of(Y, n, n_threads, watch), n_threads, watch);
    }

    // φ(y), and −½∇φ in `force`.
    double at(const float* y, float* force) {
        if (gridded_ && grid_.covers(y)) {
            Watch unwatched;
            return grid_.read(y, 1, force, nullptr, 1, unwatched);
        }
        double phi = 0;
        std::vector<double> sums(static_cast<std::size_t>(k_), 0.0);
        for (std::int64_t tile = 0; tile < sums_.tiles(); ++tile)
            phi += sums_.at(y, tile, sums.data());
        std::transform(sums.begin(), sums.end(), force, [](double sum) { return static_cast<float>(sum); });
        return phi;
    }

private:
    int k_;
    bool gridded_;
    detail::Grid grid_;
    detail::ExactField<float> sums_;
};

// The value at which half the weight lies below, of the points in coordinate d.
float weighted_median(const std::int32_t* neighbors, const float* p, std::int64_t near, const float* Y, int k,
                      int d, std::vector<std::int64_t>& order) {
    order.resize(static_cast<std::size_t>(near));
    std::iota(order.begin(), order.end(), 0);
    const auto at = [&](std::int64_t j) { return Y[static_cast<std::int64_t>(neighbors[j]) * k + d]; };
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return at(a) < at(b); });
    const double half = 0.5 * std::accumulate(p, p + near, 0.0);
    double sum = 0;
    for (std::int64_t j : order)
        if ((sum += p[j]) >= half)
            return at(j);
    return at(order.back());
}

// One newcomer after another. A newcomer whose neighbours lie in several clusters has a loss that is flat
// between them and falls towards infinity, where nothing repels: so it starts in several places and stays in
// the box of its neighbours.
template <class F> class Settling {
public:
    Settling(const F& f, Field& field, const float* Y, int k)
        : f_(f), field_(field), Y_(Y), k_(static_cast<std::size_t>(k)), low_(k_), high_(k_), pull_(k_),
          next_(k_), step_(k_), step_next_(k_), y_(k_), best_(k_) {}

    void place(const std::int32_t* neighbors, const float* p, std::int64_t near, std::int64_t iterations,
               float* out) {
        neighbors_ = neighbors, p_ = p, near_ = near;
        fit_box();
        for (std::size_t d = 0; d < k_; ++d)
            best_[d] =
                weighted_median(neighbors, p, near, Y_, static_cast<int>(k_), static_cast<int>(d), order_);
        double least = settle(best_, iterations);
        order_.resize(static_cast<std::size_t>(near));
        std::iota(order_.begin(), order_.end(), 0);
        std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return p[a] > p[b]; });
        for (std::int64_t j = 0; j < std::min(likeliest, near); ++j) {
            const float* start = place_of(order_[static_cast<std::size_t>(j)]);
            if (square_apart(start, best_.data()) <= apart * apart)
                continue;
            y_.assign(start, start + k_);
            if (const double loss = settle(y_, iterations); loss < least) {
                least = loss;
                best_.swap(y_);
            }
        }
        std::copy(best_.begin(), best_.end(), out);
    }

private:
    [[nodiscard]] const float* place_of(std::int64_t j) const {
        return Y_ + static_cast<std::int64_t>(neighbors_[j]) * static_cast<std::int64_t>(k_);
    }

    float square_apart(const float* a, const float* b) const {
        float s = 0;
        for (std::size_t d = 0; d < k_; ++d)
            s += (a[d] - b[d]) * (a[d] - b[d]);
        return s;
    }

    void fit_box() {
        std::copy_n(place_of(0), k_, low_.begin());
        std::copy_n(place_of(0), k_, high_.begin());
        for (std::int64_t j = 1; j < near_; ++j)
            for (std::size_t d = 0; d < k_; ++d) {
                low_[d] = std::min(low_[d], place_of(j)[d]);
                high_[d] = std::max(high_[d], place_of(j)[d]);
            }
    }

    // Lowers the loss of y by steps that never raise it, in the box; returns it.
    double settle(std::vector<float>& y, std::int64_t iterations) {
        double loss = look(y.data(), step_.data());
        float size = 1;
        for (std::int64_t turn = 0; turn < iterations; ++turn) {
            for (std::size_t d = 0; d < k_; ++d)
                next_[d] = std::clamp(y[d] + size * step_[d], low_[d], high_[d]);
            if (static_cast<double>(square_apart(next_.data(), y.data())) < still * still)
                break;
            const double there = look(next_.data(), step_next_.data());
            if (there <= loss) {
                loss = there;
                y.swap(next_);
                step_.swap(step_next_);
                size = std::min(1.0f, 2 * size);
            } else {
                size /= 2;
            }
        }
        return loss;
    }

    // Loss at y, and where a step of unit length would take it: attraction a Newton-like step by its own
    // curvature Σ p a, repulsion by the same.
    double look(const float* y, float* step) {
        std::fill(pull_.begin(), pull_.end(), 0.0);
        double loss = 0, curvature = 0;
        for (std::int64_t j = 0; j < near_; ++j) {
            const float* other = place_of(j);
            const float s = square_apart(y, other);
            const double weight = static_cast<double>(p_[j]) * f_.pull(s);
            curvature += weight;
            loss += static_cast<double>(p_[j]) * f_.cost(s);
            for (std::size_t d = 0; d < k_; ++d)
                pull_[d] += weight * (static_cast<double>(y[d]) - other[d]);
        }
        const double phi = std::max(field_.at(y, step), 1e-30);
        for (std::size_t d = 0; d < k_; ++d)
            step[d] = static_cast<float>((step[d] / phi - pull_[d]) / std::max(curvature, 1e-30));
        return loss + std::log(phi);
    }

    const F& f_;
    Field& field_;
    const float* Y_;
    std::size_t k_;
    const std::int32_t* neighbors_ = nullptr;
    const float* p_ = nullptr;
    std::int64_t near_ = 0;
    std::vector<float> low_, high_;
    std::vector<double> pull_;
    std::vector<float> next_, step_, step_next_, y_, best_;
    std::vector<std::int64_t> order_;
};

} // namespace

void place(const Newcomers& newcomers, const float* Y, std::int64_t n, int k, const Falloff& falloff,
           double spacing, std::int64_t iterations, float* out, int n_threads, Watch& watch) {
    Field field(Y, n, k, falloff, spacing, n_threads, watch);
    detail::with_falloff<float>(falloff, [&](const auto& f) {
        using F = std::decay_t<decltype(f)>;
        detail::each_chunk(
            newcomers.rows, chunk, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
                Settling<F> settling(f, field, Y, k);
                for (std::int64_t i = from; i < to && !watch.stopped(); ++i) {
                    settling.place(newcomers.neighbors + i * newcomers.near, newcomers.p + i * newcomers.near,
                                   newcomers.near, iterations, out + i * k);
                    watch.advance(1);
                }
            });
    });
}

} // namespace lowdim
