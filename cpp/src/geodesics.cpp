// Shortest paths from many sources at once. Sources that are near each other form a batch, one vector lane
// each. A search from the whole batch puts the nodes in an order of visits, nearest first; then they are
// lowered from their neighbours, in that order, until nothing changes.
//
// Why the bits depend on neither batches nor threads: a + b, rounded, increases with a. So the state in which
// no node can be lowered is the same for any order of visits: the least over all paths of the sum rounded
// step by step.
#include "chunks.hpp"
#include "geodesic_search.hpp"
#include "instructions.hpp"

#include <lowdim/geodesics.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#if LOWDIM_X86
#include <immintrin.h>
#endif

namespace lowdim {
namespace {

using detail::infinity;
using detail::lanes;
using detail::Search;

#define LOWDIM_KERNEL "geodesics.inl"
#include "each_isa.inl"

// Lanes become rows, a few nodes at a time, so that both sides stay in the cache.
void write(const float* distances, std::int64_t nodes, const std::int64_t* batch, int count, bool squared,
           float* out) {
    constexpr std::int64_t some = 64;
    for (std::int64_t start = 0; start < nodes; start += some)
        for (int l = 0; l < count; ++l) {
            float* row = out + batch[l] * nodes;
            for (std::int64_t node = start; node < std::min(nodes, start + some); ++node)
                row[node] = distances[node * lanes + l];
            if (squared)
                for (std::int64_t node = start; node < std::min(nodes, start + some); ++node)
                    row[node] *= row[node];
        }
}

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

void check_rows(const char* name, const std::int64_t* starts, std::int64_t rows, const std::int32_t* nodes,
                const float* lengths, std::int64_t stored, std::int64_t limit) {
    bool rising = starts[0] == 0 && starts[rows] == stored;
    for (std::int64_t i = 0; i < rows; ++i)
        rising &= starts[i] <= starts[i + 1];
    if (!rising)
        refuse(std::string(name) + ": starts must rise from 0 to " + std::to_string(stored) +
               "; they do not. Rebuild the graph.");
    for (std::int64_t e = 0; e < stored; ++e) {
        if (nodes[e] < 0 || nodes[e] >= limit)
            refuse(std::string(name) + ": nodes must be from 0 to " + std::to_string(limit - 1) + "; got " +
                   std::to_string(nodes[e]) + ". Rebuild the graph.");
        if (!(lengths[e] >= 0) || lengths[e] == infinity)
            refuse(std::string(name) + ": lengths must be finite and 0 or more; got " +
                   std::to_string(lengths[e]) + ". Scale the data.");
    }
}

} // namespace

void check(const Graph& graph, std::int64_t stored) {
    check_rows("graph", graph.starts, graph.nodes, graph.ends, graph.lengths, stored, graph.nodes);
}

void check(const Sources& sources, std::int64_t stored, std::int64_t nodes) {
    check_rows("sources", sources.starts, sources.count, sources.nodes, sources.lengths, stored, nodes);
    for (std::int64_t s = 0; s < sources.count; ++s)
        if (sources.starts[s] == sources.starts[s + 1])
            refuse("sources: each must be joined to a node at least; source " + std::to_string(s) +
                   " is joined to none. Leave it out.");
}

void geodesics(const Graph& graph, const Sources& sources, bool squared, float* out, int n_threads,
               Watch& watch) {
    const detail::Batches plan = detail::gather(graph, sources);
    const std::vector<std::int64_t> along = detail::every_node(graph);
    const detail::Shells shells(graph);
    const auto relax = LOWDIM_PICK(relax);
    const auto batches = static_cast<std::int64_t>(plan.begins.size()) - 1;
    detail::Workspaces<Search> searches(n_threads);
    detail::each_piece(batches, n_threads, watch, [&](std::int64_t b, int place) {
        Search& search = searches.at(place, graph, shells, along);
        const std::int64_t* batch = plan.sources.data() + plan.begins[b];
        const int count = static_cast<int>(plan.begins[b + 1] - plan.begins[b]);
        search.begin(sources, batch, count, 0);
        if (!relax(graph, search.order.data(), 0, search.state.data(), search.distances(), watch, place == 0))
            return;
        write(search.distances(), graph.nodes, batch, count, squared, out);
        watch.advance(count);
    });
}

} // namespace lowdim
