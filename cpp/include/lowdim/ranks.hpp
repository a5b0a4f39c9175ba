// Ranks of samples by distance from another, without sorting.
#pragma once

#include <lowdim/pairs.hpp>
#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// The querying rows: rows[0 .. count − 1], or the first `count` of all when rows is null.
struct Asking {
    const std::int64_t* rows;
    std::int64_t count;
    std::int64_t row(std::int64_t p) const { return rows ? rows[p] : p; }
};

// out (count × k): squared Euclidean distances of each querying row from its own others (count × k), summed
// in double.
template <class T>
void squared_distances(const RowMajor<const T>& X, const Asking& asking, const std::int32_t* others,
                       std::int64_t k, double* out, int n_threads, Watch& watch);

// out (count × k): how many other rows come before each target (count × k) in the order of (distance, index)
// from the querying row. Exact: products of float rows less their mean bound every squared distance, and
// those that the bounds leave open are summed in double. Where all rows query, each product is used for both
// of its rows. Memory: one float copy of the columns of X that vary, and another of the querying rows where
// these are not all. Progress is counted in thousandths.
template <class T>
void ranks(const RowMajor<const T>& X, const Asking& asking, const std::int32_t* targets, std::int64_t k,
           std::int32_t* out, int n_threads, Watch& watch);

// The same from given distances D (count × n), one row for each querying row; infinite to itself.
void ranks_in(const RowMajor<const double>& D, const std::int32_t* targets, std::int64_t k, std::int32_t* out,
              int n_threads, Watch& watch);

} // namespace lowdim
