// Kernels on pairs of rows, once per instruction set. Every element is computed separately, so that the bits
// do not depend on the number of threads.
#include <lowdim/pairs.hpp>

#include "chunks.hpp"
#include "exp.hpp"
#include "instructions.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace lowdim {
namespace {

using detail::Exp;
using detail::share;

#define LOWDIM_KERNEL "pairs.inl"
#include "each_isa.inl"

constexpr std::int64_t strip = 16, tile = 64;

} // namespace

template <class T>
void gaussian(const RowMajor<T>& G, const T* a, const T* b, T gamma, int n_threads, Watch& watch) {
    const auto kernel = LOWDIM_PICK(gaussian_row<T>);
    const std::int64_t strips = (G.rows + strip - 1) / strip;
    share(strips, strips, n_threads, watch, [&](std::int64_t s) {
        for (std::int64_t i = s * strip; i < std::min(G.rows, (s + 1) * strip); ++i)
            kernel(G.data + i * G.stride, a[i], b, gamma, G.cols);
    });
}

template <class T>
void manhattan(const RowMajor<const T>& X, const RowMajor<const T>& Y, const RowMajor<T>& D, int n_threads,
               Watch& watch) {
    const auto kernel = LOWDIM_PICK(manhattan_strip<T>);
    const std::int64_t strips = (X.rows + strip - 1) / strip;
    share(strips, strips, n_threads, watch,
          [&](std::int64_t s) { kernel(X, Y, D, s * strip, std::min(X.rows, (s + 1) * strip)); });
}

template <class T>
void mirror(const RowMajor<T>& K, std::int64_t start, std::int64_t stop, int n_threads, Watch& watch) {
    // A task owns the target rows of one tile, so that no two threads write to one line.
    const std::int64_t tiles = (stop + tile - 1) / tile;
    share(tiles, tiles, n_threads, watch, [&](std::int64_t s) {
        const std::int64_t j0 = s * tile, j1 = std::min(stop, j0 + tile);
        T turned[tile][tile];
        for (std::int64_t i0 = start; i0 < stop; i0 += tile) {
            const std::int64_t i1 = std::min(stop, i0 + tile);
            if (j0 >= i1)
                continue;
            for (std::int64_t i = i0; i < i1; ++i) // read along rows, so that a page is visited once
                for (std::int64_t j = j0; j < std::min(j1, i); ++j)
                    turned[j - j0][i - i0] = K.data[i * K.stride + j];
            for (std::int64_t j = j0; j < j1; ++j) {
                const std::int64_t first = std::max(i0, j + 1);
                if (first < i1)
                    std::copy_n(turned[j - j0] + (first - i0), i1 - first, K.data + j * K.stride + first);
            }
        }
    });
}

template void gaussian(const RowMajor<float>&, const float*, const float*, float, int, Watch&);
template void gaussian(const RowMajor<double>&, const double*, const double*, double, int, Watch&);
template void manhattan(const RowMajor<const float>&, const RowMajor<const float>&, const RowMajor<float>&,
                        int, Watch&);
template void manhattan(const RowMajor<const double>&, const RowMajor<const double>&, const RowMajor<double>&,
                        int, Watch&);
template void mirror(const RowMajor<float>&, std::int64_t, std::int64_t, int, Watch&);
template void mirror(const RowMajor<double>&, std::int64_t, std::int64_t, int, Watch&);

} // namespace lowdim
