// Ranks from bounds of distances. Blocks of rows are multiplied in float; a bound on the rounding of every
// product turns it into an interval of squared distances. Intervals beyond a threshold settle themselves by
// vector comparisons, the few around it are summed in double. Counts are whole numbers, so that no order of
// threads changes them.
#include <lowdim/isa.hpp>
#include <lowdim/ranks.hpp>

#include "aligned.hpp"
#include "share.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#if defined(__clang__)
#define LOWDIM_UNROLL _Pragma("unroll")
#else
#define LOWDIM_UNROLL _Pragma("GCC unroll 16")
#endif

namespace lowdim {
namespace {

constexpr int panel = 48;           // rows packed side by side
constexpr int side = 240;           // rows of a block; a multiple of panel and of every vector
constexpr std::int64_t chunk = 128; // features multiplied before the sums are put away

constexpr int ahead = 12; // features fetched before they are needed

struct Below {
    std::int32_t all, some;
};

template <class T> struct Kernels {
    void (*products)(const float*, const float*, std::int64_t, float*);
    float (*bound)(const float*, float, float, const float*, const float*, float*, float*);
    Below (*below)(const float*, const float*, float);
    double (*square_apart)(const T*, const T*, std::int64_t);
};

namespace generic {
#define LOWDIM_TARGET
#define LOWDIM_BYTES 16
#define LOWDIM_ROWS 4
#define LOWDIM_VECTORS 3
#include "ranks.inl"
#undef LOWDIM_TARGET
#undef LOWDIM_BYTES
#undef LOWDIM_ROWS
#undef LOWDIM_VECTORS
} // namespace generic

#if LOWDIM_X86
namespace avx2 {
#define LOWDIM_TARGET __attribute__((target("avx2,fma")))
#define LOWDIM_BYTES 32
#define LOWDIM_ROWS 4
#define LOWDIM_VECTORS 3
#include "ranks.inl"
#undef LOWDIM_TARGET
#undef LOWDIM_BYTES
#undef LOWDIM_ROWS
#undef LOWDIM_VECTORS
} // namespace avx2

namespace avx512 {
#define LOWDIM_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#define LOWDIM_BYTES 64
#define LOWDIM_ROWS 8
#define LOWDIM_VECTORS 3
#include "ranks.inl"
#undef LOWDIM_TARGET
#undef LOWDIM_BYTES
#undef LOWDIM_ROWS
#undef LOWDIM_VECTORS
} // namespace avx512
#endif

template <class T> Kernels<T> choose() {
#if LOWDIM_X86
    if (isa() >= Isa::avx512)
        return avx512::kernels<T>;
    if (isa() >= Isa::avx2)
        return avx2::kernels<T>;
#endif
    return generic::kernels<T>;
}

// Columns that vary, and their means: the others add nothing to a distance, and rows less their mean lose
// fewer digits in products.
struct Columns {
    std::vector<std::int64_t> kept;
    std::vector<double> centre;

    template <class T> Columns(const RowMajor<const T>& X, int n_threads, Watch& watch) {
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
struct Packed {
    std::int64_t rows, blocks;
    detail::Aligned<float> values;
    std::vector<float> low, high;

    template <class T>
    Packed(const RowMajor<const T>& X, const Asking& asking, const Columns& columns, double scale,
           int n_threads, Watch& watch)
        : rows(asking.count), blocks((rows + side - 1) / side),
          values(blocks * side * columns.count()),
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
double scale_of(const RowMajor<const T>& X, const Columns& columns, int n_threads, Watch& watch) {
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

// Squared distances of all asking rows from their targets, and the same scaled, to compare bounds with.
struct Thresholds {
    std::vector<double> exact;
    std::vector<float> scaled;
};

// What one thread works with.
struct Desk {
    alignas(64) float G[side * side], turned[side * side];
    alignas(64) float low[side], high[side];
    double exact[side];
};

template <class T> struct Counting {
    const RowMajor<const T>& X;
    const Kernels<T>& kernels;
    const Asking& asking;
    const Packed &askers, &all;
    const Thresholds& thresholds;
    const std::int32_t* targets;
    std::int64_t k;
    std::int32_t* out;

    // Adds what the rows of block J put before the targets of the askers of block I, from their products G.
    void count(std::int64_t I, std::int64_t J, float* G, Desk& desk) const {
        const std::int64_t start = J * side;
        for (std::int64_t p = I * side; p < std::min(askers.rows, (I + 1) * side); ++p) {
            const std::int64_t i = asking.row(p);
            float* g = G + (p - I * side) * side;
            if (i >= start && i < start + side)
                g[i - start] = -std::numeric_limits<float>::infinity(); // infinitely far from itself
            const auto place = static_cast<std::size_t>(p);
            const float least =
                kernels.bound(g, askers.low[place], askers.high[place], all.low.data() + start,
                              all.high.data() + start, desk.low, desk.high);
            bool known = false;
            for (std::int64_t at = p * k; at < (p + 1) * k; ++at) {
                const float t = thresholds.scaled[static_cast<std::size_t>(at)];
                if (!(least < t))
                    continue;
                const Below found = kernels.below(desk.low, desk.high, t);
                std::int32_t before = found.all;
                if (found.some != before) {
                    if (!known)
                        std::fill(desk.exact, desk.exact + side, -1.0);
                    known = true;
                    before += settle(i, start, at, t, desk);
                }
                if (before) {
#pragma omp atomic
                    out[at] += before;
                }
            }
        }
    }

    // Of the rows of a block whose bounds leave it open, those that come before the target.
    std::int32_t settle(std::int64_t i, std::int64_t start, std::int64_t at, float t, Desk& desk) const {
        const double reached = thresholds.exact[static_cast<std::size_t>(at)];
        const std::int64_t target = targets[at];
        std::int32_t before = 0;
        for (int c = 0; c < side; ++c) {
            const std::int64_t j = start + c;
            if (!(desk.low[c] < t) || desk.high[c] < t || j == target)
                continue;
            if (desk.exact[c] < 0)
                desk.exact[c] = kernels.square_apart(X.data + i * X.stride, X.data + j * X.stride, X.cols);
            before += desk.exact[c] < reached || (desk.exact[c] == reached && j < target);
        }
        return before;
    }
};

void turn(const float* G, float* turned) {
    constexpr int step = 16;
    for (int r = 0; r < side; r += step)
        for (int c = 0; c < side; c += step)
            for (int i = r; i < r + step; ++i)
                for (int j = c; j < c + step; ++j)
                    turned[j * side + i] = G[i * side + j];
}

} // namespace

template <class T>
void squared_distances(const RowMajor<const T>& X, const Asking& asking, const std::int32_t* others,
                       std::int64_t k, double* out, int n_threads, Watch& watch) {
    const Kernels<T> kernels = choose<T>();
    constexpr std::int64_t few = 64;
    share((asking.count + few - 1) / few, 0, n_threads, watch, [&](std::int64_t part) {
        for (std::int64_t p = part * few; p < std::min(asking.count, (part + 1) * few); ++p)
            for (std::int64_t at = p * k; at < (p + 1) * k; ++at)
                out[at] = kernels.square_apart(X.data + asking.row(p) * X.stride,
                                               X.data + others[at] * X.stride, X.cols);
    });
}

template <class T>
void ranks(const RowMajor<const T>& X, const Asking& asking, const std::int32_t* targets, std::int64_t k,
           std::int32_t* out, int n_threads, Watch& watch) {
    std::fill(out, out + asking.count * k, 0);
    if (!asking.count || !k)
        return;
    const Kernels<T> kernels = choose<T>();
    const Columns columns(X, n_threads, watch);
    const double scale = scale_of(X, columns, n_threads, watch);
    const bool everyone = !asking.rows && asking.count == X.rows;
    const Packed all(X, {nullptr, X.rows}, columns, scale, n_threads, watch);
    std::unique_ptr<Packed> some;
    if (!everyone)
        some = std::make_unique<Packed>(X, asking, columns, scale, n_threads, watch);
    const Packed& askers = everyone ? all : *some;

    Thresholds thresholds;
    thresholds.exact.resize(static_cast<std::size_t>(asking.count * k));
    squared_distances(X, asking, targets, k, thresholds.exact.data(), n_threads, watch);
    thresholds.scaled.resize(thresholds.exact.size());
    std::transform(thresholds.exact.begin(), thresholds.exact.end(), thresholds.scaled.begin(),
                   [&](double t) { return static_cast<float>(t * scale * scale); });

    std::vector<std::pair<std::int32_t, std::int32_t>> tiles;
    for (std::int64_t I = 0; I < askers.blocks; ++I)
        for (std::int64_t J = everyone ? I : 0; J < all.blocks; ++J)
            tiles.emplace_back(static_cast<std::int32_t>(I), static_cast<std::int32_t>(J));
    std::vector<std::unique_ptr<Desk>> desks(static_cast<std::size_t>(n_threads));
    for (auto& desk : desks)
        desk = std::make_unique<Desk>();
    const Counting<T> counting{X, kernels, asking, askers, all, thresholds, targets, k, out};
    share(static_cast<std::int64_t>(tiles.size()), 1000, n_threads, watch, [&](std::int64_t tile) {
        Desk& desk = *desks[static_cast<std::size_t>(omp_get_thread_num())];
        const auto [I, J] = tiles[static_cast<std::size_t>(tile)];
        const std::int64_t d = columns.count();
        kernels.products(askers.block(I, d), all.block(J, d), d, desk.G);
        if (everyone && I != J) {
            turn(desk.G, desk.turned);
            counting.count(J, I, desk.turned, desk);
        }
        counting.count(I, J, desk.G, desk);
    });
}

void ranks_in(const RowMajor<const double>& D, const std::int32_t* targets, std::int64_t k, std::int32_t* out,
              int n_threads, Watch& watch) {
    share(D.rows, D.rows, n_threads, watch, [&](std::int64_t i) {
        const double* row = D.data + i * D.stride;
        for (std::int64_t at = i * k; at < (i + 1) * k; ++at) {
            const std::int64_t target = targets[at];
            const double t = row[target];
            std::int32_t before = 0;
            for (std::int64_t j = 0; j < target; ++j)
                before += row[j] <= t;
            for (std::int64_t j = target + 1; j < D.cols; ++j)
                before += row[j] < t;
            out[at] = before;
        }
    });
}

template void squared_distances(const RowMajor<const float>&, const Asking&, const std::int32_t*,
                                std::int64_t, double*, int, Watch&);
template void squared_distances(const RowMajor<const double>&, const Asking&, const std::int32_t*,
                                std::int64_t, double*, int, Watch&);
template void ranks(const RowMajor<const float>&, const Asking&, const std::int32_t*, std::int64_t,
                    std::int32_t*, int, Watch&);
template void ranks(const RowMajor<const double>&, const Asking&, const std::int32_t*, std::int64_t,
                    std::int32_t*, int, Watch&);

} // namespace lowdim
