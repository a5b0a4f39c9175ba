// Neighbours that two spaces have in common, at every size of neighbourhood.
#pragma once

#include <lowdim/pairs.hpp>
#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// Distances A and B (m × n) from the same m rows in two spaces, infinite to themselves. With c_i(K) the
// number of samples that are among the K nearest of row i in both, K = 1 … n − 2: total and squares (n − 2)
// gain Σ_i c_i(K) and Σ_i c_i(K)², and scores (m) are Σ_K weights_K c_i(K).
void common_neighbors(const RowMajor<const double>& A, const RowMajor<const double>& B, const double* weights,
                      std::int64_t* total, std::int64_t* squares, double* scores, int n_threads,
                      Watch& watch);

} // namespace lowdim
