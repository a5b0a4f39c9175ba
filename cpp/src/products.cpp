// Rows that are contiguous are columns to BLAS: it is asked for outᵀ = Bᵀ Aᵀ.
#include "aligned.hpp"
#include "chunks.hpp"

#include <lowdim/products.hpp>

#include <algorithm>
#include <limits>

namespace lowdim {
namespace {

// The first of the largest x[j] − less[j], by lanes that vectors can hold.
std::int64_t first_largest(const float* x, const float* less, std::int64_t n) {
    constexpr std::int64_t lanes = 16;
    float most[lanes];
    std::int32_t where[lanes];
    for (std::int64_t l = 0; l < lanes; ++l) {
        most[l] = -std::numeric_limits<float>::infinity();
        where[l] = static_cast<std::int32_t>(std::min(l, n - 1));
    }
    std::int64_t j = 0;
    for (; j + lanes <= n; j += lanes)
        for (std::int64_t l = 0; l < lanes; ++l) {
            const float value = x[j + l] - less[j + l];
            const bool more = value > most[l];
            most[l] = more ? value : most[l];
            where[l] = more ? static_cast<std::int32_t>(j + l) : where[l];
        }
    for (std::int64_t l = 0; j + l < n; ++l)
        if (x[j + l] - less[j + l] > most[l]) {
            most[l] = x[j + l] - less[j + l];
            where[l] = static_cast<std::int32_t>(j + l);
        }
    std::int64_t best = 0;
    for (std::int64_t l = 1; l < lanes; ++l)
        if (most[l] > most[best] || (most[l] == most[best] && where[l] < where[best]))
            best = l;
    return where[best];
}

} // namespace

template <class T>
void multiply(Gemm<T> gemm, const Dense<T>& A, const Dense<T>& B, const Dense<T>& out, std::int64_t high,
              std::int64_t wide, std::int64_t parts, bool less, int n_threads, Watch& watch) {
    const std::int64_t down = (A.rows + high - 1) / high, across = (B.cols + wide - 1) / wide;
    detail::each_piece(parts * down * across, n_threads, watch, [&](std::int64_t piece) {
        const std::int64_t part = piece / (down * across), tile = piece % (down * across);
        const std::int64_t i = tile / across * high, j = tile % across * wide;
        const std::int64_t from = A.cols * part / parts, to = A.cols * (part + 1) / parts;
        char turn_b = B.by_columns ? 'T' : 'N', turn_a = A.by_columns ? 'T' : 'N';
        int m = static_cast<int>(std::min(wide, B.cols - j)),
            n = static_cast<int>(std::min(high, A.rows - i)), depth = static_cast<int>(to - from);
        int stride_b = static_cast<int>(B.stride), stride_a = static_cast<int>(A.stride),
            stride = static_cast<int>(out.stride);
        T scale = less ? -1 : 1, keep = less ? 1 : 0;
        gemm(&turn_b, &turn_a, &m, &n, &depth, &scale, B.at(from, j), &stride_b, A.at(i, from), &stride_a,
             &keep, out.at(part * A.rows + i, j), &stride);
    });
}

void assign(Gemm<float> gemm, const Dense<float>& Z, const Dense<float>& C, const float* halves,
            std::int64_t* out, int n_threads, Watch& watch) {
    constexpr std::int64_t high = 128;
    detail::Workspaces<detail::Aligned<float>> workspaces(n_threads);
    detail::each_chunk(Z.rows, high, n_threads, watch,
                       [&](std::int64_t, std::int64_t from, std::int64_t to, int place) {
                           float* found = workspaces.at(place, high * C.rows).data();
                           char turn = 'T', plain = 'N';
                           int m = static_cast<int>(C.rows), n = static_cast<int>(to - from),
                               depth = static_cast<int>(Z.cols), stride_c = static_cast<int>(C.stride),
                               stride_z = static_cast<int>(Z.stride);
                           float one = 1, zero = 0;
                           gemm(&turn, &plain, &m, &n, &depth, &one, C.data, &stride_c, Z.at(from, 0),
                                &stride_z, &zero, found, &m);
                           for (std::int64_t i = from; i < to; ++i)
                               out[i] = first_largest(found + (i - from) * C.rows, halves, C.rows);
                       });
}

template void multiply(Gemm<float>, const Dense<float>&, const Dense<float>&, const Dense<float>&,
                       std::int64_t, std::int64_t, std::int64_t, bool, int, Watch&);
template void multiply(Gemm<double>, const Dense<double>&, const Dense<double>&, const Dense<double>&,
                       std::int64_t, std::int64_t, std::int64_t, bool, int, Watch&);

} // namespace lowdim
