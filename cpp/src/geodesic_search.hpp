// Batches of sources that are near each other, and the workspace of a search from one of them.
#pragma once

#include "aligned.hpp"

#include <lowdim/geodesics.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace lowdim::detail {

constexpr int lanes = 64; // sources of a batch
constexpr float infinity = std::numeric_limits<float>::infinity();

// Sources in the order of their batches, and where each batch begins.
struct Batches {
    std::vector<std::int64_t> sources, begins;
};

// Batches of sources that are near each other: each is what a breadth-first search from one source's node
// meets first.
inline Batches gather(const Graph& graph, const Sources& sources) {
    Batches plan;
    plan.sources.reserve(sources.count);
    std::vector<std::int64_t> first(graph.nodes, -1), next(sources.count, -1); // sources waiting at a node
    for (std::int64_t s = sources.count - 1; s >= 0; --s) {
        const std::int32_t node = sources.nodes[sources.starts[s]];
        next[s] = first[node];
        first[node] = s;
    }
    std::vector<std::int64_t> seen(graph.nodes, -1);
    std::vector<std::int32_t> queue(graph.nodes);
    std::int64_t start = 0, scanned = 0;
    while (static_cast<std::int64_t>(plan.sources.size()) < sources.count) {
        if (start < 0 || first[start] < 0) {
            while (first[scanned] < 0)
                ++scanned;
            start = scanned;
        }
        const auto batch = static_cast<std::int64_t>(plan.begins.size());
        plan.begins.push_back(static_cast<std::int64_t>(plan.sources.size()));
        std::int64_t head = 0, tail = 0;
        int taken = 0;
        queue[tail++] = static_cast<std::int32_t>(start);
        seen[start] = batch;
        start = -1;
        for (; head < tail && start < 0; ++head) {
            const std::int32_t node = queue[head];
            for (; first[node] >= 0 && taken < lanes; ++taken) {
                plan.sources.push_back(first[node]);
                first[node] = next[first[node]];
            }
            if (first[node] >= 0)
                start = node; // the next batch begins where this one is full
            for (std::int64_t e = graph.starts[node]; e < graph.starts[node + 1]; ++e)
                if (seen[graph.ends[e]] != batch) {
                    seen[graph.ends[e]] = batch;
                    queue[tail++] = graph.ends[e];
                }
        }
    }
    plan.begins.push_back(sources.count);
    return plan;
}

// All nodes, batch after batch.
inline std::vector<std::int64_t> every_node(const Graph& graph) {
    std::vector<std::int64_t> starts(graph.nodes + 1);
    std::vector<std::int32_t> nodes(graph.nodes);
    std::iota(starts.begin(), starts.end(), 0);
    std::iota(nodes.begin(), nodes.end(), 0);
    return gather(graph, {starts.data(), nodes.data(), nullptr, graph.nodes}).sources;
}

// Shells around a batch by distance, an eighth of the mean edge wide; all that lies beyond shares the last.
class Shells {
public:
    explicit Shells(const Graph& graph) {
        const std::int64_t edges = graph.starts[graph.nodes];
        const double sum = std::accumulate(graph.lengths, graph.lengths + edges, 0.0);
        per_length_ = sum > 0 ? static_cast<float>(8.0 * static_cast<double>(edges) / sum) : 0.0f;
    }

    static constexpr int count = 4096;

    [[nodiscard]] int operator()(float distance) const { // what is no number, as 0 times infinity, is far
        return static_cast<int>(std::min(static_cast<float>(count - 1), distance * per_length_));
    }

private:
    float per_length_;
};

// Workspace of a thread, kept between batches.
class Search {
public:
    // `along` orders all nodes so that consecutive ones are mostly neighbours.
    Search(const Graph& graph, const Shells& shells, const std::vector<std::int64_t>& along)
        : order(graph.nodes), state(graph.nodes), graph_(graph), shells_(shells), along_(along),
          nearest_(graph.nodes), shell_(graph.nodes), waiting_(Shells::count), places_(Shells::count + 1),
          lanes_(graph.nodes * lanes) {}

    [[nodiscard]] float* distances() { return lanes_.data(); }

    // Sets the order of visits, of the nodes from `known` on, and their lanes before the first; lanes beyond
    // `count` repeat the last source.
    void begin(const Sources& sources, const std::int64_t* batch, int count, std::int64_t known) {
        explore(sources, batch, count);
        arrange(known);
        std::fill(lanes_.data() + known * lanes, lanes_.data() + graph_.nodes * lanes, infinity);
        for (int l = 0; l < lanes; ++l) {
            const std::int64_t s = batch[std::min(l, count - 1)];
            for (std::int64_t j = sources.starts[s]; j < sources.starts[s + 1]; ++j) {
                float& at = lanes_[std::int64_t{sources.nodes[j]} * lanes + l];
                at = std::min(at, sources.lengths[j]);
            }
        }
        std::fill(state.begin(), state.end(), std::uint8_t{0});
    }

    std::vector<std::int32_t> order;
    std::vector<std::uint8_t> state; // see relax

private:
    void reach(std::int32_t node, float distance) {
        if (distance < nearest_[node]) {
            nearest_[node] = distance;
            waiting_[shells_(distance)].push_back(node);
        }
    }

    // Distances to the nearest source of the batch, shell by shell outwards.
    void explore(const Sources& sources, const std::int64_t* batch, int count) {
        std::fill(nearest_.begin(), nearest_.end(), infinity);
        for (int i = 0; i < count; ++i)
            for (std::int64_t j = sources.starts[batch[i]]; j < sources.starts[batch[i] + 1]; ++j)
                reach(sources.nodes[j], sources.lengths[j]);
        for (int shell = 0; shell < Shells::count; ++shell) {
            std::vector<std::int32_t>& here = waiting_[shell];
            for (std::size_t i = 0; i < here.size(); ++i) { // it grows meanwhile
                const std::int32_t node = here[i];
                if (shells_(nearest_[node]) != shell) // it was reached by a shorter way since
                    continue;
                for (std::int64_t e = graph_.starts[node]; e < graph_.starts[node + 1]; ++e)
                    reach(graph_.ends[e], nearest_[node] + graph_.lengths[e]);
            }
            here.clear();
        }
    }

    // Orders the nodes by shell, and in a shell so that neighbours follow each other and stay in the cache.
    void arrange(std::int64_t known) {
        std::fill(places_.begin(), places_.end(), 0);
        for (std::int64_t node = known; node < graph_.nodes; ++node)
            ++places_[(shell_[node] = shells_(nearest_[node])) + 1];
        std::partial_sum(places_.begin(), places_.end(), places_.begin());
        for (const std::int64_t node : along_)
            if (node >= known)
                order[places_[shell_[node]]++] = static_cast<std::int32_t>(node);
    }

    const Graph& graph_;
    const Shells& shells_;
    const std::vector<std::int64_t>& along_;
    std::vector<float> nearest_; // of each node to the batch
    std::vector<std::int32_t> shell_;
    std::vector<std::vector<std::int32_t>> waiting_; // nodes to go on from, by shell
    std::vector<std::int64_t> places_;
    Aligned<float> lanes_;
};

} // namespace lowdim::detail
