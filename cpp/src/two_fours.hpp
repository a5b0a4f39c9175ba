// Eight floats in two registers, for instruction sets whose registers hold four. GCC takes apart what it does
// to longer vectors into single numbers wherever lanes are moved or compared.
#pragma once

#include "instructions.hpp"

#include <cstdint>

namespace lowdim::detail {

typedef float FourFloats __attribute__((vector_size(16)));
typedef float LooseFourFloats __attribute__((vector_size(16), aligned(4), may_alias));

struct TwoFours {
    FourFloats low, high;

    LOWDIM_INLINE static TwoFours at(const float* from) {
        return {*reinterpret_cast<const LooseFourFloats*>(from),
                *reinterpret_cast<const LooseFourFloats*>(from + 4)};
    }
    LOWDIM_INLINE void put(float* to) const {
        *reinterpret_cast<LooseFourFloats*>(to) = low;
        *reinterpret_cast<LooseFourFloats*>(to + 4) = high;
    }

    LOWDIM_INLINE friend TwoFours operator+(const TwoFours& a, const TwoFours& b) {
        return {a.low + b.low, a.high + b.high};
    }
    LOWDIM_INLINE friend TwoFours operator*(const TwoFours& a, const TwoFours& b) {
        return {a.low * b.low, a.high * b.high};
    }
    LOWDIM_INLINE friend TwoFours operator+(const TwoFours& a, float b) { return {a.low + b, a.high + b}; }
    LOWDIM_INLINE friend TwoFours operator*(const TwoFours& a, float b) { return {a.low * b, a.high * b}; }
    LOWDIM_INLINE friend TwoFours operator/(const TwoFours& a, float b) { return {a.low / b, a.high / b}; }
    LOWDIM_INLINE friend TwoFours operator-(float a, const TwoFours& b) { return {a - b.low, a - b.high}; }
    LOWDIM_INLINE friend TwoFours operator/(float a, const TwoFours& b) { return {a / b.low, a / b.high}; }
    LOWDIM_INLINE TwoFours& operator+=(const TwoFours& b) { return *this = *this + b; }
    LOWDIM_INLINE TwoFours& operator/=(const TwoFours& b) { return *this = {low / b.low, high / b.high}; }

    LOWDIM_INLINE float operator[](int lane) const { return lane < 4 ? low[lane] : high[lane - 4]; }

    LOWDIM_INLINE friend float total(const TwoFours& v) {
        return ((v.low[0] + v.low[1]) + (v.low[2] + v.low[3])) +
               ((v.high[0] + v.high[1]) + (v.high[2] + v.high[3]));
    }
};

// The two coordinates of the eight points q of Y, one point a lane.
template <class Index>
LOWDIM_INLINE void coordinates(const float* Y, const Index* q, TwoFours& x, TwoFours& y) {
    typedef double Place __attribute__((may_alias, aligned(4))); // the two floats of a point, moved as one
    typedef double Places __attribute__((vector_size(16)));
    const auto* at = reinterpret_cast<const Place*>(Y);
    const auto a = (FourFloats)Places{at[q[0]], at[q[1]]}, b = (FourFloats)Places{at[q[2]], at[q[3]]},
               c = (FourFloats)Places{at[q[4]], at[q[5]]}, d = (FourFloats)Places{at[q[6]], at[q[7]]};
    x = {__builtin_shufflevector(a, b, 0, 2, 4, 6), __builtin_shufflevector(c, d, 0, 2, 4, 6)};
    y = {__builtin_shufflevector(a, b, 1, 3, 5, 7), __builtin_shufflevector(c, d, 1, 3, 5, 7)};
}

// Eight numbers of 16 bits, the upper halves of floats.
LOWDIM_INLINE TwoFours of_upper_halves(const std::uint16_t* from) {
    typedef std::uint16_t Halves __attribute__((vector_size(16)));
    typedef std::uint16_t LooseHalves __attribute__((vector_size(16), aligned(2), may_alias));
    const Halves upper = *reinterpret_cast<const LooseHalves*>(from), none = {};
    return {(FourFloats)__builtin_shufflevector(none, upper, 0, 8, 1, 9, 2, 10, 3, 11),
            (FourFloats)__builtin_shufflevector(none, upper, 4, 12, 5, 13, 6, 14, 7, 15)};
}

} // namespace lowdim::detail
