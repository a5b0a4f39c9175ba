// The kernels of the search for neighbours, once per instruction set.
#include "nearest_scan.hpp"

#include "instructions.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#if LOWDIM_X86
#include <immintrin.h>
#endif

namespace lowdim::detail {
namespace {

#define LOWDIM_KERNEL "nearest_scan.inl"
#include "each_isa.inl"

} // namespace

Scanner scanner() {
    Scanner out = LOWDIM_PICK(scanner);
    if (isa() == Isa::avx512vnni)
        out.scan_integers = integer_scan();
    return out;
}

} // namespace lowdim::detail
