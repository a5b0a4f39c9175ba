// Places of samples in the order of distances from another, without the order itself.
#pragma once

#include <lowdim/pairs.hpp>
#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// Which rows ask: rows[0 .. count − 1], or the first `count` of all when rows is null.
struct Asking {
    const std::int64_t* rows;
    std::int64_t count;
    std::int64_t row(std::int64_t p) const { return rows ? rows[p] : p; }
};

// out (count × k): squared Euclidean distances of each asking row from its own others (count × k), summed in
// double.
template <class T>
void squared_distances(const RowMajor<const T>& X, const Asking& asking, const std::int32_t* others,
                       std::int64_t k, double* out, int n_threads, Watch& watch);

// out (count × k): how many other rows come before each target (count × k) in the order of (distance, index)
// from the asking row. Exact: products of float rows less `centre` bound every squared distance, and those
// that the bounds leave open are summed in double. Where all rows ask, each product serves both of its rows.
// Memory: one float copy of X, two of where not all rows ask. The watch is told thousandths.
template <class T>
void ranks(const RowMajor<const T>& X, const double* centre, const Asking& asking,
           const std::int32_t* targets, std::int64_t k, std::int32_t* out, int n_threads, Watch& watch);

// The same from given distances D (count × n), one row for each that asks; infinite to itself.
void ranks_in(const RowMajor<const double>& D, const std::int32_t* targets, std::int64_t k, std::int32_t* out,
              int n_threads, Watch& watch);

// Distances A and B (m × n) from the same m rows in two spaces, infinite to themselves. With c_i(K) the
// number of samples that are among the K nearest of row i in both, K = 1 … n − 2: total and squares (n − 2)
// gain Σ_i c_i(K) and Σ_i c_i(K)², and scores (m) are Σ_K weights_K c_i(K).
void common_neighbors(const RowMajor<const double>& A, const RowMajor<const double>& B, const double* weights,
                      std::int64_t* total, std::int64_t* squares, double* scores, int n_threads,
                      Watch& watch);

} // namespace lowdim
