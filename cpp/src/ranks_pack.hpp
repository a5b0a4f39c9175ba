// Rows prepared for the products of ranks.cpp: columns that do not vary left out, less the mean, scaled, in
// panels of float.
#pragma once

#include "aligned.hpp"
#include "chunks.hpp"

#include <lowdim/ranks.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace lowdim::detail {

// Columns that vary, and their means: the others add nothing to a distance, and rows less their mean lose
// fewer digits in products.
struct VaryingColumns {
    std::vector<std::int64_t> kept;
    std::vector<double> centre;

    template <class T> VaryingColumns(const RowMajor<const T>& X, int n_threads, Watch& watch) {
        constexpr std::int64_t parts = 64;
        const auto d = static_cast<std::size_t>(X.cols);
        struct Part {
            std::vector<double> sums;
            std::vector<char> varies;
        };
        std::vector<Part> found(parts, Part{std::vector<double>(d), std::vector<char>(d)});
        share(parts, 0, n_threads, watch, [&](std::int64_t p) {
            Part& part = found[static_cast<std::size_t>(p)];
            for (std::int64_t i = p * X.rows / parts; i < (p + 1) * X.rows / parts; ++i) {
                const T* x = X.data + i * X.stride;
                for (std::size_t s = 0; s < d; ++s) {
                    part.sums[s] += static_cast<double>(x[s]);
                    part.varies[s] |= static_cast<char>(x[s] != X.data[s]);
                }
            }
        });
        for (std::size_t s = 0; s < d; ++s) {
            double sum = 0;
            bool varies = false;
            for (const Part& part : found) {
                sum += part.sums[s];
                varies |= part.varies[s] != 0;
            }
            if (varies || (s + 1 == d && kept.empty())) { // one at least, so that there are products
                kept.push_back(static_cast<std::int64_t>(s));
                centre.push_back(sum / static_cast<double>(X.rows));
            }
        }
    }

    std::int64_t count() const { return static_cast<std::int64_t>(kept.size()); }

    // Calls take(s, value) for the s-th kept column of a row, less its mean.
    template <class T, class Take> void each(const T* x, const Take& take) const {
        for (std::size_t s = 0; s < kept.size(); ++s)
            take(static_cast<std::int64_t>(s), static_cast<double>(x[kept[s]]) - centre[s]);
    }
};

// Rows less the centre, scaled into the range of float: panel by panel, feature by feature, and their squared
// norms made smaller and larger by the share that rounding can change. Rows up to the next full block are
// zeros infinitely far away.
struct PackedRows {
    static constexpr int panel = 48;           // rows packed side by side
    static constexpr int side = 240;           // rows of a block; a multiple of panel and of every vector
    static constexpr std::int64_t chunk = 128; // features multiplied before the sums are put away

    std::int64_t rows, blocks;
    Aligned<float> values;
    std::vector<float> low, high;

    template <class T>
    PackedRows(const RowMajor<const T>& X, const Asking& asking, const VaryingColumns& columns, double scale,
               int n_threads, Watch& watch)
        : rows(asking.count), blocks((rows + side - 1) / side), values(blocks * side * columns.count()),
          low(static_cast<std::size_t>(blocks * side), std::numeric_limits<float>::infinity()), high(low) {
        const std::int64_t d = columns.count(), chunks = (d + chunk - 1) / chunk;
        // Products of float rows: a sum of s terms is wrong by at most s units of ‖x‖‖y‖ ≤ (‖x‖² + ‖y‖²)/2;
        // the rest covers the rounding of the rows, of the norms and of the threshold.
        const double share_of_norm = (static_cast<double>(std::min(d, chunk) + chunks) + 16) * 0x1p-24;
        share(blocks * (side / panel), 0, n_threads, watch, [&](std::int64_t p) {
            float* out = values.data() + p * panel * d;
            for (int r = 0; r < panel; ++r) {
                const std::int64_t i = p * panel + r;
                if (i >= rows) {
                    for (std::int64_t s = 0; s < d; ++s)
                        out[s * panel + r] = 0;
                    continue;
                }
                double norm = 0;
                columns.each(X.data + asking.row(i) * X.stride, [&](std::int64_t s, double gap) {
                    const auto value = static_cast<float>(gap * scale);
                    out[s * panel + r] = value;
                    norm += static_cast<double>(value) * value;
                });
                const double room = norm * share_of_norm + 1e-30; // where even the squares vanish
                low[static_cast<std::size_t>(i)] = static_cast<float>(norm - room);
                high[static_cast<std::size_t>(i)] = static_cast<float>(norm + room);
            }
        });
    }

    const float* block(std::int64_t b, std::int64_t d) const { return values.data() + b * side * d; }
};

// Power of two that brings the longest row, less the centre, near length 1.
template <class T>
double scale_of(const RowMajor<const T>& X, const VaryingColumns& columns, int n_threads, Watch& watch) {
    constexpr std::int64_t side = PackedRows::side;
    const std::int64_t parts = (X.rows + side - 1) / side;
    std::vector<double> longest(static_cast<std::size_t>(parts), 0.0);
    share(parts, 0, n_threads, watch, [&](std::int64_t p) {
        for (std::int64_t i = p * side; i < std::min(X.rows, (p + 1) * side); ++i) {
            double norm = 0;
            columns.each(X.data + i * X.stride, [&](std::int64_t, double gap) { norm += gap * gap; });
            longest[static_cast<std::size_t>(p)] = std::max(longest[static_cast<std::size_t>(p)], norm);
        }
    });
    const double most = *std::max_element(longest.begin(), longest.end());
    return most > 0 ? std::exp2(-std::round(std::log2(std::sqrt(most)))) : 1.0;
}

} // namespace lowdim::detail
