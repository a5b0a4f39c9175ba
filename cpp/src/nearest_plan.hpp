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

template <class V> using Sum = typename Packing<V>::Sum;

// Points packed into tiles, group by group.
template <class V> struct PackedTiles {
    Tiles<V> tiles;
    std::vector<std::int64_t> starts; // first tile of each group
    Aligned<V> values[most_stages];
    Aligned<Sum<V>> halves[most_stages];
    std::vector<float> lowest, highest;
};

// value(i, a) is a coordinate of the i-th point in packed order, away(g, i) its distance from its centre.
template <class V, class Value, class Away>
void pack_tiles(PackedTiles<V>& out, const std::int64_t* starts, std::int64_t groups,
                const std::int64_t* stages, int n_stages, const Value& value, const Away& away, int n_threads,
                Watch& watch) {
    constexpr int together = Packing<V>::together;
    out.starts.assign(groups + 1, 0);
    for (std::int64_t g = 0; g < groups; ++g)
        out.starts[g + 1] = out.starts[g] + (starts[g + 1] - starts[g] + tile_width - 1) / tile_width;
    const std::int64_t tiles = out.starts[groups];
    out.lowest.resize(tiles);
    out.highest.resize(tiles);
    out.tiles.n_stages = n_stages;
    for (int s = 0; s < n_stages; ++s) {
        const std::int64_t steps = (stages[s] - (s == 0 ? 0 : stages[s - 1]) + together - 1) / together;
        out.tiles.steps[s] = steps;
        out.values[s] = Aligned<V>(tiles * tile_width * steps * together);
        out.halves[s] = Aligned<Sum<V>>(tiles * tile_width);
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
                if (there) {
                    low = std::min(low, away(g, i));
                    high = std::max(high, away(g, i));
                }
                std::int64_t from = 0;
                for (int s = 0; s < n_stages; ++s) {
                    const std::int64_t dims = stages[s] - from, steps = out.tiles.steps[s];
                    V* to = out.values[s].data() + (t * steps * tile_width + lane) * together;
                    double sum = 0;
                    for (std::int64_t a = 0; a < steps * together; ++a) {
                        const V v = there && a < dims ? value(i, from + a) : V(0);
                        to[a / together * together * tile_width + a % together] = v;
                        sum += static_cast<double>(v) * v;
                    }
                    out.halves[s][t * tile_width + lane] = there    ? static_cast<Sum<V>>(-sum / 2)
                                                           : s == 0 ? Packing<V>::nowhere
                                                                    : Sum<V>(0);
                    from = stages[s];
                }
            }
            out.lowest[t] = low * (1 - 1e-6f);
            out.highest[t] = high * (1 + 1e-6f);
        }
    });
}

// All that tasks read. Where the processor is faster with whole numbers, coordinates are rounded to those of
// a unit: distances move by less than `blur` / 4, far less than what tells neighbours apart, or floats stay.
template <class T> struct SearchPlan {
    Search<T> search;
    Scanner with;
    double (*squared)(const T*, const T*, std::int64_t);
    PackedTiles<float> points, centres;
    PackedTiles<std::int16_t> whole;              // instead of points, where there is a unit
    std::vector<float> centre_norms, group_norms; // of the centres, and the longest point of each group
    double share;                                 // error of a squared distance over (‖q‖ + ‖x‖)²
    double unit = 0, blur = 0;                    // a power of 2, or 0 for floats

    SearchPlan(const Search<T>& given, int n_threads, Watch& watch)
        : search(given), with(scanner()), centre_norms(given.groups), group_norms(given.groups),
          share((4.0 * static_cast<double>(given.d) + 16) * 0x1p-24) {
        if constexpr (std::is_same_v<T, float>)
            squared = with.squared_float;
        else
            squared = with.squared_double;
        const auto& p = search.points;
        const std::int64_t d = search.d;
        std::vector<float> away(p.count);
        measure(away, n_threads, watch);
        if (with.scan_integers && p.count > 0) {
            choose_unit(away);
            if (unit > 0)
                measure(away, n_threads, watch); // as they lie now
        }
        const auto apart = [&](std::int64_t, std::int64_t i) { return away[i]; };
        if (unit > 0)
            pack_tiles(
                whole, p.starts, search.groups, search.stages, search.n_stages,
                [&](std::int64_t i, std::int64_t a) { return number(p.values[p.order[i] * d + a]); }, apart,
                n_threads, watch);
        else
            pack_tiles(
                points, p.starts, search.groups, search.stages, search.n_stages,
                [&](std::int64_t i, std::int64_t a) { return p.values[p.order[i] * d + a]; }, apart,
                n_threads, watch);
        const std::int64_t all[2] = {0, search.groups}, once[1] = {d};
        pack_tiles(
            centres, all, 1, once, 1,
            [&](std::int64_t g, std::int64_t a) { return search.centres[g * d + a]; },
            [](std::int64_t, std::int64_t) { return 0.0f; }, n_threads, watch);
    }

    double error(double a, double b) const { return share * (a + b) * (a + b); }

    std::int16_t number(float v) const { return static_cast<std::int16_t>(std::lrint(v / unit)); }
    float rounded(float v) const { return unit > 0 ? static_cast<float>(number(v) * unit) : v; }
    const std::vector<std::int64_t>& starts() const { return unit > 0 ? whole.starts : points.starts; }

private:
    static constexpr double finest = 0.02; // blur, over how far points lie from their centres

    void measure(std::vector<float>& away, int n_threads, Watch& watch) {
        const auto& p = search.points;
        const std::int64_t d = search.d;
        const std::vector<float> origin(d, 0.0f);
        each_piece(search.groups, n_threads, watch, [&](std::int64_t g) {
            std::vector<float> x(d);
            const float* centre = search.centres + g * d;
            centre_norms[g] = static_cast<float>(std::sqrt(with.squared_float(centre, origin.data(), d)));
            group_norms[g] = 0;
            for (std::int64_t i = p.starts[g]; i < p.starts[g + 1]; ++i) {
                for (std::int64_t a = 0; a < d; ++a)
                    x[a] = rounded(p.values[p.order[i] * d + a]);
                away[i] = static_cast<float>(std::sqrt(with.squared_float(x.data(), centre, d)));
                const double norm = std::sqrt(with.squared_float(x.data(), origin.data(), d));
                group_norms[g] = std::max(group_norms[g], static_cast<float>(norm));
            }
        });
    }

    // The unit that the longest row allows, unless it would blur what lies near: outliers stretch it.
    void choose_unit(std::vector<float> away) {
        const std::int64_t d = search.d;
        const std::vector<float> origin(d, 0.0f);
        double longest = *std::max_element(group_norms.begin(), group_norms.end());
        const auto& q = search.queries;
        if (!search.itself)
            for (std::int64_t i = 0; i < q.count; ++i)
                longest =
                    std::max(longest, std::sqrt(with.squared_float(q.values + i * d, origin.data(), d)));
        const auto tenth = away.begin() + static_cast<std::ptrdiff_t>(away.size() / 10);
        std::nth_element(away.begin(), tenth, away.end());
        if (!(longest > 1e-10 && longest < 1e10))
            return;
        unit = std::exp2(std::ceil(std::log2(longest / Packing<std::int16_t>::longest)));
        blur = 2 * std::sqrt(static_cast<double>(d)) * unit;
        if (blur > finest * *tenth)
            unit = blur = 0;
    }
};

} // namespace lowdim::detail
