// Kernels are written once and compiled for several instruction sets: each_isa.inl includes their file
// for each set, and LOWDIM_PICK takes the one to run.
#pragma once

#include <lowdim/isa.hpp>

#define LOWDIM_AVX2 __attribute__((target("avx2,fma")))
#define LOWDIM_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#define LOWDIM_VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")))
// Before functions that use VNNI by intrinsics: GCC 12's own read an undefined register on purpose and warn
// of it when inlined.
#if defined(__clang__)
#define LOWDIM_VNNI_INTRINSICS
#else
#define LOWDIM_VNNI_INTRINSICS                                                                               \
    _Pragma("GCC diagnostic ignored \"-Wmaybe-uninitialized\"")                                              \
        _Pragma("GCC diagnostic ignored \"-Wuninitialized\"")
#endif

#if LOWDIM_X86
#define LOWDIM_PICK(...)                                                                                     \
    (isa() >= Isa::avx512 ? avx512::__VA_ARGS__                                                              \
     : isa() >= Isa::avx2 ? avx2::__VA_ARGS__                                                                \
                          : generic::__VA_ARGS__)
#else
#define LOWDIM_PICK(...) generic::__VA_ARGS__
#endif

// Before a loop: unroll it; and its rounds do not depend on each other.
#if defined(__clang__)
#define LOWDIM_UNROLL _Pragma("unroll")
#define LOWDIM_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define LOWDIM_UNROLL _Pragma("GCC unroll 16")
#define LOWDIM_INDEPENDENT _Pragma("GCC ivdep")
#endif

#define LOWDIM_INLINE inline __attribute__((always_inline))
