// The kernels of UMAP's loss, once per instruction set.
#include "cross_entropy_forces.hpp"

#include "instructions.hpp"

#if LOWDIM_X86
#include <immintrin.h>
#endif

namespace lowdim::detail {
namespace {

#define LOWDIM_KERNEL "cross_entropy_forces.inl"
#include "each_isa.inl"

} // namespace

CrossEntropyKernels cross_entropy_kernels(int k) {
    return k == 1   ? LOWDIM_PICK(kernels<1>)
           : k == 2 ? LOWDIM_PICK(kernels<2>)
           : k == 3 ? LOWDIM_PICK(kernels<3>)
                    : LOWDIM_PICK(kernels<0>);
}

} // namespace lowdim::detail
