// The kernels of PaCMAP's loss, once per instruction set.
#include "pair_forces.hpp"

#include "instructions.hpp"

#include <cmath>

namespace lowdim::detail {
namespace {

#define LOWDIM_KERNEL "pair_forces.inl"
#include "each_isa.inl"

} // namespace

PairKernels pair_kernels(int k) {
    return k == 1   ? LOWDIM_PICK(kernels<1>)
           : k == 2 ? LOWDIM_PICK(kernels<2>)
           : k == 3 ? LOWDIM_PICK(kernels<3>)
                    : LOWDIM_PICK(kernels<0>);
}

} // namespace lowdim::detail
