// A polynomial of a symmetric matrix that keeps the directions of its smallest eigenvalues and damps the
// rest.
#pragma once

#include <lowdim/csr.hpp>
#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

constexpr std::int64_t chebyshev_width = 8; // vectors at a time

// V (n × 8, row by row) becomes T_degree((2 M − (high + low) I)/(high − low)) V, with Chebyshev's polynomial
// of the first kind: at most 1 in size for eigenvalues from low to high, and growing fast below low. M is A B
// with A the transpose of the square B, or where B is null the symmetric A itself. The bits do not depend on
// n_threads. T is double or float.
template <class T>
void chebyshev(const CsrOf<T>* B, const CsrOf<T>& A, T* V, double low, double high, std::int64_t degree,
               int n_threads, Watch& watch);

} // namespace lowdim
