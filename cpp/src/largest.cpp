// Without their sign, the bits of floating-point numbers are ordered as integers are, infinity above all
// finite ones and NaN above infinity: one maximum finds the largest value, and NaN or infinity.
#include "chunks.hpp"
#include "instructions.hpp"

#include <lowdim/largest.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace lowdim {
namespace {

constexpr std::int64_t chunk = 1 << 16;

template <class T> struct Bits;
template <> struct Bits<float> {
    using Whole = std::int32_t;
};
template <> struct Bits<double> {
    using Whole = std::int64_t;
};

#define LOWDIM_KERNEL "largest.inl"
#include "each_isa.inl"

} // namespace

template <class T> T largest(const T* x, std::int64_t n, int n_threads, Watch& watch) {
    using Whole = typename Bits<T>::Whole;
    const auto bits = LOWDIM_PICK(largest_bits<T>);
    std::vector<Whole> found(static_cast<std::size_t>((n + chunk - 1) / chunk), 0);
    detail::each_chunk(n, chunk, n_threads, watch, [&](std::int64_t c, std::int64_t from, std::int64_t to) {
        found[static_cast<std::size_t>(c)] = bits(x + from, to - from);
    });
    Whole most = 0;
    for (Whole each : found)
        most = std::max(most, each);
    T out;
    std::memcpy(&out, &most, sizeof out);
    return out;
}

template float largest(const float*, std::int64_t, int, Watch&);
template double largest(const double*, std::int64_t, int, Watch&);

} // namespace lowdim
