// Shortest paths between all nodes, each pair once. Batches of sources are searched in waves; the distances
// to the sources of earlier waves are known, in the other direction, and are not searched again. Batches far
// apart come after one another, so that soon every node has neighbours whose distances are known.
//
// The bits do not depend on threads: the waves depend on the number of nodes alone, and the batches of one do
// not use each other's distances.
#include "chunks.hpp"
#include "geodesic_search.hpp"
#include "instructions.hpp"

#include <lowdim/geodesics.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#if LOWDIM_X86
#include <immintrin.h>
#endif

namespace lowdim {
namespace {

using detail::lanes;
using detail::Search;

static_assert(PackedSymmetric<float>::wide == lanes);
constexpr std::int64_t wave = 32; // batches

#define LOWDIM_KERNEL "all_pairs.inl"
#include "each_isa.inl"

// Nodes in the order of their batches, which follow each other in the order of their numbers' bits reversed.
std::vector<std::int64_t> spread(const Graph& graph) {
    const std::vector<std::int64_t> along = detail::every_node(graph);
    const std::int64_t whole = graph.nodes / lanes;
    std::int64_t size = 1;
    while (size < whole)
        size *= 2;
    std::vector<std::int64_t> out;
    out.reserve(along.size());
    for (std::int64_t i = 0; i < size; ++i) {
        std::int64_t batch = 0;
        for (std::int64_t bit = 1; bit < size; bit *= 2)
            batch = 2 * batch + ((i & bit) != 0);
        if (batch < whole)
            out.insert(out.end(), along.begin() + batch * lanes, along.begin() + (batch + 1) * lanes);
    }
    out.insert(out.end(), along.begin() + whole * lanes, along.end());
    return out;
}

// A graph whose nodes have other numbers.
struct Renumbered {
    Renumbered(const Graph& graph, const std::vector<std::int64_t>& nodes)
        : starts(1, 0), ends(graph.starts[graph.nodes]), lengths(ends.size()) {
        std::vector<std::int32_t> number(nodes.size());
        for (std::size_t i = 0; i < nodes.size(); ++i)
            number[nodes[i]] = static_cast<std::int32_t>(i);
        std::vector<std::pair<std::int32_t, float>> edges;
        for (const std::int64_t node : nodes) {
            edges.clear();
            for (std::int64_t e = graph.starts[node]; e < graph.starts[node + 1]; ++e)
                edges.emplace_back(number[graph.ends[e]], graph.lengths[e]);
            std::sort(edges.begin(), edges.end());
            std::int64_t at = starts.back();
            for (const auto& [end, length] : edges) {
                ends[at] = end;
                lengths[at++] = length;
            }
            starts.push_back(at);
        }
    }

    [[nodiscard]] Graph graph() const {
        return {starts.data(), ends.data(), lengths.data(), static_cast<std::int64_t>(starts.size()) - 1};
    }

    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> ends;
    std::vector<float> lengths;
};

} // namespace

void all_geodesics(const Graph& given, const PackedSymmetric<float>& out, std::int32_t* nodes, int n_threads,
                   Watch& watch) {
    const std::vector<std::int64_t> order = spread(given);
    std::copy(order.begin(), order.end(), nodes);
    const Renumbered renumbered(given, order);
    const Graph graph = renumbered.graph();
    std::vector<std::int64_t> along(graph.nodes + 1);
    std::vector<std::int32_t> own(graph.nodes);
    std::iota(along.begin(), along.end(), 0);
    std::iota(own.begin(), own.end(), 0);
    const std::vector<float> none(own.size(), 0.0f);
    const Sources sources{along.data(), own.data(), none.data(), graph.nodes};
    const std::vector<std::int64_t> all(along.begin(), along.end() - 1);
    const detail::Shells shells(graph);
    const auto relax = LOWDIM_PICK(relax);
    const auto mirror = LOWDIM_PICK(mirror);
    const auto square = LOWDIM_PICK(square);
    detail::Workspaces<Search> searches(n_threads);
    const auto search_batch = [&](std::int64_t phase, std::int64_t i, int place) {
        Search& search = searches.at(place, graph, shells, all);
        const std::int64_t before = phase * wave, batch = before + i, first = batch * lanes;
        const auto count = static_cast<int>(out.columns(batch));
        for (std::int64_t panel = 0; panel < before; ++panel)
            mirror(out.at(panel, first), count, search.distances() + panel * lanes * lanes);
        search.begin(sources, all.data() + first, count, before * lanes);
        if (!relax(graph, search.order.data(), before * lanes, search.state.data(), search.distances(), watch,
                   place == 0))
            return;
        square(search.distances() + first * lanes, (graph.nodes - first) * lanes, out.at(batch, first));
        watch.advance(count);
    };
    detail::each_in_order((out.panels() + wave - 1) / wave, n_threads, watch,
                          [&](std::int64_t phase) { return std::min(wave, out.panels() - phase * wave); },
                          search_batch);
}

} // namespace lowdim
