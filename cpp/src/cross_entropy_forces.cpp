// The kernels of UMAP's loss, once per instruction set.
#include "cross_entropy_forces.hpp"

#include "instructions.hpp"
#include "powers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#if LOWDIM_X86
#include <immintrin.h>
#endif

namespace lowdim::detail {
namespace {

#define LOWDIM_KERNEL "cross_entropy_forces.inl"
#include "each_isa.inl"

// Coefficients of the polynomial that equals m^b at the five Chebyshev points between 1 and 2.
std::array<double, 5> mantissa_powers(double b) {
    std::array<double, 5> at{}, slope{}, sum{};
    for (std::size_t i = 0; i < 5; ++i) {
        at[i] = 1.5 + 0.5 * std::cos(std::numbers::pi * (static_cast<double>(i) + 0.5) / 5);
        slope[i] = std::pow(at[i], b);
    }
    for (std::size_t order = 1; order < 5; ++order) // divided differences
        for (std::size_t i = 4; i >= order; --i)
            slope[i] = (slope[i] - slope[i - 1]) / (at[i] - at[i - order]);
    for (std::size_t i = 5; i-- > 0;) { // Horner's scheme by coefficients: sum (m − at) + slope
        for (std::size_t e = 4; e > 0; --e)
            sum[e] = sum[e - 1] - at[i] * sum[e];
        sum[0] = slope[i] - at[i] * sum[0];
    }
    return sum;
}

} // namespace

Law law_of(const Curve& curve, double longest) {
    Law law{static_cast<float>(curve.b),
            static_cast<float>(std::log2(curve.a)),
            static_cast<float>(soft),
            static_cast<float>(longest),
            {},
            {}};
    for (int e = -10; e < 22; ++e)
        law.octaves[(e + 127) % 32] =
            static_cast<float>(std::exp2(std::clamp(curve.b * e + std::log2(curve.a), -60.0, 60.0)));
    const auto powers = mantissa_powers(curve.b);
    std::transform(powers.begin(), powers.end(), law.mantissas,
                   [](double c) { return static_cast<float>(c); });
    return law;
}

CrossEntropyKernels cross_entropy_kernels(int k) {
    return k == 1   ? LOWDIM_PICK(kernels<1>)
           : k == 2 ? LOWDIM_PICK(kernels<2>)
           : k == 3 ? LOWDIM_PICK(kernels<3>)
                    : LOWDIM_PICK(kernels<0>);
}

} // namespace lowdim::detail
