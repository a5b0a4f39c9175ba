// uint8 products in integers: vpdpbusd adds four u8 × s8 products to each of sixteen int32 in one
// instruction.
#include "instructions.hpp"
#include "scatter_kernels.hpp"

#if LOWDIM_X86
#include <cstring>
#include <immintrin.h>
LOWDIM_VNNI_INTRINSICS

namespace lowdim::detail {
namespace {

constexpr int rows = 8, lanes = 16, panel = lanes * max_vectors, group = 4;

constexpr int fold = 1024; // 255 · 128 · fold stays far below 2^31
constexpr int ahead = 12;  // steps between prefetching a packed row and using it

template <int vectors>
LOWDIM_VNNI void multiply(const std::byte* a, const std::byte* b, std::int64_t steps,
                          double* __restrict tile) {
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < vectors * lanes; j += 8)
            __builtin_prefetch(tile + i * panel + j, 1);

    const __m512i flip = _mm512_set1_epi8(-128);
    __m512i sum[rows][vectors];
    LOWDIM_UNROLL
    for (int i = 0; i < rows; ++i) {
        LOWDIM_UNROLL
        for (int v = 0; v < vectors; ++v)
            sum[i][v] = _mm512_setzero_si512();
    }
    for (std::int64_t k = 0; k < steps; ++k, a += panel * group, b += panel * group) {
        __m512i right[vectors]; // x − 128 as s8 is x with its top bit flipped
        LOWDIM_UNROLL
        for (int v = 0; v < vectors; ++v) {
            right[v] = _mm512_xor_si512(_mm512_load_si512(b + v * 64), flip);
            __builtin_prefetch(b + ahead * panel * group + v * 64);
        }
        __builtin_prefetch(a + ahead * panel * group);
        LOWDIM_UNROLL
        for (int i = 0; i < rows; ++i) {
            std::int32_t four;
            std::memcpy(&four, a + i * group, sizeof four);
            __m512i left = _mm512_set1_epi32(four);
            LOWDIM_UNROLL
            for (int v = 0; v < vectors; ++v)
                // The intrinsic makes GCC 12 copy and spill the accumulators in every step.
                asm("vpdpbusd %2, %1, %0" : "+v"(sum[i][v]) : "v"(left), "v"(right[v]));
        }
    }

    LOWDIM_UNROLL
    for (int i = 0; i < rows; ++i) {
        LOWDIM_UNROLL
        for (int v = 0; v < vectors; ++v) {
            double* out = tile + i * panel + v * lanes;
            __m512d low = _mm512_cvtepi32_pd(_mm512_castsi512_si256(sum[i][v]));
            __m512d high = _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(sum[i][v], 1));
            _mm512_store_pd(out, _mm512_add_pd(_mm512_load_pd(out), low));
            _mm512_store_pd(out + 8, _mm512_add_pd(_mm512_load_pd(out + 8), high));
        }
    }
}

LOWDIM_VNNI inline void add_sums(double* sums, __m512i values) {
    __m512d low = _mm512_cvtepi32_pd(_mm512_castsi512_si256(values));
    __m512d high = _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(values, 1));
    _mm512_storeu_pd(sums, _mm512_add_pd(_mm512_loadu_pd(sums), low));
    _mm512_storeu_pd(sums + 8, _mm512_add_pd(_mm512_loadu_pd(sums + 8), high));
}

// Rows 4q .. 4q+3 become one step: the four values of a column side by side. Missing rows are zeros, which
// vanish as left factors for any right ones.
LOWDIM_VNNI void pack(const PackBlock& block) {
    const __m512i ones = _mm512_set1_epi8(1);
    for (std::int64_t r = 0; r < block.rows; r += group) {
        const std::uint8_t* source = static_cast<const std::uint8_t*>(block.source) + r * block.stride;
        std::byte* out = static_cast<std::byte*>(block.packed) + r * panel;
        for (int v = 0; v < max_vectors; ++v, source += lanes, out += 64) {
            __m128i x[group];
            LOWDIM_UNROLL
            for (int i = 0; i < group; ++i)
                x[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i * block.stride));
            __m128i low01 = _mm_unpacklo_epi8(x[0], x[1]), high01 = _mm_unpackhi_epi8(x[0], x[1]);
            __m128i low23 = _mm_unpacklo_epi8(x[2], x[3]), high23 = _mm_unpackhi_epi8(x[2], x[3]);
            __m512i step = _mm512_castsi128_si512(_mm_unpacklo_epi16(low01, low23));
            step = _mm512_inserti32x4(step, _mm_unpackhi_epi16(low01, low23), 1);
            step = _mm512_inserti32x4(step, _mm_unpacklo_epi16(high01, high23), 2);
            step = _mm512_inserti32x4(step, _mm_unpackhi_epi16(high01, high23), 3);
            _mm512_store_si512(out, step);

            double* sums = block.sums + v * lanes;
            if (!block.labels)
                add_sums(sums, _mm512_dpbusd_epi32(_mm512_setzero_si512(), step, ones));
            else
                for (std::int64_t i = 0; i < group && r + i < block.rows; ++i)
                    add_sums(sums + block.labels[r + i] * block.class_stride, _mm512_cvtepu8_epi32(x[i]));
        }
    }
}

} // namespace

Kernel vnni_kernel() {
    return {.tile_rows = rows,
            .panel = panel,
            .lanes = lanes,
            .group = group,
            .item = 1,
            .fold = fold,
            .bias = Bias::right,
            .pack = pack,
            .pack_full = nullptr,
            .multiply = {nullptr, multiply<1>, multiply<2>, multiply<3>}};
}

} // namespace lowdim::detail

#else

namespace lowdim::detail {
Kernel vnni_kernel() { return float_kernel(Element::u8); }
} // namespace lowdim::detail

#endif
