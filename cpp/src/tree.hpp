// Repulsion by Barnes and Hut's tree, for maps of 1 to 3 dimensions.
#pragma once

#include <lowdim/falloff.hpp>
#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim::detail {

double repel_by_tree(const float* Y, std::int64_t n, int k, const Falloff& falloff, double angle,
                     float* forces, float* phi, int n_threads, Watch& watch);

} // namespace lowdim::detail
