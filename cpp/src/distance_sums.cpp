// Sums over pairs of distances and their counterparts in an embedding. Each row is summed separately, in a
// fixed order, so that the bits do not depend on the number of threads.
#include "chunks.hpp"
#include "instructions.hpp"

#include <lowdim/geodesics.hpp>

#include <algorithm>
#include <cmath>

namespace lowdim {
namespace {

constexpr std::int64_t chunk = 256; // columns at a time, small enough for the first cache
constexpr int lanes = 16;           // parallel sums

#define LOWDIM_KERNEL "distance_sums.inl"
#include "each_isa.inl"

} // namespace

void distance_sums(const float* D, const std::int32_t* places, std::int64_t rows, const float* Y,
                   std::int64_t n, std::int64_t k, bool squared, bool beyond, double* out, int n_threads,
                   Watch& watch) {
    const auto sum = LOWDIM_PICK(sum_row);
    detail::share(rows, rows, n_threads, watch, [&](std::int64_t i) {
        sum(D + i * n, places[i], Y, n, k, squared, beyond, out + i * (2 + 3 * k));
    });
}

void packed_distance_sums(const PackedSymmetric<const float>& D2, const float* Y, std::int64_t k, double* out,
                          int n_threads, Watch& watch) {
    const auto sum = LOWDIM_PICK(sum_panel);
    detail::share(D2.panels(), D2.n, n_threads, watch,
                  [&](std::int64_t panel) { sum(D2, panel, Y, k, out + panel * (2 + 3 * k)); });
}

} // namespace lowdim
