// The convolution of the grid of t-SNE, as every library does it: real rows to their spectra, transforms
// across them, the multiplier, and back. Only the rows that hold points are transformed along themselves.
#pragma once

#include "measure.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

namespace bench {

// Nodes that are used and periods, as a map of MNIST has them: in the first iterations of a descent, on the
// way, and at the end with 5,000, 10,000 and 70,000 points, there with the grid of the last iterations too;
// and one in 1-D.
struct Size {
    std::int64_t columns, rows, wide, tall;
};
constexpr Size sizes[] = {{29, 25, 60, 50},         {148, 139, 300, 288},   {360, 350, 720, 720},
                          {551, 433, 1152, 900},    {655, 563, 1440, 1200}, {746, 720, 1500, 1440},
                          {1051, 1013, 2304, 2250}, {745, 1, 1536, 1}};

// Values at the nodes: as many as there are, in rows of `stride`, the rest 0.
inline std::vector<float> nodes(const Size& s, std::int64_t stride) {
    std::vector<float> out(static_cast<std::size_t>(stride * s.rows), 0.0f);
    std::uint32_t state = 1;
    for (std::int64_t r = 0; r < s.rows; ++r)
        for (std::int64_t c = 0; c < s.columns; ++c) {
            state = state * 1664525u + 1013904223u;
            out[static_cast<std::size_t>(r * stride + c)] = static_cast<float>(state >> 8) * 0x1p-24f;
        }
    return out;
}

// Spectrum of the stencil (¼, ½, ¼) along both axes, over the number of nodes of the period, so that the
// result is known: the multiplier of frequency (along, across).
inline float multiplier(const Size& s, std::int64_t along, std::int64_t across) {
    const auto axis = [](std::int64_t k, std::int64_t n) {
        return n > 1 ? 0.5 + 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(k) /
                                            static_cast<double>(n))
                     : 1.0;
    };
    return static_cast<float>(axis(along, s.wide) * axis(across, s.tall) /
                              static_cast<double>(s.wide * s.tall));
}

// Multipliers row by row (tall × wide/2 + 1), as libraries lay their spectra out.
inline std::vector<float> multipliers(const Size& s) {
    std::vector<float> out;
    for (std::int64_t k = 0; k < s.tall; ++k)
        for (std::int64_t j = 0; j <= s.wide / 2; ++j)
            out.push_back(multiplier(s, j, k));
    return out;
}

// Relative error in the L2 norm of what came out in place of `in`.
inline double error(const Size& s, const std::vector<float>& in, const float* out, std::int64_t stride) {
    const auto at = [&](std::int64_t r, std::int64_t c) {
        const bool inside = r >= 0 && c >= 0 && r < s.rows && c < s.columns;
        return inside ? static_cast<double>(in[static_cast<std::size_t>(r * stride + c)]) : 0.0;
    };
    double wrong = 0, all = 0;
    for (std::int64_t r = 0; r < s.rows; ++r)
        for (std::int64_t c = 0; c < s.columns; ++c) {
            const auto row = [&](std::int64_t q) {
                return 0.25 * (at(q, c - 1) + at(q, c + 1)) + 0.5 * at(q, c);
            };
            const double right = s.tall > 1 ? 0.25 * (row(r - 1) + row(r + 1)) + 0.5 * row(r) : row(r);
            wrong += std::pow(out[r * stride + c] - right, 2);
            all += right * right;
        }
    return std::sqrt(wrong / all);
}

inline std::string name(const Size& s, int threads) {
    return "fft " + std::to_string(s.wide) + " × " + std::to_string(s.tall) + ", threads " +
           std::to_string(threads);
}

// Multiplies a spectrum of complex numbers.
inline void scale(float* spectrum, const std::vector<float>& by) {
    for (std::size_t i = 0; i < by.size(); ++i) {
        spectrum[2 * i] *= by[i];
        spectrum[2 * i + 1] *= by[i];
    }
}

} // namespace bench
