// Rows of bytes, and products of them out of registers.
#pragma once

#include "aligned.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace lowdim::detail {

constexpr int tall = 8, wide = 48; // rows and points of one call of `keys`

// What a product of bytes needs to become a score: the unit of the bytes, half the squared length of the row,
// and the sum of its bytes.
struct ByteScale {
    float unit, half;
    std::int32_t sum;
};

// Rows of signed bytes, each with its ByteScale in the last bytes of its last line of the cache.
class ByteRows {
public:
    ByteRows(std::int64_t count, std::int64_t d)
        : d_(d), stride_((d + size + line - 1) / line * line), bytes_(count * stride_) {}

    std::int64_t d() const { return d_; }
    std::int64_t stride() const { return stride_; }
    std::int64_t steps() const { return (d_ + 3) / 4; } // of four dimensions; the last are padded with zeros
    std::int8_t* at(std::int64_t i) const { return bytes_.data() + i * stride_; }
    ByteScale scale(std::int64_t i) const {
        ByteScale out;
        std::memcpy(&out, at(i) + stride_ - size, sizeof out);
        return out;
    }
    // Sets row i to x, in steps that are the finest whose sums of products fit into 32 bits. Once all rows
    // are set, `settle` brings their units to a common scale whose squares are floats.
    template <class T> void set(std::int64_t i, const T* x);
    void settle(std::int64_t count);
    // In that scale, how far row i and any other row, as bytes, lie from the rows they stand for, together.
    double blur(std::int64_t i) const {
        return 0.505 * std::sqrt(static_cast<double>(d_)) * (static_cast<double>(scale(i).unit) + coarsest_);
    }
    double from_scale(double length) const { return std::ldexp(length, -up_); }

private:
    void set_scale(std::int64_t i, const ByteScale& scale) const {
        std::memcpy(at(i) + stride_ - size, &scale, sizeof scale);
    }
    static constexpr std::int64_t size = sizeof(ByteScale), line = 64;
    std::int64_t d_, stride_;
    Aligned<std::int8_t> bytes_;
    int up_ = 0;
    double coarsest_ = 0; // of the units
};

// Points side by side in the layout that `keys` reads, with their units and halves.
struct Panel {
    explicit Panel(std::int64_t steps) : values(steps * 4 * wide) {}
    Aligned<std::uint8_t> values;
    alignas(64) float units[wide], halves[wide];
    int count = 0;
};

// The key of a point for a row orders points by their distance from the row: ½‖point‖² − row · point.
struct ByteKernels {
    void (*pack)(const std::int8_t* const* rows, int count, std::int64_t d, std::uint8_t* out);
    // keys (tall × wide) of the points of a panel, and for each row the points whose key is at most its
    // limit.
    void (*keys)(const std::int8_t* const* rows, const ByteScale* scales, const float* limits,
                 const Panel& panel, std::int64_t steps, float* keys, std::uint64_t* within);
    // A row as `dots` reads it, `stride` bytes, and its products with rows of `rows`, given by their numbers.
    void (*prepare)(const std::int8_t* row, std::int64_t d, std::int64_t stride, std::uint8_t* out);
    void (*dots)(const std::uint8_t* row, const std::int8_t* rows, std::int64_t stride,
                 const std::int32_t* which, int count, std::int32_t* out);
};

ByteKernels byte_kernels();
ByteKernels vnni_byte_kernels();

inline void fill(Panel& panel, const ByteKernels& with, const ByteRows& rows, const std::int32_t* which,
                 int count) {
    const std::int8_t* from[wide];
    for (int p = 0; p < count; ++p) {
        from[p] = rows.at(which[p]);
        const ByteScale scale = rows.scale(which[p]);
        panel.units[p] = scale.unit;
        panel.halves[p] = scale.half;
    }
    for (int p = count; p < wide; ++p) {
        panel.units[p] = 0;
        panel.halves[p] = 3e38f;
    }
    panel.count = count;
    with.pack(from, count, rows.d(), panel.values.data());
}

// The same roundings as `keys`.
inline float key_of(std::int32_t dot, const ByteScale& row, const ByteScale& point) {
    return point.half - static_cast<float>(dot) * point.unit * row.unit;
}

} // namespace lowdim::detail
