#include "coarse_graph.hpp"

#include "chunks.hpp"

#include <algorithm>
#include <numeric>

namespace lowdim::detail {
namespace {

constexpr std::int64_t chunk = 2048, groups_each = 256;

// The coarse rows of some groups, and room to find where a group's entry is.
struct Part {
    std::vector<std::int32_t> sizes, columns;
    std::vector<float> values;
};
struct Places {
    explicit Places(std::int32_t count) : of(static_cast<std::size_t>(count), -1) {}
    std::vector<std::int32_t> of;
    std::vector<double> sums;
};

} // namespace

std::int32_t grouped(const Graph& graph, std::vector<std::int32_t>& group, int n_threads, Watch& watch) {
    const auto n = static_cast<std::size_t>(graph.n);
    constexpr std::int32_t free = -2, taken = -1;
    std::vector<std::int32_t> middle(n, free); // a number, where the row is the middle of a group
    std::int32_t count = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (middle[i] != free)
            continue;
        middle[i] = count++;
        for (std::int64_t e = graph.starts[i]; e < graph.starts[i + 1]; ++e) {
            std::int32_t& other = middle[static_cast<std::size_t>(graph.columns[e])];
            if (other == free && graph.values[e] > 0)
                other = taken;
        }
    }
    group.resize(n);
    each_chunk(graph.n, chunk, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from; i < to; ++i) {
            const auto at = static_cast<std::size_t>(i);
            group[at] = middle[at];
            float most = 0;
            if (middle[at] >= 0)
                continue;
            for (std::int64_t e = graph.starts[at]; e < graph.starts[at + 1]; ++e) {
                const std::int32_t other = middle[static_cast<std::size_t>(graph.columns[e])];
                if (other >= 0 && graph.values[e] > most) {
                    most = graph.values[e];
                    group[at] = other;
                }
            }
        }
    });
    return count;
}

OwnGraph coarsened(const Graph& graph, const std::vector<std::int32_t>& group, std::int32_t count,
                   int n_threads, Watch& watch) {
    std::vector<std::int64_t> first(static_cast<std::size_t>(count) + 1, 0);
    for (const std::int32_t g : group)
        ++first[static_cast<std::size_t>(g) + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::int32_t> members(group.size());
    {
        std::vector<std::int64_t> next(first.begin(), first.end() - 1);
        for (std::size_t i = 0; i < group.size(); ++i)
            members[static_cast<std::size_t>(next[static_cast<std::size_t>(group[i])]++)] =
                static_cast<std::int32_t>(i);
    }
    std::vector<Part> parts(static_cast<std::size_t>((count + groups_each - 1) / groups_each));
    Workspaces<Places> workspaces(n_threads);
    each_chunk(count, groups_each, n_threads, watch,
               [&](std::int64_t c, std::int64_t from, std::int64_t to, int place) {
                   Places& places = workspaces.at(place, count);
                   Part& part = parts[static_cast<std::size_t>(c)];
                   for (std::int64_t g = from; g < to; ++g) {
                       const std::size_t begin = part.columns.size();
                       places.sums.clear();
                       for (std::int64_t m = first[static_cast<std::size_t>(g)];
                            m < first[static_cast<std::size_t>(g) + 1]; ++m) {
                           const std::int32_t i = members[static_cast<std::size_t>(m)];
                           for (std::int64_t e = graph.starts[i]; e < graph.starts[i + 1]; ++e) {
                               if (!(graph.values[e] > 0))
                                   continue;
                               const std::int32_t other = group[static_cast<std::size_t>(graph.columns[e])];
                               std::int32_t& at = places.of[static_cast<std::size_t>(other)];
                               if (at < 0) {
                                   at = static_cast<std::int32_t>(places.sums.size());
                                   part.columns.push_back(other);
                                   places.sums.push_back(0);
                               }
                               places.sums[static_cast<std::size_t>(at)] +=
                                   static_cast<double>(graph.values[e]);
                           }
                       }
                       for (std::size_t e = begin; e < part.columns.size(); ++e)
                           places.of[static_cast<std::size_t>(part.columns[e])] = -1;
                       for (const double sum : places.sums)
                           part.values.push_back(static_cast<float>(sum));
                       part.sizes.push_back(static_cast<std::int32_t>(places.sums.size()));
                   }
               });
    OwnGraph out;
    out.starts.reserve(static_cast<std::size_t>(count) + 1);
    std::vector<std::int64_t> begins;
    for (const Part& part : parts) {
        begins.push_back(out.starts.back());
        for (const std::int32_t size : part.sizes)
            out.starts.push_back(out.starts.back() + size);
    }
    out.columns = Aligned<std::int32_t>(out.starts.back());
    out.values = Aligned<float>(out.starts.back());
    each_piece(static_cast<std::int64_t>(parts.size()), n_threads, watch, [&](std::int64_t p) {
        const Part& part = parts[static_cast<std::size_t>(p)];
        const std::int64_t at = begins[static_cast<std::size_t>(p)];
        std::copy(part.columns.begin(), part.columns.end(), out.columns.data() + at);
        std::copy(part.values.begin(), part.values.end(), out.values.data() + at);
    });
    return out;
}

} // namespace lowdim::detail
