// What is made ready before a search for neighbours: the groups of points in tiles, their norms, and how far
// a score may be wrong.
#pragma once

#include "aligned.hpp"
#include "chunks.hpp"
#include "nearest_scan.hpp"

#include <lowdim/nearest.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace lowdim::detail {

constexpr float nowhere = -1e30f, anywhere = -1e29f; // scores of padding; what no score of a point is below

// Points packed into tiles, group by group.
struct PackedTiles {
    Tiles tiles;
    std::vector<std::int64_t> starts; // first tile of each group
    Aligned<float> values[most_stages], halves[most_stages];
    std::vector<float> lowest, highest;
};

// row(i) gives the coordinates of the i-th point in packed order, away(i) its distance from its centre.
template <class Row, class Away>
void pack_tiles(PackedTiles& out, const std::int64_t* starts, std::int64_t groups, const std::int64_t* stages,
                int n_stages, const Row& row, const Away& away, int n_threads, Watch& watch) {
    out.starts.assign(groups + 1, 0);
    for (std::int64_t g = 0; g < groups; ++g)
        out.starts[g + 1] = out.starts[g] + (starts[g + 1] - starts[g] + tile_width - 1) / tile_width;
    const std::int64_t tiles = out.starts[groups];
    out.lowest.resize(tiles);
    out.highest.resize(tiles);
    out.tiles.n_stages = n_stages;
    for (int s = 0; s < n_stages; ++s) {
        out.tiles.ends[s] = stages[s];
        out.values[s] = Aligned<float>(tiles * tile_width * (stages[s] - (s == 0 ? 0 : stages[s - 1])));
        out.halves[s] = Aligned<float>(tiles * tile_width);
        out.tiles.values[s] = out.values[s].data();
        out.tiles.halves[s] = out.halves[s].data();
    }
    out.tiles.lowest = out.lowest.data();
    out.tiles.highest = out.highest.data();
    each_piece(groups, n_threads, watch, [&](std::int64_t g) {
        for (std::int64_t t = out.starts[g]; t < out.starts[g + 1]; ++t) {
            float low = std::numeric_limits<float>::max(), high = 0;
            for (int lane = 0; lane < tile_width; ++lane) {
                const std::int64_t i = starts[g] + (t - out.starts[g]) * tile_width + lane;
                const bool there = i < starts[g + 1];
                const float* x = there ? row(i) : nullptr;
                if (there) {
                    low = std::min(low, away(g, i));
                    high = std::max(high, away(g, i));
                }
                std::int64_t from = 0;
                for (int s = 0; s < n_stages; ++s) {
                    const std::int64_t steps = stages[s] - from;
                    float* to = out.values[s].data() + t * steps * tile_width + lane;
                    double sum = 0;
                    for (std::int64_t a = 0; a < steps; ++a) {
                        const float v = there ? x[from + a] : 0.0f;
                        to[a * tile_width] = v;
                        sum += static_cast<double>(v) * v;
                    }
                    out.halves[s][t * tile_width + lane] = there    ? static_cast<float>(-sum / 2)
                                                           : s == 0 ? nowhere
                                                                    : 0.0f;
                    from = stages[s];
                }
            }
            out.lowest[t] = low * (1 - 1e-6f);
            out.highest[t] = high * (1 + 1e-6f);
        }
    });
}

// All that tasks read.
template <class T> struct SearchPlan {
    Search<T> search;
    Scanner with;
    double (*squared)(const T*, const T*, std::int64_t);
    PackedTiles points, centres;
    std::vector<float> centre_norms, group_norms; // of the centres, and the longest point of each group
    double share;                                 // error of a squared distance over (‖q‖ + ‖x‖)²

    SearchPlan(const Search<T>& given, int n_threads, Watch& watch)
        : search(given), with(scanner()), centre_norms(given.groups), group_norms(given.groups),
          share((4.0 * static_cast<double>(given.d) + 16) * 0x1p-24) {
        if constexpr (std::is_same_v<T, float>)
            squared = with.squared_float;
        else
            squared = with.squared_double;
        const auto& p = search.points;
        const std::int64_t d = search.d;
        std::vector<float> away(p.count), norms(p.count);
        const std::vector<float> origin(d, 0.0f);
        each_piece(search.groups, n_threads, watch, [&](std::int64_t g) {
            const float* centre = search.centres + g * d;
            centre_norms[g] = static_cast<float>(std::sqrt(with.squared_float(centre, origin.data(), d)));
            for (std::int64_t i = p.starts[g]; i < p.starts[g + 1]; ++i) {
                const float* x = p.values + p.order[i] * d;
                away[i] = static_cast<float>(std::sqrt(with.squared_float(x, centre, d)));
                const double norm = std::sqrt(with.squared_float(x, origin.data(), d));
                group_norms[g] = std::max(group_norms[g], static_cast<float>(norm));
            }
        });
        pack_tiles(
            points, p.starts, search.groups, search.stages, search.n_stages,
            [&](std::int64_t i) { return p.values + p.order[i] * d; },
            [&](std::int64_t, std::int64_t i) { return away[i]; }, n_threads, watch);
        const std::int64_t all[2] = {0, search.groups}, once[1] = {d};
        pack_tiles(
            centres, all, 1, once, 1, [&](std::int64_t g) { return search.centres + g * d; },
            [](std::int64_t, std::int64_t) { return 0.0f; }, n_threads, watch);
    }

    double error(double a, double b) const { return share * (a + b) * (a + b); }
};

} // namespace lowdim::detail
