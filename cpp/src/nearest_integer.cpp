// The scan of tiles of whole numbers: vpdpwssd adds two products of 16 bits to each of sixteen sums in one
// instruction, two dimensions in the time that floats take for one.
#include "instructions.hpp"
#include "nearest_scan.hpp"

#if LOWDIM_X86
#include <immintrin.h>
LOWDIM_VNNI_INTRINSICS

namespace lowdim::detail {
namespace {

constexpr int rows = 12;

LOWDIM_VNNI std::int64_t scan_integers(const Tiles<std::int16_t>& tiles, const Front<std::int16_t>& front,
                                       const Range& range) {
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    std::int32_t point = range.point;
    for (std::int64_t t = range.first; t < range.last; ++t, point += tile_width) {
        if (tiles.highest[t] < range.inner || tiles.lowest[t] > range.outer)
            continue;
        __m512i sums[rows];
        const std::int16_t* a = front.values;
        bool near = true;
        for (int s = 0; s < tiles.n_stages; ++s) {
            const __m512i half = _mm512_load_si512(tiles.halves[s] + t * tile_width);
            LOWDIM_UNROLL
            for (int r = 0; r < rows; ++r)
                sums[r] = s == 0 ? half : _mm512_add_epi32(sums[r], half);
            const std::int16_t* b = tiles.values[s] + t * tiles.steps[s] * tile_width * 2;
            for (std::int64_t step = 0; step < tiles.steps[s]; ++step, a += rows * 2, b += tile_width * 2) {
                const __m512i values = _mm512_load_si512(b);
                LOWDIM_UNROLL
                for (int r = 0; r < rows; ++r) // by hand: the intrinsic makes GCC 12 copy the sums
                    asm("vpdpwssd %2%{1to16%}, %1, %0"
                        : "+v"(sums[r])
                        : "v"(values), "m"(reinterpret_cast<const std::int32_t (&)[1]>(a[2 * r])));
            }
            const std::int32_t* reject = front.reject[s];
            __m512i best = _mm512_sub_epi32(sums[0], _mm512_set1_epi32(reject[0]));
            LOWDIM_UNROLL
            for (int r = 1; r < rows; ++r)
                best = _mm512_max_epi32(best, _mm512_sub_epi32(sums[r], _mm512_set1_epi32(reject[r])));
            if (_mm512_movepi32_mask(best) == 0xFFFF) {
                near = false;
                break;
            }
        }
        if (!near)
            continue;
        bool full = false;
        const std::int32_t* reject = front.reject[tiles.n_stages - 1];
        LOWDIM_UNROLL
        for (int r = 0; r < rows; ++r) {
            std::int32_t& count = front.counts[r];
            const __mmask16 hits = _mm512_cmpge_epi32_mask(sums[r], _mm512_set1_epi32(reject[r]));
            if (hits) {
                const __m512 scores = _mm512_mul_ps(_mm512_cvtepi32_ps(sums[r]), _mm512_set1_ps(front.unit));
                const std::int64_t at = r * front.capacity + count;
                _mm512_storeu_ps(front.scores + at, _mm512_maskz_compress_ps(hits, scores));
                _mm512_storeu_si512(
                    front.points + at,
                    _mm512_maskz_compress_epi32(hits, _mm512_add_epi32(lane, _mm512_set1_epi32(point))));
                count += __builtin_popcount(hits);
            }
            full |= count > front.capacity - tile_width;
        }
        if (full)
            return t + 1;
    }
    return range.last;
}

} // namespace

decltype(Scanner::scan_integers) integer_scan() { return scan_integers; }

} // namespace lowdim::detail

#else

namespace lowdim::detail {
decltype(Scanner::scan_integers) integer_scan() { return nullptr; }
} // namespace lowdim::detail

#endif
