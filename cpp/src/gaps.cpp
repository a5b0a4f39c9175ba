// A few rows at a time lie side by side, so that each step of a small factorisation is one vector.
#include "aligned.hpp"
#include "chunks.hpp"
#include "instructions.hpp"

#include <lowdim/gaps.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace lowdim {
namespace {

constexpr int lanes = 8;          // rows at a time
constexpr std::int64_t some = 64; // rows of a piece, a multiple of lanes

constexpr std::int64_t triangle(std::int64_t k) { return k * (k + 1) / 2; }

#define LOWDIM_KERNEL "gaps.inl"
#include "each_isa.inl"

} // namespace

template <class T>
void observed(const RowMajor<const T>& X, const T* shift, const T* rate, bool zeros, const RowMajor<T>& Z,
              const RowMajor<T>& M, double* counts, double* squares, int n_threads, Watch& watch) {
    const auto row = LOWDIM_PICK(observed_row<T>);
    detail::each_chunk(X.rows, some, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from; i < to; ++i)
            row(X.data + i * X.stride, X.cols, shift, rate, zeros, Z.data + i * Z.stride,
                M.data + i * M.stride, counts + i, squares + i);
    });
}

template <class T>
void posteriors(const RowMajor<const T>& A, const RowMajor<const T>& B, double noise, const double* weights,
                const RowMajor<T>& means, const RowMajor<T>& products, double* logs, double* fits,
                int n_threads, Watch& watch) {
    const auto solve = LOWDIM_PICK(solve_lanes);
    const std::int64_t k = B.cols, q = A.cols, wide = products.cols;
    detail::Workspaces<detail::Aligned<double>> workspaces(n_threads);
    detail::each_chunk(
        A.rows, some, n_threads, watch, [&](std::int64_t, std::int64_t first, std::int64_t last, int place) {
            double* const L = workspaces.at(place, (2 * q + 2 * k + 2) * lanes).data();
            double *const V = L + q * lanes, *const b = V + q * lanes, *const t = b + k * lanes;
            double *const logdet = t + k * lanes, *const fit = logdet + lanes;
            for (std::int64_t from = first; from < last; from += lanes) {
                const std::int64_t count = std::min<std::int64_t>(lanes, last - from);
                for (std::int64_t l = 0; l < lanes; ++l) { // the last rows fill what would be left
                    const std::int64_t i = from + std::min(l, count - 1);
                    for (std::int64_t p = 0; p < q; ++p)
                        L[p * lanes + l] = static_cast<double>(A.data[i * A.stride + p]);
                    for (std::int64_t j = 0; j < k; ++j)
                        b[j * lanes + l] = static_cast<double>(B.data[i * B.stride + j]);
                }
                solve(k, noise, L, V, b, t, logdet, fit);
                for (std::int64_t l = 0; l < count; ++l) {
                    const std::int64_t i = from + l;
                    const double w = weights[i];
                    T *const mean = means.data + i * means.stride, *const out =
                                                                       products.data + i * products.stride;
                    for (std::int64_t j = 0, p = 0; j < k; ++j) {
                        const double tj = t[j * lanes + l];
                        mean[j] = static_cast<T>(w * tj);
                        out[q + j] = static_cast<T>(w * tj);
                        for (std::int64_t m = 0; m <= j; ++m, ++p)
                            out[p] = static_cast<T>(w * (tj * t[m * lanes + l] + noise * V[p * lanes + l]));
                    }
                    mean[k] = out[wide - 1] = static_cast<T>(w);
                    logs[i] = logdet[l];
                    fits[i] = fit[l];
                }
            }
        });
}

template void observed(const RowMajor<const float>&, const float*, const float*, bool, const RowMajor<float>&,
                       const RowMajor<float>&, double*, double*, int, Watch&);
template void observed(const RowMajor<const double>&, const double*, const double*, bool,
                       const RowMajor<double>&, const RowMajor<double>&, double*, double*, int, Watch&);
template void posteriors(const RowMajor<const float>&, const RowMajor<const float>&, double, const double*,
                         const RowMajor<float>&, const RowMajor<float>&, double*, double*, int, Watch&);
template void posteriors(const RowMajor<const double>&, const RowMajor<const double>&, double, const double*,
                         const RowMajor<double>&, const RowMajor<double>&, double*, double*, int, Watch&);

} // namespace lowdim
