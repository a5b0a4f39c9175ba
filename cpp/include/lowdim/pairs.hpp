// Values of pairs of rows: Gaussian kernel from inner products, city-block distances, and the mirrored half.
#pragma once

#include <lowdim/watch.hpp>

#include <cstddef>
#include <cstdint>

namespace lowdim {

// A matrix whose rows are contiguous, `stride` elements apart.
template <class T> struct RowMajor {
    T* data;
    std::int64_t rows, cols;
    std::ptrdiff_t stride;
};

// G (m × n), inner products x_i·y_j, becomes exp(−gamma max(0, a_i + b_j − 2 G_ij)) with a_i = ‖x_i‖² and
// b_j = ‖y_j‖²; each exponential is within 2 ulp, and values below the smallest normal number may be replaced
// by it. NaN stays NaN.
template <class T>
void gaussian(const RowMajor<T>& G, const T* a, const T* b, T gamma, int n_threads, Watch& watch);

// D (m × n) = Σ_k |x_ik − y_jk|, summed in an order that depends on the instruction set alone.
template <class T>
void manhattan(const RowMajor<const T>& X, const RowMajor<const T>& Y, const RowMajor<T>& D, int n_threads,
               Watch& watch);

// Rows start … stop of the square K, up to the diagonal, are copied to the columns start … stop above it.
template <class T>
void mirror(const RowMajor<T>& K, std::int64_t start, std::int64_t stop, int n_threads, Watch& watch);

} // namespace lowdim
