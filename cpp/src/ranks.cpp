// Ranks from bounds of distances. Blocks of rows are multiplied in float; a bound on the rounding of every
// product turns it into an interval of squared distances. Intervals beyond a threshold are decided by vector
// comparisons, the few around it are summed in double. Counts are integers, so that the order of threads does
// not matter.
#include <lowdim/ranks.hpp>

#include "chunks.hpp"
#include "instructions.hpp"
#include "ranks_pack.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace lowdim {
namespace {

using detail::PackedRows;
using detail::share;

constexpr int panel = PackedRows::panel, side = PackedRows::side;
constexpr std::int64_t chunk = PackedRows::chunk;
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

#define LOWDIM_KERNEL "ranks.inl"
#include "each_isa.inl"

// Squared distances of all querying rows from their targets, and the scale of the rows that bounds are of.
struct Thresholds {
    std::vector<double> exact;
    double scale;

    float scaled(std::int64_t at) const {
        return static_cast<float>(exact[static_cast<std::size_t>(at)] * scale * scale);
    }
};

// Workspace of one thread.
struct Workspace {
    alignas(64) float G[side * side], turned[side * side];
    alignas(64) float low[side], high[side];
    double exact[side];
};

template <class T> struct Counting {
    const RowMajor<const T>& X;
    const Kernels<T>& kernels;
    const Asking& asking;
    const PackedRows &askers, &all;
    const Thresholds& thresholds;
    const std::int32_t* targets;
    std::int64_t k;
    std::int32_t* out;

    // Adds what the rows of block J put before the targets of the querying rows of block I, from their
    // products G.
    void count(std::int64_t I, std::int64_t J, float* G, Workspace& workspace) const {
        const std::int64_t start = J * side;
        for (std::int64_t p = I * side; p < std::min(askers.rows, (I + 1) * side); ++p) {
            const std::int64_t i = asking.row(p);
            float* g = G + (p - I * side) * side;
            if (i >= start && i < start + side)
                g[i - start] = -std::numeric_limits<float>::infinity(); // infinitely far from itself
            const auto place = static_cast<std::size_t>(p);
            const float least =
                kernels.bound(g, askers.low[place], askers.high[place], all.low.data() + start,
                              all.high.data() + start, workspace.low, workspace.high);
            bool known = false;
            for (std::int64_t at = p * k; at < (p + 1) * k; ++at) {
                const float t = thresholds.scaled(at);
                if (!(least < t))
                    continue;
                const Below found = kernels.below(workspace.low, workspace.high, t);
                std::int32_t before = found.all;
                if (found.some != before) {
                    if (!known)
                        std::fill(workspace.exact, workspace.exact + side, -1.0);
                    known = true;
                    before += resolve(i, start, at, t, workspace);
                }
                if (before)
                    std::atomic_ref(out[at]).fetch_add(before, std::memory_order_relaxed);
            }
        }
    }

    // Of the rows of a block whose bounds leave it open, those that come before the target.
    std::int32_t resolve(std::int64_t i, std::int64_t start, std::int64_t at, float t,
                         Workspace& workspace) const {
        const double reached = thresholds.exact[static_cast<std::size_t>(at)];
        const std::int64_t target = targets[at];
        std::int32_t before = 0;
        for (int c = 0; c < side; ++c) {
            const std::int64_t j = start + c;
            if (!(workspace.low[c] < t) || workspace.high[c] < t || j == target)
                continue;
            if (workspace.exact[c] < 0)
                workspace.exact[c] =
                    kernels.square_apart(X.data + i * X.stride, X.data + j * X.stride, X.cols);
            before += workspace.exact[c] < reached || (workspace.exact[c] == reached && j < target);
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
    const Kernels<T> kernels = LOWDIM_PICK(kernels<T>);
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
    const Kernels<T> kernels = LOWDIM_PICK(kernels<T>);
    const detail::VaryingColumns columns(X, n_threads, watch);
    const double scale = detail::scale_of(X, columns, n_threads, watch);
    const bool everyone = !asking.rows && asking.count == X.rows;
    const PackedRows all(X, {nullptr, X.rows}, columns, scale, n_threads, watch);
    std::unique_ptr<PackedRows> some;
    if (!everyone)
        some = std::make_unique<PackedRows>(X, asking, columns, scale, n_threads, watch);
    const PackedRows& askers = everyone ? all : *some;

    Thresholds thresholds{std::vector<double>(static_cast<std::size_t>(asking.count * k)), scale};
    squared_distances(X, asking, targets, k, thresholds.exact.data(), n_threads, watch);

    std::vector<std::pair<std::int32_t, std::int32_t>> tiles;
    for (std::int64_t I = 0; I < askers.blocks; ++I)
        for (std::int64_t J = everyone ? I : 0; J < all.blocks; ++J)
            tiles.emplace_back(static_cast<std::int32_t>(I), static_cast<std::int32_t>(J));
    detail::Workspaces<Workspace> workspaces(n_threads);
    const Counting<T> counting{X, kernels, asking, askers, all, thresholds, targets, k, out};
    share(static_cast<std::int64_t>(tiles.size()), 1000, n_threads, watch, [&](std::int64_t tile, int place) {
        Workspace& workspace = workspaces.at(place);
        const auto [I, J] = tiles[static_cast<std::size_t>(tile)];
        const std::int64_t d = columns.count();
        kernels.products(askers.block(I, d), all.block(J, d), d, workspace.G);
        if (everyone && I != J) {
            turn(workspace.G, workspace.turned);
            counting.count(J, I, workspace.turned, workspace);
        }
        counting.count(I, J, workspace.G, workspace);
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
