// New points of a map that stays as it is.
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
constexpr double margin = 10;  // of the grid about the map, in units of the falloff
constexpr double still = 1e-5; // a step of this length ends the search

// The field of the map at one point: from the grid where it reaches, else summed.
class Field {
public:
    Field(const float* Y, std::int64_t n, int k, const Falloff& falloff, double spacing, int n_threads,
          Watch& watch)
        : k_(k), gridded_(k <= 2), grid_(falloff, k, spacing, margin), sums_(Y, n, k, falloff) {
        if (gridded_)
            grid_.charge(Y, n, n_threads, watch);
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

// Loss of a newcomer at y, and where a step of unit length would take it: attraction a Newton-like step by
// its own curvature Σ p a, repulsion by the same.
template <class F>
double look(const F& f, Field& field, const std::int32_t* neighbors, const float* p, std::int64_t near,
            const float* Y, int k, const float* y, float* step) {
    std::vector<double> pull(static_cast<std::size_t>(k), 0.0);
    double loss = 0, curvature = 0;
    for (std::int64_t j = 0; j < near; ++j) {
        const float* other = Y + static_cast<std::int64_t>(neighbors[j]) * k;
        float s = 0;
        for (int d = 0; d < k; ++d)
            s += (y[d] - other[d]) * (y[d] - other[d]);
        const double weight = static_cast<double>(p[j]) * f.pull(s);
        curvature += weight;
        loss += static_cast<double>(p[j]) * f.cost(s);
        for (int d = 0; d < k; ++d)
            pull[static_cast<std::size_t>(d)] += weight * (static_cast<double>(y[d]) - other[d]);
    }
    const double phi = std::max(field.at(y, step), 1e-30);
    for (int d = 0; d < k; ++d)
        step[d] = static_cast<float>((step[d] / phi - pull[static_cast<std::size_t>(d)]) /
                                     std::max(curvature, 1e-30));
    return loss + std::log(phi);
}

} // namespace

void place(const Newcomers& newcomers, const float* Y, std::int64_t n, int k, const Falloff& falloff,
           double spacing, std::int64_t iterations, float* out, int n_threads, Watch& watch) {
    Field field(Y, n, k, falloff, spacing, n_threads, watch);
    detail::with_falloff<float>(falloff, [&](const auto& f) {
        detail::each_chunk(
            newcomers.rows, chunk, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
                std::vector<float> y(static_cast<std::size_t>(k)), step(y), next(y), step_next(y);
                std::vector<std::int64_t> order;
                for (std::int64_t i = from; i < to && !watch.stopped(); ++i) {
                    const std::int32_t* neighbors = newcomers.neighbors + i * newcomers.near;
                    const float* p = newcomers.p + i * newcomers.near;
                    for (int d = 0; d < k; ++d)
                        y[static_cast<std::size_t>(d)] =
                            weighted_median(neighbors, p, newcomers.near, Y, k, d, order);
                    double loss = look(f, field, neighbors, p, newcomers.near, Y, k, y.data(), step.data());
                    float size = 1;
                    for (std::int64_t turn = 0; turn < iterations; ++turn) {
                        double moved = 0;
                        for (std::size_t d = 0; d < y.size(); ++d) {
                            next[d] = y[d] + size * step[d];
                            moved += static_cast<double>(next[d] - y[d]) * (next[d] - y[d]);
                        }
                        if (moved < still * still)
                            break;
                        const double there =
                            look(f, field, neighbors, p, newcomers.near, Y, k, next.data(), step_next.data());
                        if (there <= loss) {
                            loss = there;
                            y.swap(next);
                            step.swap(step_next);
                            size = std::min(1.0f, 2 * size);
                        } else {
                            size /= 2;
                        }
                    }
                    std::copy(y.begin(), y.end(), out + i * k);
                    watch.advance(1);
                }
            });
    });
}

} // namespace lowdim
