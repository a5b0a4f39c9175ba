// Symmetric matrices of which each pair is stored once.
#pragma once

#include <lowdim/products.hpp>
#include <lowdim/watch.hpp>

#include <algorithm>
#include <cstdint>

namespace lowdim {

// A symmetric n × n matrix as panels, one after another: panel b holds the columns 64 b … 64 b + 63 of the
// rows from 64 b on, row by row. Columns of the last panel beyond n are not read.
template <class T> struct PackedSymmetric {
    static constexpr std::int64_t wide = 64;

    T* values;
    std::int64_t n;

    [[nodiscard]] std::int64_t panels() const { return (n + wide - 1) / wide; }
    // How many columns of a panel are columns of the matrix.
    [[nodiscard]] std::int64_t columns(std::int64_t panel) const { return std::min(wide, n - panel * wide); }
    // Rows of all panels before this one.
    [[nodiscard]] std::int64_t rows_before(std::int64_t panel) const {
        return panel * n - wide * panel * (panel - 1) / 2;
    }
    // Where a row of the matrix, 64 · panel or later, begins in a panel.
    [[nodiscard]] T* at(std::int64_t panel, std::int64_t row) const {
        return values + (rows_before(panel) + row - panel * wide) * wide;
    }
};

// out (n × width) = A V, both row by row, with the same bits for any number of threads. BLAS itself must be
// limited to one thread.
void multiply_packed(Gemm<float> gemm, const PackedSymmetric<const float>& A, const float* V,
                     std::int64_t width, float* out, int n_threads, Watch& watch);

// distance_sums over all pairs, from their squared distances: out (panels × (2 + 3k)), one row per panel.
void packed_distance_sums(const PackedSymmetric<const float>& D2, const float* Y, std::int64_t k, double* out,
                          int n_threads, Watch& watch);

} // namespace lowdim
