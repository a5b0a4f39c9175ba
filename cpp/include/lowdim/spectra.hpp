// Eigenpairs of many small symmetric matrices.
#pragma once

#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// All eigenpairs of `count` symmetric matrices A (k × k each, overwritten), by Jacobi's rotations: values
// (count × k) in descending order, and vector j of a matrix is row j of its part of vectors (count × k × k).
// Entries must be finite. Every matrix is solved separately, so that the bits do not depend on n_threads.
void spectra(double* A, std::int64_t count, std::int64_t k, double* values, double* vectors, int n_threads,
             Watch& watch);

} // namespace lowdim
