// Affinities of rows: conditional probabilities of their neighbours, and the symmetric sparse matrix of both
// directions.
#pragma once

#include <lowdim/watch.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace lowdim {

// Distances (not squared) of n rows to k neighbours each, row by row, in ascending order.
template <class T> struct NearDistances {
    const T* distances;
    std::int64_t rows, k;
};

// p (rows × k): p_{j|i} ∝ exp(−β_i d_ij²) with the β_i at which row i has the entropy log(perplexity),
// averaged over several perplexities; reached (rows) is the perplexity of the averaged row. Where no β
// reaches it (equal distances, more duplicates than the perplexity) the row comes as close to it as possible.
template <class T>
void perplexity(const NearDistances<T>& near, const std::vector<double>& perplexities, float* p,
                float* reached, int n_threads, Watch& watch);

// The same with β = 1/(2σ²) for every row.
template <class T>
void bandwidth(const NearDistances<T>& near, double sigma, float* p, float* reached, int n_threads,
               Watch& watch);

// Compressed sparse rows, sizes beyond 2³¹ allowed.
struct SparseRows {
    std::vector<std::int64_t> starts;        // (rows + 1)
    std::unique_ptr<std::int32_t[]> columns; // (starts.back())
    std::unique_ptr<float[]> values;
};

// P = (p_{j|i} + p_{i|j}) / 2n from p (n × k) of the neighbours `indices` (n × k), of which none occurs twice
// in a row. A row of P lists its own neighbours in their order, then the rows that have it as a neighbour, by
// index. Empty when the watch was stopped. The bits do not depend on n_threads.
SparseRows symmetrize(const std::int32_t* indices, const float* p, std::int64_t n, std::int64_t k,
                      int n_threads, Watch& watch);

} // namespace lowdim
