// Inner products of bytes by vpdpbusd, which adds four u8 × s8 products to each of sixteen int32. B lies in
// panels of 48 rows, four features of a row side by side; tiles of 8 rows of A, less 128, are multiplied with
// them out of registers.
#include <lowdim/integer_gaussian.hpp>

#include "aligned.hpp"
#include "chunks.hpp"
#include "exp.hpp"
#include "instructions.hpp"

#include <lowdim/isa.hpp>
#include <lowdim/pages.hpp>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#if LOWDIM_X86
#include <immintrin.h>
LOWDIM_VNNI_INTRINSICS
#endif

namespace lowdim {

bool multiplies_bytes() { return isa() == Isa::avx512vnni; }

#if LOWDIM_X86

namespace {

using detail::Exp;

constexpr int tall = 8, lanes = 16, vectors = 3, panel = lanes * vectors, group = 4;
// Rows of A, a multiple of tall, and panels of B whose values are one piece of work.
constexpr std::int64_t task = 64, group_of_panels = 32;

#define LOWDIM_KERNEL "integer_gaussian.inl"
#include "each_isa.inl"

// Rows from … from + count − 1 of X, `wide` side by side, four features after four; what is missing is 0.
// `flip` is xored to each byte: 128 makes x − 128 of it.
template <int wide>
void pack(const RowMajor<const std::uint8_t>& X, std::int64_t from, std::int64_t count, std::uint8_t flip,
          std::uint8_t* out) {
    const std::int64_t steps = (X.cols + group - 1) / group;
    std::memset(out, 0, static_cast<std::size_t>(steps * wide * group));
    for (std::int64_t r = 0; r < count; ++r) {
        const std::uint8_t* x = X.data + (from + r) * X.stride;
        for (std::int64_t s = 0; s < X.cols / group; ++s)
            std::memcpy(out + (s * wide + r) * group, x + s * group, group);
        for (std::int64_t j = X.cols / group * group; j < X.cols; ++j)
            out[(j / group * wide + r) * group + j % group] = x[j];
    }
    for (std::int64_t i = 0; flip && i < steps * wide * group; ++i)
        out[i] ^= flip;
}

// Squared lengths of the rows, and sums of their features: what taking 128 away from the other rows is made
// up for with.
struct Lengths {
    Lengths(const RowMajor<const std::uint8_t>& X, int n_threads, Watch& watch)
        : squares(static_cast<std::size_t>(X.rows)), sums(static_cast<std::size_t>(X.rows)) {
        detail::each_chunk(X.rows, task, n_threads, watch,
                           [&](std::int64_t, std::int64_t from, std::int64_t to) {
                               for (std::int64_t i = from; i < to; ++i) {
                                   std::int32_t square = 0, sum = 0;
                                   for (std::int64_t j = 0; j < X.cols; ++j) {
                                       const std::int32_t x = X.data[i * X.stride + j];
                                       square += x * x;
                                       sum += x;
                                   }
                                   squares[static_cast<std::size_t>(i)] = square;
                                   sums[static_cast<std::size_t>(i)] = sum;
                               }
                           });
    }
    std::vector<std::int32_t> squares, sums;
};

// found (tall × panel) = Σ (a − 128) b of packed rows.
LOWDIM_VNNI void multiply(const std::uint8_t* a, const std::uint8_t* b, std::int64_t steps,
                          std::int32_t* found) {
    __m512i sum[tall][vectors];
    LOWDIM_UNROLL
    for (int i = 0; i < tall; ++i) {
        LOWDIM_UNROLL
        for (int v = 0; v < vectors; ++v)
            sum[i][v] = _mm512_setzero_si512();
    }
    for (std::int64_t s = 0; s < steps; ++s, a += tall * group, b += panel * group) {
        __m512i right[vectors];
        LOWDIM_UNROLL
        for (int v = 0; v < vectors; ++v)
            right[v] = _mm512_load_si512(b + v * 64);
        LOWDIM_UNROLL
        for (int i = 0; i < tall; ++i) {
            std::int32_t four;
            std::memcpy(&four, a + i * group, sizeof four);
            __m512i left = _mm512_set1_epi32(four);
            LOWDIM_UNROLL
            for (int v = 0; v < vectors; ++v)
                // The intrinsic makes GCC 12 copy and spill the accumulators in every step.
                asm("vpdpbusd %2, %1, %0" : "+v"(sum[i][v]) : "v"(right[v]), "v"(left));
        }
    }
    LOWDIM_UNROLL
    for (int i = 0; i < tall; ++i) {
        LOWDIM_UNROLL
        for (int v = 0; v < vectors; ++v)
            _mm512_store_si512(found + i * panel + v * lanes, sum[i][v]);
    }
}

} // namespace

template <class T>
void integer_gaussian(const RowMajor<const std::uint8_t>& A, const RowMajor<const std::uint8_t>& B, T gamma,
                      const RowMajor<T>& K, int n_threads, Watch& watch) {
    if (!multiplies_bytes() || A.cols > most_integer_features)
        throw std::invalid_argument(
            "integer_gaussian: needs an instruction for products of bytes and at most " +
            std::to_string(most_integer_features) + " features. Use float rows.");
    const auto finish = LOWDIM_PICK(finish<T>);
    const std::int64_t steps = (A.cols + group - 1) / group, panels = (B.rows + panel - 1) / panel;
    const std::size_t panel_size = static_cast<std::size_t>(steps * panel * group);
    const Lengths left(A, n_threads, watch), right(B, n_threads, watch);
    const detail::Aligned<std::uint8_t> packed(steps * panel * group * panels);
    if (n_threads > 1)
        touch_pages(packed.data(), static_cast<std::size_t>(packed.size()), n_threads, watch);
    detail::each_piece(panels, n_threads, watch, [&](std::int64_t p) {
        pack<panel>(B, p * panel, std::min<std::int64_t>(panel, B.rows - p * panel), 0,
                    packed.data() + static_cast<std::size_t>(p) * panel_size);
    });
    detail::Workspaces<detail::Aligned<std::uint8_t>> workspaces(n_threads);
    const std::int64_t down = (A.rows + task - 1) / task,
                       across = (panels + group_of_panels - 1) / group_of_panels;
    detail::each_piece(down * across, n_threads, watch, [&](std::int64_t piece, int place) {
        const std::int64_t from = piece / across * task, to = std::min(from + task, A.rows),
                           first_panel = piece % across * group_of_panels;
        std::uint8_t* own = workspaces.at(place, task * steps * group).data();
        for (std::int64_t i = from; i < to; i += tall)
            pack<tall>(A, i, std::min<std::int64_t>(tall, to - i), 128, own + (i - from) * steps * group);
        alignas(64) std::int32_t found[tall * panel];
        for (std::int64_t p = first_panel; p < std::min(panels, first_panel + group_of_panels); ++p) {
            const std::int64_t first = p * panel, count = std::min<std::int64_t>(panel, B.rows - first);
            for (std::int64_t i = from; i < to; i += tall) {
                multiply(own + (i - from) * steps * group,
                         packed.data() + static_cast<std::size_t>(p) * panel_size, steps, found);
                for (std::int64_t r = 0; r < std::min<std::int64_t>(tall, to - i); ++r)
                    finish(found + r * panel, left.squares[static_cast<std::size_t>(i + r)],
                           right.squares.data() + first, right.sums.data() + first, gamma, count,
                           K.data + (i + r) * K.stride + first);
            }
        }
    });
}

#else

template <class T>
void integer_gaussian(const RowMajor<const std::uint8_t>&, const RowMajor<const std::uint8_t>&, T,
                      const RowMajor<T>&, int, Watch&) {
    throw std::invalid_argument("integer_gaussian: this processor has no instruction for products of bytes.");
}

#endif

template void integer_gaussian(const RowMajor<const std::uint8_t>&, const RowMajor<const std::uint8_t>&,
                               float, const RowMajor<float>&, int, Watch&);
template void integer_gaussian(const RowMajor<const std::uint8_t>&, const RowMajor<const std::uint8_t>&,
                               double, const RowMajor<double>&, int, Watch&);

} // namespace lowdim
