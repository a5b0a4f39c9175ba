// Approximate nearest neighbours of dense rows: a forest whose leaves are compared all with all by products
// of bytes, rounds of neighbours of neighbours, and exact distances of what they leave.
#pragma once

#include <lowdim/watch.hpp>

#include <cstdint>
#include <vector>

namespace lowdim {

// Rows (count × d) in the type they came in. What is compared is (x − mean) / norm, with a mean and a norm
// for each row, where these are given: in float, or in double for rows in double.
struct RawRows {
    enum class Kind { half, single, twice, byte };
    const void* data;
    Kind kind;
    std::int64_t count, d;
    const double *means, *norms;
};

// How far to search. Trees, whose leaves have `leaf` points at most, are grown until a sample of rows has the
// share `by_trees` of its neighbours, and rounds follow until it has `target`. For each row `keep` (k or
// more) candidates are ranked exactly.
struct GraphPlan {
    std::int64_t trees, leaf, rounds, keep; // trees and rounds at the most
    double by_trees, target;
    std::uint64_t seed;
};

// Some rows, and how far the true last of their neighbours is: NaN where bytes do not tell.
struct GraphSample {
    std::vector<std::int32_t> rows;
    std::vector<float> farthest;
};

// The k nearest points found for each query, or for each point among the others where there are none, by
// (distance, index): indices and distances, both (rows × k). Returned is a sample by which they can be
// judged, apart from that by which the search ends. The bits do not depend on n_threads. `tick` advances by
// rows.
GraphSample near_graph(const RawRows& points, const RawRows* queries, std::int64_t k, const GraphPlan& plan,
                       std::int32_t* indices, float* distances, int n_threads, Watch& watch);

// The k nearest of some candidates (queries × among, indices of points) of each query, by (distance, index).
void rank_candidates(const RawRows& points, const RawRows& queries, const std::int32_t* candidates,
                     std::int64_t among, std::int64_t k, std::int32_t* indices, float* distances,
                     int n_threads, Watch& watch);

} // namespace lowdim
