// Sums over pairs of distances and their counterparts in an embedding. Each row is summed by itself, in a
// fixed order, so that the bits do not depend on the number of threads.
#include "instructions.hpp"

#include <lowdim/geodesics.hpp>

#include <algorithm>
#include <cmath>

#include <omp.h>

namespace lowdim {
namespace {

constexpr std::int64_t chunk = 256; // columns at a time, small enough for the first cache
constexpr int lanes = 16;           // sums that run side by side

#define LOWDIM_KERNEL "distance_sums.inl"
#include "each_isa.inl"

} // namespace

void distance_sums(const float* D, const std::int32_t* places, std::int64_t rows, const float* Y,
                   std::int64_t n, std::int64_t k, bool squared, bool beyond, double* out, int n_threads,
                   Watch& watch) {
    const auto sum = LOWDIM_PICK(sum_row);
#pragma omp parallel for schedule(dynamic, 16) num_threads(n_threads)
    for (std::int64_t i = 0; i < rows; ++i) {
        if (omp_get_thread_num() == 0)
            watch.poll();
        if (watch.stopped())
            continue;
        sum(D + i * n, places[i], Y, n, k, squared, beyond, out + i * (2 + 3 * k));
        watch.advance(1);
    }
}

} // namespace lowdim
