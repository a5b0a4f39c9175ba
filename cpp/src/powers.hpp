// Logarithms and powers of 2 of vectors of floats. Vectors are taken and given by reference: by value the
// instruction set of the caller would matter.
#pragma once

#include "instructions.hpp"

#include <cstdint>

namespace lowdim::detail {

// log₂ of positive numbers: the exponent and a polynomial of the mantissa between √½ and √2, within 3e-7.
template <class V> LOWDIM_INLINE void log2_of(const V& x, V& out) {
    typedef std::int32_t Bits __attribute__((vector_size(sizeof(V))));
    const Bits shifted = (Bits)x - 0x3F3504F3;
    const Bits exponent = shifted >> 23;
    const V m = (V)((shifted & 0x007FFFFF) + 0x3F3504F3) - 1.0f;
    V p = m * 7.0376836292e-2f - 1.1514610310e-1f;
    p = p * m + 1.1676998740e-1f;
    p = p * m - 1.2420140846e-1f;
    p = p * m + 1.4249322787e-1f;
    p = p * m - 1.6668057665e-1f;
    p = p * m + 2.0000714765e-1f;
    p = p * m - 2.4999993993e-1f;
    p = p * m + 3.3333331174e-1f;
    const V square = m * m;
    out = (p * m * square - 0.5f * square + m) * 1.44269504089f + __builtin_convertvector(exponent, V);
}

// 2^x between 2^−126 and 2^126, within 3e-7 of it.
template <class V> LOWDIM_INLINE void exp2_of(const V& power, V& out) {
    typedef std::int32_t Bits __attribute__((vector_size(sizeof(V))));
    const V above = power < -126.0f ? V{} - 126.0f : power;
    const V x = above > 126.0f ? V{} + 126.0f : above;
    const V shifted = x + 12582912.0f;
    const V f = x - (shifted - 12582912.0f);
    V p = f * 1.5403530e-4f + 1.3333558e-3f;
    p = p * f + 9.6181291e-3f;
    p = p * f + 5.5504109e-2f;
    p = p * f + 2.4022651e-1f;
    p = p * f + 6.9314718e-1f;
    p = p * f + 1.0f;
    out = p * (V)(((Bits)shifted << 23) + 0x3F800000);
}

} // namespace lowdim::detail
