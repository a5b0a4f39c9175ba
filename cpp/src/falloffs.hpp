// The three falloffs as types, so that loops are compiled for each: f(s), pull(s) = −f′(s)/f(s), and −log
// f(s).
#pragma once

#include "exp.hpp"
#include "instructions.hpp"
#include "powers.hpp"

#include <lowdim/falloff.hpp>

#include <cmath>
#include <cstddef>
#include <type_traits>

namespace lowdim::detail {

// Sixteen floats or eight doubles: as many are summed side by side whatever the instruction set.
template <class T> struct Wide {
    typedef T Vector __attribute__((vector_size(64)));
    static constexpr int lanes = 64 / sizeof(T);
};

// What a register of an instruction set holds of them. Loops are over `parts` registers: a vector longer than
// a register is kept in memory between operations.
template <class T, int bytes> struct Register {
    typedef T Vector __attribute__((vector_size(bytes)));
    typedef T Stored __attribute__((vector_size(bytes), may_alias));
    static constexpr int lanes = bytes / sizeof(T), parts = 64 / bytes;
};

template <class T> struct Cauchy {
    explicit Cauchy(const Falloff&) {}
    template <class V> LOWDIM_INLINE void at(const V& s, V& f, V& pull) const {
        pull = f = T(1) / (s + T(1));
    }
    LOWDIM_INLINE T value(T s) const { return T(1) / (T(1) + s); }
    LOWDIM_INLINE T pull(T s) const { return T(1) / (T(1) + s); }
    LOWDIM_INLINE T cost(T s) const { return std::log1p(s); }
};

template <class T> struct Student {
    T dof, power, factor;
    explicit Student(const Falloff& of)
        : dof(static_cast<T>(of.dof)), power(static_cast<T>((of.dof + 1) / 2)), factor(power) {}
    template <class V> LOWDIM_INLINE void at(const V& s, V& f, V& pull) const {
        pull = factor / (s + dof);
        if constexpr (std::is_same_v<T, float>) {
            V x = s / dof, log;
            x = x > 1e30f ? V{} + 1e30f : x;
            const V sum = x + 1.0f;
            log2_of(sum, log);
            log += (x - (sum - 1.0f)) / sum * 1.44269504f; // what rounding took from the sum
            exp2_of(V(-power * log), f);
        } else {
            f = V{};
            for (std::size_t lane = 0; lane < sizeof(V) / sizeof(T); ++lane)
                f[lane] = value(s[lane]);
        }
    }
    LOWDIM_INLINE T value(T s) const { return std::exp(-cost(s)); }
    LOWDIM_INLINE T pull(T s) const { return factor / (dof + s); }
    LOWDIM_INLINE T cost(T s) const { return power * std::log1p(s / dof); }
};

template <class T> struct Gauss {
    explicit Gauss(const Falloff&) {}
    template <class V> LOWDIM_INLINE void at(const V& s, V& f, V& pull) const {
        using E = Exp<T>;
        typedef typename E::Bits Bits __attribute__((vector_size(sizeof(V))));
        V x = -s;
        x = x < E::lowest ? V{} + E::lowest : x;
        const V shifted = x * E::log2e + E::magic;
        const V whole = shifted - E::magic;
        const V rest = x - whole * E::ln2_high - whole * E::ln2_low;
        V p = V{} + E::c[0];
        for (int i = 1; i < E::terms; ++i)
            p = p * rest + E::c[i];
        p = (p * rest) * rest + rest + T(1);
        f = p * (V)(((Bits)shifted << E::mantissa) + E::one);
        pull = V{} + T(1);
    }
    LOWDIM_INLINE T value(T s) const { return std::exp(-s); }
    LOWDIM_INLINE T pull(T) const { return T(1); }
    LOWDIM_INLINE T cost(T s) const { return s; }
};

// Calls visit with the falloff's type.
template <class T, class Visit> decltype(auto) with_falloff(const Falloff& of, const Visit& visit) {
    switch (of.kind) {
    case Falloff::Kind::gauss:
        return visit(Gauss<T>(of));
    case Falloff::Kind::student:
        return visit(Student<T>(of));
    default:
        return visit(Cauchy<T>(of));
    }
}

} // namespace lowdim::detail
