// exp, log and powers of arrays that fit into the first cache, by every library: time and largest error.
#pragma once

#include "measure.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace bench {

constexpr std::int64_t length = 2048;
constexpr double exponent = 0.8951; // of UMAP's curve for min_dist = 0.1

template <class T> struct Function {
    const char* name;
    double low, high;
    double (*exact)(double);
};

inline double power(double x) { return std::pow(x, exponent); }

template <class T>
inline const Function<T> exps{sizeof(T) == 4 ? "exp, float32" : "exp, float64", -80, 0, std::exp};
inline const Function<float> logs{"log, float32", 1, 1e4, std::log},
    powers{"power, float32", 1e-3, 1e4, power};

// Times `f(in, out, length)` and reports the largest error in units of the last place, of many numbers.
template <class T, class F> void measure(const Function<T>& of, const std::string& system, const F& f) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    alignas(64) static T in[length], out[length];
    double worst = 0;
    for (std::int64_t turn = 0; turn < 200; ++turn) {
        for (std::int64_t j = 0; j < length; ++j) {
            const double share = (static_cast<double>(j) + static_cast<double>(turn) / 200) / length;
            in[j] = static_cast<T>(of.low < 0 ? of.low + share * (of.high - of.low)
                                              : of.low * std::pow(of.high / of.low, share));
        }
        f(in, out, length);
        for (std::int64_t j = 0; j < length; ++j) {
            const T right = static_cast<T>(of.exact(static_cast<double>(in[j])));
            Bits bits;
            std::memcpy(&bits, &right, sizeof bits);
            bits += 1;
            T next;
            std::memcpy(&next, &bits, sizeof next);
            const double unit = std::abs(static_cast<double>(next) - static_cast<double>(right));
            worst = std::max(
                worst, std::abs(static_cast<double>(out[j]) - of.exact(static_cast<double>(in[j]))) / unit);
        }
    }
    const double time = seconds([&] { f(in, out, length); });
    report(of.name, system.c_str(), time / length, worst);
}

} // namespace bench
