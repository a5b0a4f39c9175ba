// Candidates of a search for features, all at once: queries are shared among threads, and a row of distances
// stays in the cache while each unit of features is added or removed in turn.
#include "chunks.hpp"
#include "instructions.hpp"

#include <lowdim/nearest_with.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#if LOWDIM_X86
#include <immintrin.h>
#endif

namespace lowdim {

namespace {

#define LOWDIM_KERNEL "nearest_with.inl"
#include "each_isa.inl"

} // namespace

template <class T>
void nearest_with(const Distances<T>& given, std::int64_t k, std::int32_t* indices, T* distances,
                  int n_threads, Watch& watch) {
    const auto one_query = given.joining ? LOWDIM_PICK(one_query<T, true>) : LOWDIM_PICK(one_query<T, false>);
    detail::Workspaces<std::vector<T>> rows(n_threads); // distances on the way to a unit of several
    detail::each_piece(given.n_queries, n_threads, watch, [&](std::int64_t i, int place) {
        auto& row = rows.at(place, static_cast<std::size_t>(given.n_points));
        one_query(given, i, k, row.data(), indices, distances);
        watch.advance(1);
    });
}

template <class T>
void move_distances(T* base, const T* queries, const T* points, std::int64_t n_queries, std::int64_t n_points,
                    bool joining, int n_threads, Watch& watch) {
    const auto move = joining ? LOWDIM_PICK(move<T, true>) : LOWDIM_PICK(move<T, false>);
    detail::each_piece(n_queries, n_threads, watch, [&](std::int64_t i) {
        T* row = base + i * n_points;
        move(row, points, queries[i], n_points, row);
    });
}

template void move_distances<float>(float*, const float*, const float*, std::int64_t, std::int64_t, bool, int,
                                    Watch&);
template void move_distances<double>(double*, const double*, const double*, std::int64_t, std::int64_t, bool,
                                     int, Watch&);
template void nearest_with<float>(const Distances<float>&, std::int64_t, std::int32_t*, float*, int, Watch&);
template void nearest_with<double>(const Distances<double>&, std::int64_t, std::int32_t*, double*, int,
                                   Watch&);

} // namespace lowdim
