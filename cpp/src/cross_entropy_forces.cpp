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

// Coefficients of the polynomial that equals m^b at the N Chebyshev points between 1 and 2.
template <std::size_t N> void mantissa_powers(double b, float (&out)[N]) {
    std::array<double, N> at{}, slope{}, sum{};
    for (std::size_t i = 0; i < N; ++i) {
        at[i] = 1.5 + 0.5 * std::cos(std::numbers::pi * (static_cast<double>(i) + 0.5) / N);
        slope[i] = std::pow(at[i], b);
    }
    for (std::size_t order = 1; order < N; ++order) // divided differences
        for (std::size_t i = N - 1; i >= order; --i)
            slope[i] = (slope[i] - slope[i - 1]) / (at[i] - at[i - order]);
    for (std::size_t i = N; i-- > 0;) { // Horner's scheme by coefficients: sum (m − at) + slope
        for (std::size_t e = N - 1; e > 0; --e)
            sum[e] = sum[e - 1] - at[i] * sum[e];
        sum[0] = slope[i] - at[i] * sum[0];
    }
    std::transform(sum.begin(), sum.end(), out, [](double c) { return static_cast<float>(c); });
}

} // namespace

Law law_of(const Curve& curve, double longest) {
    Law law{static_cast<float>(curve.b),
            static_cast<float>(std::log2(curve.a)),
            static_cast<float>(soft),
            static_cast<float>(longest),
            {},
            {},
            {},
            {}};
    for (int e = -127; e < 129; ++e)
        law.octaves[e + 127] =
            static_cast<float>(std::exp2(std::clamp(curve.b * e + std::log2(curve.a), -60.0, 60.0)));
    for (int e = -10; e < 22; ++e)
        law.two[(e + 127) % 32] = law.octaves[e + 127];
    mantissa_powers(curve.b, law.mantissas);
    mantissa_powers(curve.b, law.mantissa);
    return law;
}

CrossEntropyKernels cross_entropy_kernels(int k) {
    return k == 1   ? LOWDIM_PICK(kernels<1>)
           : k == 2 ? LOWDIM_PICK(kernels<2>)
           : k == 3 ? LOWDIM_PICK(kernels<3>)
                    : LOWDIM_PICK(kernels<0>);
}

} // namespace lowdim::detail
