// Tiles of rows are turned so that a vector holds one coordinate of several rows; G stays in the cache.
#include "aligned.hpp"
#include "chunks.hpp"
#include "instructions.hpp"

#include <lowdim/nonnegative.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace lowdim {
namespace {

constexpr int together = 4;               // vectors of rows in a tile
constexpr std::int64_t sparse_rows = 128; // of a task

#define LOWDIM_KERNEL "nonnegative.inl"
#include "each_isa.inl"

} // namespace

template <class T>
void nonnegative_sweeps(const T* G, const T* B, T* W, std::int64_t rows, std::int64_t k, std::int64_t most,
                        double tol, int n_threads, Watch& watch) {
    const std::int64_t tile = LOWDIM_PICK(tile_rows<T>());
    const auto descend = LOWDIM_PICK(descend_tile<T>);
    detail::Workspaces<detail::Aligned<T>> workspaces(n_threads);
    detail::each_chunk(rows, tile, n_threads, watch,
                       [&](std::int64_t, std::int64_t first, std::int64_t last, int place) {
                           descend(G, B, W, first, last, k, most, static_cast<T>(tol * tol),
                                   workspaces.at(place, 2 * tile * k + k).data(), watch);
                           watch.advance(last - first);
                       });
}

template <class T>
void nonnegative_ratios(const CsrOf<T>& X, const T* W, const T* H, std::int64_t k, T least, T* out,
                        double* losses, int n_threads, Watch& watch) {
    const auto add = LOWDIM_PICK(ratios_of_rows<T>);
    detail::each_chunk(X.rows, sparse_rows, n_threads, watch,
                       [&](std::int64_t, std::int64_t first, std::int64_t last) {
                           add(X, W, H, k, least, first, last, out, losses);
                           watch.advance(last - first);
                       });
}

template void nonnegative_sweeps(const float*, const float*, float*, std::int64_t, std::int64_t, std::int64_t,
                                 double, int, Watch&);
template void nonnegative_sweeps(const double*, const double*, double*, std::int64_t, std::int64_t,
                                 std::int64_t, double, int, Watch&);
template void nonnegative_ratios(const CsrOf<float>&, const float*, const float*, std::int64_t, float, float*,
                                 double*, int, Watch&);
template void nonnegative_ratios(const CsrOf<double>&, const double*, const double*, std::int64_t, double,
                                 double*, double*, int, Watch&);

} // namespace lowdim
