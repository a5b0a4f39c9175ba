// Weights that reconstruct a row from its neighbours.
#pragma once

#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// Weights w that add up to 1 and minimise wᵀ(G + reg trace(G) I)w, for one Gram matrix G (k × k) of
// neighbours minus the row, which is overwritten. Where all neighbours coincide with the row, all weights are
// equal; where G is not finite they are NaN.
void solve_weights(double* G, std::int64_t k, double reg, double* w);

// out[e] for e from starts[i] to starts[i + 1] − 1: weights of the rows neighbors[e] of X that reconstruct
// row i of Q; both have d columns, row by row. All computations are in double.
template <class T>
void barycentric(const T* X, const T* Q, std::int64_t d, const std::int64_t* starts,
                 const std::int32_t* neighbors, std::int64_t rows, double reg, double* out, int n_threads,
                 Watch& watch);

// The same from Gram matrices (rows × k × k), which are overwritten; out (rows × k).
void gram_weights(double* G, std::int64_t rows, std::int64_t k, double reg, double* out, int n_threads,
                  Watch& watch);

} // namespace lowdim
