// Every row is solved separately, so that the bits do not depend on the number of threads.
#include "aligned.hpp"
#include "chunks.hpp"
#include "instructions.hpp"

#include <lowdim/barycentric.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace lowdim {
namespace {

constexpr std::int64_t chunk = 64;
constexpr std::int64_t columns = 32; // of the neighbours at a time
constexpr std::int64_t most_lanes = 8;
constexpr std::int64_t few = 64; // neighbours up to which several rows are solved at once, one to a lane

// Cholesky factor of the lower half of A (k × k), in place; false if A is not positive definite.
bool factor(double* A, std::int64_t k) {
    for (std::int64_t j = 0; j < k; ++j) {
        double pivot = A[j * k + j];
        const double whole = pivot;
        for (std::int64_t p = 0; p < j; ++p)
            pivot -= A[j * k + p] * A[j * k + p];
        if (!(pivot > whole * std::numeric_limits<double>::epsilon()))
            return false;
        const double root = std::sqrt(pivot);
        A[j * k + j] = root;
        for (std::int64_t i = j + 1; i < k; ++i) {
            double sum = A[i * k + j];
            for (std::int64_t p = 0; p < j; ++p)
                sum -= A[i * k + p] * A[j * k + p];
            A[i * k + j] = sum / root;
        }
    }
    return true;
}

#define LOWDIM_KERNEL "barycentric.inl"
#include "each_isa.inl"

} // namespace

void solve_weights(double* G, std::int64_t k, double reg, double* w) {
    double trace = 0;
    for (std::int64_t j = 0; j < k; ++j)
        trace += G[j * k + j];
    if (!(trace > 0) && std::isfinite(trace)) {
        std::fill_n(w, k, 1.0 / static_cast<double>(k));
        return;
    }
    // G over its trace, and with a large ridge over that too: no ridge overflows, and the loop ends.
    const double unit = 1 / std::max(1.0, reg);
    double ridge = reg * unit;
    std::vector<double> diagonal(k);
    for (std::int64_t i = 0; i < k; ++i) {
        diagonal[i] = unit * (G[i * k + i] / trace);
        for (std::int64_t j = i + 1; j < k; ++j)
            G[i * k + j] = unit * (G[i * k + j] / trace);
    }
    // The lower half becomes the factor, the upper keeps G; without a ridge a singular G needs a small one.
    for (;; ridge = std::max(10 * ridge, 1e-14)) {
        if (!(ridge <= 10)) { // entries that are no numbers have no factor
            std::fill_n(w, k, std::numeric_limits<double>::quiet_NaN());
            return;
        }
        for (std::int64_t i = 0; i < k; ++i) {
            for (std::int64_t j = 0; j < i; ++j)
                G[i * k + j] = G[j * k + i];
            G[i * k + i] = diagonal[i] + ridge;
        }
        if (factor(G, k))
            break;
    }
    for (std::int64_t i = 0; i < k; ++i) { // L v = 1
        double sum = 1;
        for (std::int64_t p = 0; p < i; ++p)
            sum -= G[i * k + p] * w[p];
        w[i] = sum / G[i * k + i];
    }
    for (std::int64_t i = k - 1; i >= 0; --i) { // Lᵀ w = v
        for (std::int64_t p = i + 1; p < k; ++p)
            w[i] -= G[p * k + i] * w[p];
        w[i] /= G[i * k + i];
    }
    double total = 0;
    for (std::int64_t i = 0; i < k; ++i)
        total += w[i];
    for (std::int64_t i = 0; i < k; ++i)
        w[i] /= total;
}

template <class T>
void barycentric(const T* X, const T* Q, std::int64_t d, const std::int64_t* starts,
                 const std::int32_t* neighbors, std::int64_t rows, double reg, double* out, int n_threads,
                 Watch& watch) {
    std::int64_t most = 0;
    for (std::int64_t i = 0; i < rows; ++i)
        most = std::max(most, starts[i + 1] - starts[i]);
    const auto inner = LOWDIM_PICK(inner_products);
    const auto several = LOWDIM_PICK(weights_of<T>);
    const int lanes = LOWDIM_PICK(lanes);
    const std::int64_t side = std::min(most, few);
    struct Workspace {
        std::vector<double> Z, G;
        detail::Aligned<double> lanes;
        Workspace(std::int64_t k, std::int64_t d, std::int64_t side)
            : Z(static_cast<std::size_t>(k * d)), G(static_cast<std::size_t>(k * k)),
              lanes(most_lanes * side * (side + columns + 2)) {}
    };
    detail::Workspaces<Workspace> workspaces(n_threads);
    const auto one = [&](std::int64_t i, Workspace& workspace) {
        const std::int64_t k = starts[i + 1] - starts[i];
        const T* at = Q + i * d;
        for (std::int64_t j = 0; j < k; ++j) {
            const T* x = X + std::int64_t{neighbors[starts[i] + j]} * d;
            for (std::int64_t c = 0; c < d; ++c)
                workspace.Z[j * d + c] = static_cast<double>(x[c]) - static_cast<double>(at[c]);
        }
        inner(workspace.Z.data(), k, d, workspace.G.data());
        solve_weights(workspace.G.data(), k, reg, out + starts[i]);
    };
    detail::each_chunk(rows, chunk, n_threads, watch,
                       [&](std::int64_t, std::int64_t from, std::int64_t to, int place) {
                           Workspace& workspace = workspaces.at(place, most, d, side);
                           bool ok[most_lanes];
                           for (std::int64_t i = from; i < to && !watch.stopped();) {
                               const std::int64_t k = starts[i + 1] - starts[i], first = i;
                               const std::int64_t last = std::min(to, i + (k <= few ? lanes : 1));
                               do
                                   ++i;
                               while (i < last && starts[i + 1] - starts[i] == k);
                               const int count = static_cast<int>(i - first);
                               std::fill_n(ok, most_lanes, false);
                               if (k > 0 && k <= few)
                                   several(X, Q + first * d, d, neighbors + starts[first], count, k, reg,
                                           workspace.lanes.data(), out + starts[first], ok);
                               for (int l = 0; l < count; ++l)
                                   if (!ok[l])
                                       one(first + l, workspace);
                           }
                           watch.advance(to - from);
                       });
}

void gram_weights(double* G, std::int64_t rows, std::int64_t k, double reg, double* out, int n_threads,
                  Watch& watch) {
    detail::each_chunk(rows, chunk, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from; i < to && !watch.stopped(); ++i)
            solve_weights(G + i * k * k, k, reg, out + i * k);
        watch.advance(to - from);
    });
}

template void barycentric(const float*, const float*, std::int64_t, const std::int64_t*, const std::int32_t*,
                          std::int64_t, double, double*, int, Watch&);
template void barycentric(const double*, const double*, std::int64_t, const std::int64_t*,
                          const std::int32_t*, std::int64_t, double, double*, int, Watch&);

} // namespace lowdim
