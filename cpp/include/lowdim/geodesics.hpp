// Shortest paths on a graph of rows, and how an embedding preserves distances.
#pragma once

#include <lowdim/packed_symmetric.hpp>
#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// Edges of node u lead to ends[starts[u] .. starts[u + 1] − 1], sorted, with the lengths at the same
// positions. Every edge is stored in both directions.
struct Graph {
    const std::int64_t* starts; // (nodes + 1,)
    const std::int32_t* ends;
    const float* lengths;
    std::int64_t nodes;
};

// Source s is outside the graph, connected to nodes[starts[s] .. starts[s + 1] − 1] by edges of these
// lengths; a node itself is a source connected to it by an edge of length 0.
struct Sources {
    const std::int64_t* starts; // (count + 1,)
    const std::int32_t* nodes;
    const float* lengths;
    std::int64_t count;
};

// Throws std::invalid_argument unless starts increase from 0 to `stored`, nodes exist, and lengths are 0 or
// more.
void check(const Graph& graph, std::int64_t stored);
void check(const Sources& sources, std::int64_t stored, std::int64_t nodes);

// out (count × nodes, row by row): length of the shortest path from each source to each node, infinity where
// there is none; or its square. Each is the least of the lengths of all paths, summed in float from the
// source; the bits depend on nothing else.
void geodesics(const Graph& graph, const Sources& sources, bool squared, float* out, int n_threads,
               Watch& watch);

// Squared lengths of the shortest paths between all nodes, which are put in an order of their own: `nodes`
// (n,) are their numbers in it. Each length is summed in float along a shortest path,
// in an order that depends on the graph alone.
void all_geodesics(const Graph& graph, const PackedSymmetric<float>& out, std::int32_t* nodes, int n_threads,
                   Watch& watch);

// For the distances d from some rows of an embedding to all n, and e_c those in its first c coordinates:
// out (rows × (2 + 3k)) = Σd, Σd², then Σe_c, Σe_c², Σd e_c for c = 1 … k. `places` are the rows' own
// numbers, `Y` (k × n) the coordinates one after the other. `squared` says that D holds d²; `beyond` leaves
// out the columns up to a row's own number, which for all rows are the same pairs once more.
void distance_sums(const float* D, const std::int32_t* places, std::int64_t rows, const float* Y,
                   std::int64_t n, std::int64_t k, bool squared, bool beyond, double* out, int n_threads,
                   Watch& watch);

} // namespace lowdim
