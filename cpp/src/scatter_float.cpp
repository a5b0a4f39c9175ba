// The floating-point micro-kernels, once per instruction set.
//
// A tile of r × v vectors keeps r·v accumulators in registers and leaves room for v vectors of the right side
// and a broadcast of the left: 8 × 3 or 6 × 3 of 32 registers, 4 × 3 of 16, and fewer where a product needs a
// register of its own.
#include "scatter_kernels.hpp"

#include <cmath>

#if defined(__clang__)
#define LOWDIM_UNROLL _Pragma("unroll")
#else
#define LOWDIM_UNROLL _Pragma("GCC unroll 16")
#endif

namespace lowdim::detail {
namespace {

constexpr int ahead = 12; // steps between asking for a packed row and using it

namespace generic {
#define LOWDIM_TARGET
#define LOWDIM_BYTES 16
#if defined(__aarch64__)
#define LOWDIM_ROWS 6
#define LOWDIM_VECTORS 3
#else
#define LOWDIM_ROWS 4
#define LOWDIM_VECTORS 2
#endif
#include "scatter_float.inl"
} // namespace generic

#if LOWDIM_X86
namespace avx2 {
#define LOWDIM_TARGET __attribute__((target("avx2,fma")))
#define LOWDIM_BYTES 32
#define LOWDIM_ROWS 4
#define LOWDIM_VECTORS 3
#include "scatter_float.inl"
} // namespace avx2

namespace avx512 {
#define LOWDIM_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#define LOWDIM_BYTES 64
#define LOWDIM_ROWS 8
#define LOWDIM_VECTORS 3
#include "scatter_float.inl"
} // namespace avx512
#endif

} // namespace

Kernel float_kernel([[maybe_unused]] Isa isa, Element element) {
#if LOWDIM_X86
    if (isa >= Isa::avx512)
        return avx512::select(element);
    if (isa >= Isa::avx2)
        return avx2::select(element);
#endif
    return generic::select(element);
}

} // namespace lowdim::detail
