// New points of a map that stays as it is: where each starts, and how it is moved.
#pragma once

#include "chunks.hpp"

#include <lowdim/descent.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace lowdim::detail {

constexpr double still = 1e-5; // a step of this length ends the search

// The value at which half the weight lies below, of the points in coordinate d.
inline float weighted_median(const std::int32_t* neighbors, const float* p, std::int64_t near, const float* Y,
                             int k, int d, std::vector<std::int64_t>& order) {
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

// Places each newcomer at the weighted median of its neighbours, then moves it by steps that never raise its
// loss. look(neighbors, p, y, step) gives the loss at y and where a step of unit length would take it.
template <class Look>
void settle(const Newcomers& newcomers, const float* Y, int k, std::int64_t iterations, const Look& look,
            float* out, int n_threads, Watch& watch) {
    each_chunk(newcomers.rows, 16, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
        std::vector<float> y(static_cast<std::size_t>(k)), step(y), next(y), step_next(y);
        std::vector<std::int64_t> order;
        for (std::int64_t i = from; i < to && !watch.stopped(); ++i) {
            const std::int32_t* neighbors = newcomers.neighbors + i * newcomers.near;
            const float* p = newcomers.p + i * newcomers.near;
            for (int d = 0; d < k; ++d)
                y[static_cast<std::size_t>(d)] =
                    weighted_median(neighbors, p, newcomers.near, Y, k, d, order);
            double loss = look(neighbors, p, y.data(), step.data());
            float size = 1;
            for (std::int64_t turn = 0; turn < iterations; ++turn) {
                double moved = 0;
                for (std::size_t d = 0; d < y.size(); ++d) {
                    next[d] = y[d] + size * step[d];
                    moved += static_cast<double>(next[d] - y[d]) * (next[d] - y[d]);
                }
                if (moved < still * still)
                    break;
                const double there = look(neighbors, p, next.data(), step_next.data());
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
}

} // namespace lowdim::detail
