// Order of points along a Morton curve: consecutive points are near in the map.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace lowdim::detail {

// A cube about the points: its lowest corner and the cells per unit of length, `bits` a dimension.
struct Cube {
    float low[3] = {};
    double scale = 0, side = 0;
    static constexpr int bits(int k) { return k == 3 ? 20 : 30; }
};

inline Cube cube_of(const float* Y, std::int64_t n, int k) {
    Cube cube;
    for (int d = 0; d < k; ++d) {
        float low = std::numeric_limits<float>::infinity(), high = -low;
        for (std::int64_t i = 0; i < n; ++i) {
            low = std::min(low, Y[i * k + d]);
            high = std::max(high, Y[i * k + d]);
        }
        cube.low[d] = low;
        cube.side = std::max(cube.side, static_cast<double>(high) - low);
    }
    const double cells = static_cast<double>(std::int64_t{1} << Cube::bits(k)) - 1;
    cube.scale = cube.side > 0 ? cells / cube.side : 0;
    return cube;
}

struct Key {
    std::uint64_t code;
    std::int32_t point;
    bool operator<(const Key& other) const {
        return code != other.code ? code < other.code : point < other.point;
    }
};

// Bits of `v` with k − 1 zeros between any two.
inline std::uint64_t spaced(std::uint64_t v, int k) {
    if (k == 1)
        return v;
    if (k == 2) {
        v = (v | v << 16) & 0x0000FFFF0000FFFFu;
        v = (v | v << 8) & 0x00FF00FF00FF00FFu;
        v = (v | v << 4) & 0x0F0F0F0F0F0F0F0Fu;
        v = (v | v << 2) & 0x3333333333333333u;
        return (v | v << 1) & 0x5555555555555555u;
    }
    v = (v | v << 32) & 0x001F00000000FFFFu;
    v = (v | v << 16) & 0x001F0000FF0000FFu;
    v = (v | v << 8) & 0x100F00F00F00F00Fu;
    v = (v | v << 4) & 0x10C30C30C30C30C3u;
    return (v | v << 2) & 0x1249249249249249u;
}

// Points of Y (n × k, k ≤ 3) in Morton order; those in one cell in the order of their numbers.
inline std::vector<Key> morton_order(const float* Y, std::int64_t n, int k, const Cube& cube) {
    std::vector<Key> keys(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
        std::uint64_t code = 0;
        for (int d = 0; d < k; ++d) {
            const double cell = (static_cast<double>(Y[i * k + d]) - cube.low[d]) * cube.scale;
            code |= spaced(static_cast<std::uint64_t>(cell), k) << d;
        }
        keys[static_cast<std::size_t>(i)] = {code, static_cast<std::int32_t>(i)};
    }
    std::sort(keys.begin(), keys.end());
    return keys;
}

} // namespace lowdim::detail
