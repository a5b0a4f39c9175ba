// Rows that are contiguous are columns to BLAS: it is asked for outᵀ = Bᵀ Aᵀ.
#include "chunks.hpp"

#include <lowdim/products.hpp>

#include <algorithm>

namespace lowdim {

template <class T>
void multiply(Gemm<T> gemm, const Dense<T>& A, const Dense<T>& B, const Dense<T>& out, std::int64_t high,
              std::int64_t wide, std::int64_t parts, int n_threads, Watch& watch) {
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
        T one = 1, zero = 0;
        gemm(&turn_b, &turn_a, &m, &n, &depth, &one, B.at(from, j), &stride_b, A.at(i, from), &stride_a,
             &zero, out.at(part * A.rows + i, j), &stride);
    });
}

template void multiply(Gemm<float>, const Dense<float>&, const Dense<float>&, const Dense<float>&,
                       std::int64_t, std::int64_t, std::int64_t, int, Watch&);
template void multiply(Gemm<double>, const Dense<double>&, const Dense<double>&, const Dense<double>&,
                       std::int64_t, std::int64_t, std::int64_t, int, Watch&);

} // namespace lowdim
