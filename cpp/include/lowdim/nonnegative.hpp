// Non-negative factors: least squares for many rows with one small matrix, and ratios of sparse rows to their
// product.
#pragma once

#include <lowdim/csr.hpp>
#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// Coordinate descent, row by row of W (rows × k), on  w G wᵀ / 2 − b·w  with w ≥ 0, from the W that is given:
// sweeps over the coordinates until the step of a sweep is at most `tol` times that of the first, or
// `most` sweeps. A coordinate whose G_jj is 0 becomes 0. A row's bits depend on that row alone.
template <class T>
void nonnegative_sweeps(const T* G, const T* B, T* W, std::int64_t rows, std::int64_t k, std::int64_t most,
                        double tol, int n_threads, Watch& watch);

// out_i = Σ_j x_ij / (w_i·h_j) h_j over the stored entries of row i, with W (rows × k), H (cols × k), and
// where there are losses, losses[i] = Σ_j x_ij log(x_ij / (w_i·h_j)). Products w_i·h_j below `least` count as
// `least`.
template <class T>
void nonnegative_ratios(const CsrOf<T>& X, const T* W, const T* H, std::int64_t k, T least, T* out,
                        double* losses, int n_threads, Watch& watch);

} // namespace lowdim
