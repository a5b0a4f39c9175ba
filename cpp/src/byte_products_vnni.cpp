// Products of bytes by vpdpbusd, which adds four u8 × s8 products to each of sixteen int32. One side is
// shifted by 128 to be unsigned, which the sum of the other makes up for.
#include "byte_products.hpp"
#include "instructions.hpp"

#if LOWDIM_X86
#include <immintrin.h>
LOWDIM_VNNI_INTRINSICS

namespace lowdim::detail {
namespace {

constexpr int lanes = 16, vectors = wide / lanes;

// Points four dimensions at a time side by side, shifted; what is missing is 0.
LOWDIM_VNNI void pack(const std::int8_t* const* rows, int count, std::int64_t d, std::uint8_t* out) {
    const std::int64_t steps = (d + 3) / 4, whole = d / 4;
    if (count < wide || whole < steps)
        std::memset(out, 0, static_cast<std::size_t>(steps * wide * 4));
    for (int p = 0; p < count; ++p) {
        const std::int8_t* row = rows[p];
        for (std::int64_t s = 0; s < whole; ++s) {
            std::uint32_t four;
            std::memcpy(&four, row + s * 4, sizeof four);
            four ^= 0x80808080U;
            std::memcpy(out + (s * wide + p) * 4, &four, sizeof four);
        }
        for (std::int64_t j = whole * 4; j < d; ++j)
            out[(j / 4 * wide + p) * 4 + j % 4] = static_cast<std::uint8_t>(row[j]) ^ 0x80U;
    }
}

LOWDIM_VNNI void keys(const std::int8_t* const* rows, const ByteScale* scales, const float* limits,
                      const Panel& panel, std::int64_t steps, float* keys, std::uint64_t* within) {
    __m512i sum[tall][vectors];
    LOWDIM_UNROLL
    for (int r = 0; r < tall; ++r) {
        LOWDIM_UNROLL
        for (int v = 0; v < vectors; ++v)
            sum[r][v] = _mm512_set1_epi32(-128 * scales[r].sum);
    }
    const std::uint8_t* b = panel.values.data();
    for (std::int64_t s = 0; s < steps; ++s, b += wide * 4) {
        __m512i right[vectors];
        LOWDIM_UNROLL
        for (int v = 0; v < vectors; ++v)
            right[v] = _mm512_load_si512(b + v * 64);
        LOWDIM_UNROLL
        for (int r = 0; r < tall; ++r) {
            std::int32_t four;
            std::memcpy(&four, rows[r] + s * 4, sizeof four);
            const __m512i left = _mm512_set1_epi32(four);
            LOWDIM_UNROLL
            for (int v = 0; v < vectors; ++v)
                // The intrinsic makes GCC 12 copy and spill the accumulators in every step.
                asm("vpdpbusd %2, %1, %0" : "+v"(sum[r][v]) : "v"(right[v]), "v"(left));
        }
    }
    LOWDIM_UNROLL
    for (int r = 0; r < tall; ++r) {
        const __m512 unit = _mm512_set1_ps(scales[r].unit), limit = _mm512_set1_ps(limits[r]);
        std::uint64_t found = 0;
        LOWDIM_UNROLL
        for (int v = 0; v < vectors; ++v) {
            const __m512 product =
                _mm512_mul_ps(_mm512_cvtepi32_ps(sum[r][v]), _mm512_load_ps(panel.units + v * lanes));
            const __m512 key =
                _mm512_sub_ps(_mm512_load_ps(panel.halves + v * lanes), _mm512_mul_ps(product, unit));
            _mm512_storeu_ps(keys + r * wide + v * lanes, key);
            found |= static_cast<std::uint64_t>(_mm512_cmp_ps_mask(key, limit, _CMP_LE_OQ)) << v * lanes;
        }
        within[r] = found;
    }
}

LOWDIM_VNNI void prepare(const std::int8_t* row, std::int64_t d, std::int64_t stride, std::uint8_t* out) {
    std::memset(out, 0, static_cast<std::size_t>(stride)); // where the others have their scales
    for (std::int64_t j = 0; j < d; ++j)
        out[j] = static_cast<std::uint8_t>(row[j]) ^ 0x80U;
}

LOWDIM_VNNI void dots(const std::uint8_t* row, const std::int8_t* rows, std::int64_t stride,
                      const std::int32_t* which, int count, std::int32_t* out) {
    constexpr int at_once = 4, ahead = 8;
    for (int c = 0; c < count; c += at_once) {
        const std::int8_t* from[at_once];
        for (int u = 0; u < at_once; ++u) {
            from[u] = rows + which[c + u < count ? c + u : count - 1] * stride;
            if (c + u + ahead < count)
                for (std::int64_t byte = 0; byte < stride; byte += 64)
                    __builtin_prefetch(rows + which[c + u + ahead] * stride + byte);
        }
        __m512i sum[at_once] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(),
                                _mm512_setzero_si512()};
        for (std::int64_t j = 0; j < stride; j += 64) {
            const __m512i x = _mm512_loadu_si512(row + j);
            LOWDIM_UNROLL
            for (int u = 0; u < at_once; ++u)
                asm("vpdpbusd %2, %1, %0"
                    : "+v"(sum[u])
                    : "v"(x), "m"(*reinterpret_cast<const __m512i*>(from[u] + j)));
        }
        for (int u = 0; u < at_once && c + u < count; ++u) {
            ByteScale scale;
            std::memcpy(&scale, from[u] + stride - sizeof scale, sizeof scale);
            out[c + u] = _mm512_reduce_add_epi32(sum[u]) - 128 * scale.sum;
        }
    }
}

} // namespace

ByteKernels vnni_byte_kernels() { return {pack, keys, prepare, dots}; }

} // namespace lowdim::detail

#endif
