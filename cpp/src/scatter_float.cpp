// The floating-point micro-kernels, once per instruction set.
#include "instructions.hpp"
#include "scatter_kernels.hpp"

#include <cmath>

namespace lowdim::detail {
namespace {

constexpr int ahead = 12; // steps between prefetching a packed row and using it

#define LOWDIM_KERNEL "scatter_float.inl"
#include "each_isa.inl"

} // namespace

Kernel float_kernel(Element element) { return LOWDIM_PICK(select(element)); }

} // namespace lowdim::detail
