// Guttman's transform: positions that move each point of a map towards its distances.
#pragma once

#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// For each of `rows` points p_i (rows × k, row by row) with distances D_ij (rows × n) to the points y_j of a
// map (k × n, coordinate by coordinate): out (rows × k) is Σ_j w_ij (D_ij/d_ij)(p_i − y_j), d_ij = ‖p_i −
// y_j‖, where a pair at d_ij = 0 adds nothing, and sums (rows × 2) are Σ_j w_ij (D_ij − d_ij)² and Σ_j w_ij
// d_ij². The weights W (rows × n) are 1 where null. Pairs are computed in float and summed in double; every
// row is summed separately, so that the bits do not depend on n_threads.
void guttman(const float* D, const float* W, const float* points, const float* map, std::int64_t rows,
             std::int64_t n, std::int64_t k, double* out, double* sums, int n_threads, Watch& watch);

} // namespace lowdim
