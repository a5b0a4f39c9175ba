// Exact nearest neighbours of dense rows: a search in float32 that discards points that cannot be near, and
// distances in double of the others.
#pragma once

#include <lowdim/watch.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

namespace lowdim {

// Rows in groups. `values` (count × d, in their own order) is what the search reads: coordinates about a
// common origin along common axes, so scaled that no square overflows; the first axes are compared first, so
// they should vary most. `exact` (count × wide) are the rows of the exact distances, equal to those of
// `values` up to one factor and the rounding of float32. Group g holds rows order[starts[g]] … order[starts[g
// + 1] − 1].
template <class T> struct Grouped {
    const float* values;
    const T* exact;
    std::int64_t count;
    const std::int32_t* order;
    const std::int64_t* starts;
};

// Points and queries share dimensions, groups and the centres (groups × d, in the coordinates of `values`)
// that each row lies nearest to, up to rounding; within a group points should come nearest to the centre
// first. `stages` (rising, the last is d) are the numbers of coordinates after which the bound of a pair is
// checked.
template <class T> struct Search {
    Grouped<T> points, queries;
    std::int64_t d, wide;
    const float* centres;
    std::int64_t groups;
    const std::int64_t* stages;
    int n_stages;
    double scale; // distance of `values` over distance of `exact`
    bool itself;  // queries are the points, and none is its own neighbour
};

// The k nearest points of each query, by (distance, index): indices and distances, both (queries × k). There
// must be k points for each query besides itself. `tick` advances by queries.
template <class T>
void nearest(const Search<T>& search, std::int64_t k, std::int32_t* indices, float* distances, int n_threads,
             Watch& watch);

// All points within `radius` of each query, by (distance, index), query after query.
struct Reached {
    std::vector<std::int64_t> counts; // by query
    std::vector<std::int32_t> indices;
    std::vector<float> distances;
};
// Thrown where there are more than `most` of them in all.
struct TooMany : std::exception {};
template <class T>
Reached within(const Search<T>& search, double radius, std::int64_t most, int n_threads, Watch& watch);

// The k smallest entries of each row of D (rows × cols, `stride` apart), by (value, column), without the
// column skip[row] where skip is given; fewer than k are never left.
template <class T>
void smallest(const T* D, std::int64_t rows, std::int64_t cols, std::ptrdiff_t stride,
              const std::int32_t* skip, std::int64_t k, std::int32_t* indices, T* values, int n_threads,
              Watch& watch);

} // namespace lowdim
