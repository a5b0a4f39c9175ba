// Products of a sparse matrix with a block of vectors.
#pragma once

#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// Compressed sparse rows: row i holds values[starts[i] .. starts[i + 1] − 1] in the columns at the same
// positions.
template <class T> struct CsrOf {
    const std::int32_t* starts; // (rows + 1,)
    const std::int32_t* columns;
    const T* values;
    std::int64_t rows, cols;
};
using Csr = CsrOf<double>;

// Throws std::invalid_argument unless the starts increase from 0 and every column exists.
void check(const Csr& A, std::int64_t stored);

// out (rows × width) = A V, with V (cols × width), both row by row. The bits do not depend on n_threads.
template <class T>
void product(const CsrOf<T>& A, const T* V, std::int64_t width, T* out, int n_threads, Watch& watch);

} // namespace lowdim
