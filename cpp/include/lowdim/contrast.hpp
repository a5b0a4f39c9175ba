// Sums over rows that a step of independent component analysis needs, in one pass.
#pragma once

#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// Contrasts: g of the projections, whose derivative is summed as well.
enum class Contrast : int { logcosh = 0, exp = 1, cube = 2 };

// With S = Z Wᵀ, Z (rows × k), W (p × k):  products (p × k) = Σ g(s) zᵀ  and  slopes (p) = Σ g'(s), for g =
// tanh(a s), s exp(−s²/2) or s³; `alpha` is a. Sums are taken over fixed parts of the rows, so that the bits
// do not depend on n_threads.
template <class T>
void contrast_sums(const T* Z, const T* W, std::int64_t rows, std::int64_t k, std::int64_t p,
                   Contrast contrast, double alpha, double* products, double* slopes, int n_threads,
                   Watch& watch);

} // namespace lowdim
