// What exponentials are computed with, in loops that the compiler turns into vectors.
#pragma once

#include <cstdint>

namespace lowdim::detail {

// Constants of exp: ln 2 in two parts (the first short enough that n times it is exact) and the coefficients
// of (eᶠ − 1 − f)/f², highest power first.
template <class T> struct Exp;

template <> struct Exp<float> {
    using Bits = std::uint32_t;
    static constexpr float lowest = -87.0f, log2e = 1.44269504f, magic = 12582912.0f;
    static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
    static constexpr int terms = 6, mantissa = 23;
    static constexpr Bits one = 0x3F800000u;
    static constexpr float c[terms] = {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                                       4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f};
};

template <> struct Exp<double> {
    using Bits = std::uint64_t;
    static constexpr double lowest = -708.0, log2e = 1.4426950408889634, magic = 6755399441055744.0;
    static constexpr double ln2_high = 6.93145751953125e-1, ln2_low = 1.42860682030941723212e-6;
    static constexpr int terms = 12, mantissa = 52;
    static constexpr Bits one = 0x3FF0000000000000u;
    static constexpr double c[terms] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                        1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                                        1.0 / 120,        1.0 / 24,        1.0 / 6,        1.0 / 2};
};

} // namespace lowdim::detail
