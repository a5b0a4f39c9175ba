// Rows become bytes each by a unit of its own, so that a long row does not blur the short ones.
#include "byte_products.hpp"

#include "instructions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#if LOWDIM_X86
#include <immintrin.h>
#endif

namespace lowdim::detail {
namespace {

// The largest byte, such that d products with a byte up to 255 fit into 32 bits.
std::int32_t most(std::int64_t d) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(
        std::numeric_limits<std::int32_t>::max() / 255 / std::max<std::int64_t>(d, 1), 1, 127));
}

#define LOWDIM_KERNEL "byte_products.inl"
#include "each_isa.inl"

} // namespace

template <class T> void ByteRows::set(std::int64_t i, const T* x) {
    std::int8_t* row = at(i);
    T largest = 0;
    for (std::int64_t j = 0; j < d_; ++j)
        largest = std::max(largest, std::abs(x[j]));
    const T per_unit = largest > 0 ? static_cast<T>(most(d_)) / largest : T{0};
    std::memset(row + d_, 0, static_cast<std::size_t>(stride_ - d_));
    std::int32_t sum = 0;
    std::int64_t square = 0;
    if (per_unit > 0 && std::isfinite(per_unit))
        for (std::int64_t j = 0; j < d_; ++j) {
            const auto byte = static_cast<std::int32_t>(x[j] * per_unit + (x[j] < 0 ? T{-0.5} : T{0.5}));
            row[j] = static_cast<std::int8_t>(byte);
            sum += byte;
            square += byte * byte;
        }
    else
        std::memset(row, 0, static_cast<std::size_t>(d_));
    set_scale(i, {static_cast<float>(static_cast<double>(largest) / most(d_)),
                  static_cast<float>(static_cast<double>(square) / 2), sum});
}

void ByteRows::settle(std::int64_t count) {
    float largest = 0;
    for (std::int64_t i = 0; i < count; ++i)
        largest = std::max(largest, scale(i).unit);
    up_ = largest > 0 ? -std::ilogb(largest) : 0;
    coarsest_ = std::ldexp(static_cast<double>(largest), up_);
    for (std::int64_t i = 0; i < count; ++i) {
        ByteScale one = scale(i);
        one.unit = std::ldexp(one.unit, up_);
        one.half *= one.unit * one.unit;
        set_scale(i, one);
    }
}

template void ByteRows::set(std::int64_t, const float*);
template void ByteRows::set(std::int64_t, const double*);

ByteKernels byte_kernels() {
#if LOWDIM_X86
    if (isa() == Isa::avx512vnni)
        return vnni_byte_kernels();
#endif
    return LOWDIM_PICK(kernels);
}

} // namespace lowdim::detail
