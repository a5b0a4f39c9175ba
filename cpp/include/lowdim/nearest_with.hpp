// Nearest neighbours when features are added to or removed from existing squared distances.
#pragma once

#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// Squared distances base (q × n) and the features they may grow or shrink by, each a row: queries (d × q) and
// points (d × n). Unit u is the features members[offsets[u]] … members[offsets[u + 1] − 1].
template <class T> struct Distances {
    const T *base, *queries, *points;
    std::int64_t n_queries, n_points;
    const std::int32_t *members, *offsets;
    std::int64_t n_units;
    bool joining; // units join the distances; otherwise they leave them
};

// For each unit and query the k points that are nearest once the unit has joined or left: indices
// (n_units × q × k) and squared distances, nearest first, ties by index; −1 and
// infinity where there are fewer than k finite ones. Distances that would become negative are 0. The bits do
// not depend on n_threads.
template <class T>
void nearest_with(const Distances<T>& given, std::int64_t k, std::int32_t* indices, T* distances,
                  int n_threads, Watch& watch);

// base (n_queries × n_points), squared distances, grows or shrinks by one feature of queries and points.
template <class T>
void move_distances(T* base, const T* queries, const T* points, std::int64_t n_queries, std::int64_t n_points,
                    bool joining, int n_threads, Watch& watch);

} // namespace lowdim
