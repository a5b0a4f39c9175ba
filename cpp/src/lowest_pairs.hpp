// The lowest eigenpairs of one small dense symmetric matrix.
#pragma once

#include <cstdint>

namespace lowdim::detail {

// The `count` lowest eigenvalues of the symmetric A (n × n, overwritten), ascending, and their eigenvectors,
// one in each row of `vectors` (count × n): by Householder's reflections, bisection and inverse iteration.
void lowest_pairs(double* A, std::int64_t n, std::int64_t count, double* values, double* vectors);

} // namespace lowdim::detail
