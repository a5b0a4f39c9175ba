// Candidates of a search for features, all at once: queries are shared among threads, and a row of distances
// stays in the cache while every unit of features joins or leaves it in turn.
#include "scatter_kernels.hpp"

#include <lowdim/nearest_with.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <omp.h>

namespace lowdim {

namespace {

// No fused multiply-add: every instruction set gives the same bits, and ties stay ties.
namespace generic {
#define LOWDIM_TARGET
#define LOWDIM_BYTES 16
#include "nearest_with.inl"
#undef LOWDIM_TARGET
#undef LOWDIM_BYTES
} // namespace generic

#if LOWDIM_X86
namespace avx2 {
#define LOWDIM_TARGET __attribute__((target("avx2")))
#define LOWDIM_BYTES 32
#include "nearest_with.inl"
#undef LOWDIM_TARGET
#undef LOWDIM_BYTES
} // namespace avx2
#endif

template <class T> auto choose(bool joining) {
#if LOWDIM_X86
    if (isa() >= Isa::avx2)
        return joining ? avx2::one_query<T, true> : avx2::one_query<T, false>;
#endif
    return joining ? generic::one_query<T, true> : generic::one_query<T, false>;
}

} // namespace

template <class T>
void nearest_with(const Distances<T>& given, std::int64_t k, std::int32_t* indices, T* distances,
                  int n_threads, Watch& watch) {
    const auto one_query = choose<T>(given.joining);
#pragma omp parallel num_threads(n_threads)
    {
        std::vector<T> row(
            static_cast<std::size_t>(given.n_points)); // distances on the way to a unit of several
#pragma omp for schedule(dynamic, 4)
        for (std::int64_t i = 0; i < given.n_queries; ++i) {
            if (watch.stopped())
                continue;
            one_query(given, i, k, row.data(), indices, distances);
            watch.advance(1);
            if (omp_get_thread_num() == 0)
                watch.poll();
        }
    }
}

template void nearest_with<float>(const Distances<float>&, std::int64_t, std::int32_t*, float*, int, Watch&);
template void nearest_with<double>(const Distances<double>&, std::int64_t, std::int32_t*, double*, int,
                                   Watch&);

} // namespace lowdim
