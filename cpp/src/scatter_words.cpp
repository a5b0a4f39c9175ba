// uint8 products in integers on any x86-64: pmaddwd adds two products of 16 bits to each of four int32, so
// that a vector instruction without AVX2 multiplies eight values instead of four floats.
#include "instructions.hpp"
#include "scatter_kernels.hpp"

#if LOWDIM_X86
#include <cstring>
#include <emmintrin.h>

namespace lowdim::detail {
namespace {

constexpr int rows = 4, lanes = 4, most = 2, panel = lanes * most, group = 2;
constexpr int fold = 1024; // 255² · fold stays far below 2^31
constexpr int ahead = 12;  // steps between prefetching a packed row and using it

template <int vectors>
void multiply(const std::byte* a, const std::byte* b, std::int64_t steps, double* __restrict tile) {
    __m128i sum[rows][vectors];
    LOWDIM_UNROLL
    for (int i = 0; i < rows; ++i) {
        LOWDIM_UNROLL
        for (int v = 0; v < vectors; ++v)
            sum[i][v] = _mm_setzero_si128();
    }
    for (std::int64_t k = 0; k < steps; ++k, a += 4 * panel, b += 4 * panel) {
        __m128i right[vectors];
        LOWDIM_UNROLL
        for (int v = 0; v < vectors; ++v)
            right[v] = _mm_load_si128(reinterpret_cast<const __m128i*>(b) + v);
        __builtin_prefetch(b + ahead * 4 * panel);
        __builtin_prefetch(a + ahead * 4 * panel);
        LOWDIM_UNROLL
        for (int i = 0; i < rows; ++i) {
            std::int32_t two;
            std::memcpy(&two, a + 4 * i, sizeof two);
            const __m128i left = _mm_set1_epi32(two);
            LOWDIM_UNROLL
            for (int v = 0; v < vectors; ++v)
                sum[i][v] = _mm_add_epi32(sum[i][v], _mm_madd_epi16(left, right[v]));
        }
    }
    for (int i = 0; i < rows; ++i)
        for (int v = 0; v < vectors; ++v) {
            alignas(16) std::int32_t row[lanes];
            _mm_store_si128(reinterpret_cast<__m128i*>(row), sum[i][v]);
            for (int j = 0; j < lanes; ++j)
                tile[i * panel + v * lanes + j] += row[j];
        }
}

// Rows 2q and 2q + 1 become one step: the two values of a column side by side, as 16 bits.
void pack(const PackBlock& block) {
    const __m128i zero = _mm_setzero_si128();
    for (std::int64_t r = 0; r < block.rows; r += group) {
        const std::uint8_t* first = static_cast<const std::uint8_t*>(block.source) + r * block.stride;
        const std::uint8_t* second = first + block.stride;
        __m128i* out = reinterpret_cast<__m128i*>(static_cast<std::byte*>(block.packed) + r * 2 * panel);
        const __m128i step = _mm_unpacklo_epi8(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(first)),
                                               _mm_loadl_epi64(reinterpret_cast<const __m128i*>(second)));
        _mm_store_si128(out, _mm_unpacklo_epi8(step, zero));
        _mm_store_si128(out + 1, _mm_unpackhi_epi8(step, zero));
        if (!block.labels) {
            for (int j = 0; j < panel; ++j)
                block.sums[j] += first[j] + second[j];
            continue;
        }
        for (std::int64_t i = 0; i < group && r + i < block.rows; ++i) {
            double* sums = block.sums + block.labels[r + i] * block.class_stride;
            for (int j = 0; j < panel; ++j)
                sums[j] += first[i * block.stride + j];
        }
    }
}

} // namespace

Kernel words_kernel() {
    return {.tile_rows = rows,
            .panel = panel,
            .lanes = lanes,
            .group = group,
            .item = 2,
            .fold = fold,
            .bias = Bias::none,
            .pack = pack,
            .pack_full = nullptr,
            .multiply = {nullptr, multiply<1>, multiply<2>, nullptr}};
}

} // namespace lowdim::detail

#else

namespace lowdim::detail {
Kernel words_kernel() { return float_kernel(Element::u8); }
} // namespace lowdim::detail

#endif
