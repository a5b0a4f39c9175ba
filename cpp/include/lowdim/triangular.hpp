// Systems of equations solved with the sparse factors of a matrix.
#pragma once

#include <lowdim/csr.hpp>
#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// A = Rᵀ L U Cᵀ: the columns of L and U are the rows of lower and upper (n × n), in any order; the diagonal
// of L is 1, stored or not, that of U is `diagonal`. Row i of A is row rows[i] of L, column j of A is column
// columns[j] of U.
struct Factors {
    Csr lower, upper;
    const double* diagonal;      // (n,)
    const std::int32_t* rows;    // (n,)
    const std::int32_t* columns; // (n,)
};

// Throws std::invalid_argument unless `places` (n,) are a permutation of 0 … n − 1.
void check_permutation(const std::int32_t* places, std::int64_t n);

// out (n × width) with A out = B, or Aᵀ out = B, both row by row. Columns are solved separately, so that the
// bits do not depend on n_threads.
void solve(const Factors& A, const double* B, std::int64_t width, bool transposed, double* out, int n_threads,
           Watch& watch);

} // namespace lowdim
