// Candidates of a search for features, all at once: queries are shared among threads, and a row of distances
// stays in the cache while every unit of features joins or leaves it in turn.
#include "scatter_kernels.hpp"

#include <lowdim/nearest_with.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <omp.h>

#if LOWDIM_X86
#include <immintrin.h>
#endif

namespace lowdim {

namespace {

// No fused multiply-add: every instruction set gives the same bits, and ties stay ties.
#if defined(__clang__)
#define LOWDIM_UNROLL _Pragma("unroll")
#else
#define LOWDIM_UNROLL _Pragma("GCC unroll 4")
#endif

namespace generic {
template <class T> inline std::uint64_t below(const T* x, T limit) {
    std::uint64_t bits = 0;
    for (unsigned l = 0; l < 16 / sizeof(T); ++l)
        bits |= static_cast<std::uint64_t>(x[l] < limit) << l;
    return bits;
}
#define LOWDIM_TARGET
#define LOWDIM_BYTES 16
#include "nearest_with.inl"
#undef LOWDIM_TARGET
#undef LOWDIM_BYTES
} // namespace generic

#if LOWDIM_X86
namespace avx2 {
#define LOWDIM_TARGET __attribute__((target("avx2")))
template <class T> LOWDIM_TARGET inline std::uint64_t below(const T* x, T limit) {
    int bits;
    if constexpr (sizeof(T) == 4)
        bits = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(x), _mm256_set1_ps(limit), _CMP_LT_OQ));
    else
        bits = _mm256_movemask_pd(_mm256_cmp_pd(_mm256_loadu_pd(x), _mm256_set1_pd(limit), _CMP_LT_OQ));
    return static_cast<std::uint64_t>(bits);
}
#define LOWDIM_BYTES 32
#include "nearest_with.inl"
#undef LOWDIM_TARGET
#undef LOWDIM_BYTES
} // namespace avx2

namespace avx512 {
#define LOWDIM_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2")))
template <class T> LOWDIM_TARGET inline std::uint64_t below(const T* x, T limit) {
    if constexpr (sizeof(T) == 4)
        return _mm512_cmp_ps_mask(_mm512_loadu_ps(x), _mm512_set1_ps(limit), _CMP_LT_OQ);
    else
        return _mm512_cmp_pd_mask(_mm512_loadu_pd(x), _mm512_set1_pd(limit), _CMP_LT_OQ);
}
#define LOWDIM_BYTES 64
#include "nearest_with.inl"
#undef LOWDIM_TARGET
#undef LOWDIM_BYTES
} // namespace avx512
#endif

template <class T> auto choose(bool joining) {
#if LOWDIM_X86
    if (isa() >= Isa::avx512)
        return joining ? avx512::one_query<T, true> : avx512::one_query<T, false>;
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
