// A graph of groups of neighbouring rows: a hierarchy of them leads from a large graph to a small one.
#pragma once

#include "aligned.hpp"

#include <lowdim/watch.hpp>

#include <cstdint>
#include <vector>

namespace lowdim::detail {

// Sparse symmetric rows of weights, of which those that are not positive connect nothing.
struct Graph {
    const std::int64_t* starts; // (n + 1,)
    const std::int32_t* columns;
    const float* values;
    std::int64_t n;
};

// A graph that holds its own rows.
struct OwnGraph {
    std::vector<std::int64_t> starts{0};
    Aligned<std::int32_t> columns;
    Aligned<float> values;
    [[nodiscard]] Graph view() const {
        return {starts.data(), columns.data(), values.data(), static_cast<std::int64_t>(starts.size()) - 1};
    }
};

// Groups of the rows: the number of each row's, from 0, and how many there are. A group is a row and
// neighbours that have no stronger one of the rows so chosen, of which no two are neighbours. Every row needs
// a neighbour.
std::int32_t grouped(const Graph& graph, std::vector<std::int32_t>& group, int n_threads, Watch& watch);

// The graph of `count` groups: sums of the weights between them, those within one on the diagonal. The bits
// do not depend on n_threads.
OwnGraph coarsened(const Graph& graph, const std::vector<std::int32_t>& group, std::int32_t count,
                   int n_threads, Watch& watch);

} // namespace lowdim::detail
