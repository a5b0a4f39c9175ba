// Includes the file LOWDIM_KERNEL once for each instruction set, in a namespace of its own, with
// LOWDIM_TARGET (attribute of its functions) and LOWDIM_BYTES (of a vector) defined.
//
// Every function there carries the attribute itself: GCC lowers vector types before it inlines, so a shared
// template would be lowered for the plainest set even when inlined into a better one.

namespace generic {
#define LOWDIM_TARGET
#define LOWDIM_BYTES 16
#include LOWDIM_KERNEL
#undef LOWDIM_TARGET
#undef LOWDIM_BYTES
} // namespace generic

#if LOWDIM_X86
namespace avx2 {
#define LOWDIM_TARGET LOWDIM_AVX2
#define LOWDIM_BYTES 32
#include LOWDIM_KERNEL
#undef LOWDIM_TARGET
#undef LOWDIM_BYTES
} // namespace avx2

namespace avx512 {
#define LOWDIM_TARGET LOWDIM_AVX512
#define LOWDIM_BYTES 64
#include LOWDIM_KERNEL
#undef LOWDIM_TARGET
#undef LOWDIM_BYTES
} // namespace avx512
#endif

#undef LOWDIM_KERNEL
