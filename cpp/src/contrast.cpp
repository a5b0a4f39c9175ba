// A tile of rows is turned, so that a vector holds one coordinate of several rows; it is projected, its
// contrasts are taken and multiplied with it while all are in the cache.
#include "aligned.hpp"
#include "chunks.hpp"
#include "exp.hpp"
#include "instructions.hpp"

#include <lowdim/contrast.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

namespace lowdim {
namespace {

using detail::Exp;

constexpr std::int64_t tile_rows = 512,
                       tile_stride = tile_rows + 16; // columns apart from each other in the cache
constexpr std::int64_t group_tiles = 4;              // whose sums are added before they go to float64
constexpr std::int64_t most_parts = 64;              // of the rows
constexpr std::int64_t most_directions = 96;         // in one pass
constexpr int most_at_once = 6;                      // directions in registers

#define LOWDIM_KERNEL "contrast.inl"
#include "each_isa.inl"

// Adds the sums for p directions to products (p × k) and slopes.
template <class T>
void some_directions(const T* Z, const T* W, std::int64_t rows, std::int64_t k, std::int64_t p,
                     Contrast contrast, T alpha, double* products, double* slopes, int n_threads,
                     Watch& watch) {
    const std::int64_t group = group_tiles * tile_rows, groups = (rows + group - 1) / group,
                       parts = std::min(groups, most_parts), size = p * k + p;
    const std::int64_t deep = LOWDIM_PICK(columns_at_once()), lanes = LOWDIM_PICK(lanes_of<T>()),
                       padded = (k + deep - 1) / deep * deep;
    const auto take = LOWDIM_PICK(add_tile<T>);
    const auto add = LOWDIM_PICK(add_lanes<T>);
    std::vector<double> sums(static_cast<std::size_t>(parts * size), 0.0);
    struct Space {
        Space(std::int64_t columns, std::int64_t directions, std::int64_t width)
            : turned(columns * tile_stride), S(directions * tile_stride),
              lanes(directions * columns * width) {
            std::fill_n(turned.data(), turned.size(), T(0)); // of which padding stays
            std::fill_n(lanes.data(), lanes.size(), T(0));
        }
        detail::Aligned<T> turned, S, lanes;
    };
    detail::Workspaces<Space> spaces(n_threads);
    detail::each_piece(parts, n_threads, watch, [&](std::int64_t part, int place) {
        Space& space = spaces.at(place, padded, p, lanes);
        double* const sum = sums.data() + part * size;
        const std::int64_t from = groups * part / parts, to = groups * (part + 1) / parts;
        for (std::int64_t g = from; g < to && !watch.stopped(); ++g) {
            const std::int64_t last = std::min((g + 1) * group, rows);
            for (std::int64_t first = g * group; first < last; first += tile_rows)
                take(Z + first * k, std::min(tile_rows, last - first), k, W, p, contrast, alpha,
                     space.turned.data(), space.S.data(), space.lanes.data(), sum + p * k);
            add(space.lanes.data(), p, k, sum);
            watch.advance(last - g * group);
        }
    });
    for (std::int64_t part = 0; part < parts; ++part) {
        const double* const sum = sums.data() + part * size;
        for (std::int64_t i = 0; i < p * k; ++i)
            products[i] += sum[i];
        for (std::int64_t j = 0; j < p; ++j)
            slopes[j] += sum[p * k + j];
    }
}

} // namespace

template <class T>
void contrast_sums(const T* Z, const T* W, std::int64_t rows, std::int64_t k, std::int64_t p,
                   Contrast contrast, double alpha, double* products, double* slopes, int n_threads,
                   Watch& watch) {
    std::fill_n(products, p * k, 0.0);
    std::fill_n(slopes, p, 0.0);
    const std::int64_t panels = (p + most_directions - 1) / most_directions;
    for (std::int64_t panel = 0; panel < panels && !watch.stopped(); ++panel) {
        const std::int64_t from = p * panel / panels, to = p * (panel + 1) / panels;
        some_directions(Z, W + from * k, rows, k, to - from, contrast, static_cast<T>(alpha),
                        products + from * k, slopes + from, n_threads, watch);
    }
}

template void contrast_sums(const float*, const float*, std::int64_t, std::int64_t, std::int64_t, Contrast,
                            double, double*, double*, int, Watch&);
template void contrast_sums(const double*, const double*, std::int64_t, std::int64_t, std::int64_t, Contrast,
                            double, double*, double*, int, Watch&);

} // namespace lowdim
