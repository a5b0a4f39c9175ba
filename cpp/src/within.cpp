// All neighbours within a radius: the search of nearest.cpp with a limit that is known from the start.
#include "nearest_chunk.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <vector>

namespace lowdim {

using namespace detail;

template <class T>
Reached within(const Search<T>& search, double radius, std::int64_t most, int n_threads, Watch& watch) {
    const SearchPlan<T> plan(search, n_threads, watch);
    const double scaled = radius * radius * search.scale * search.scale;
    std::vector<std::vector<Hit>> rows(search.queries.count);
    std::atomic<std::int64_t> all{0};
    each_task(plan, n_threads, watch, [&](QueryChunk<T>& chunk, const QueryTask& task) {
        chunk.take(task, 128 + tile_width);
        for (std::int64_t i = 0; i < chunk.size(); ++i)
            chunk.look(i, scaled);
        const auto relieve = [&](std::int64_t i) {
            auto& row = rows[chunk.query(i)];
            const std::size_t before = row.size();
            for (std::int64_t j = 0; j < chunk.count(i); ++j) {
                const std::int32_t point = chunk.points(i)[j], index = search.points.order[point];
                const double square = chunk.exact(i, point);
                if (std::sqrt(square) <= radius && !(search.itself && index == chunk.query(i)))
                    row.push_back({square, index});
            }
            chunk.keep(i, 0);
            if (all += static_cast<std::int64_t>(row.size() - before); all > most)
                throw TooMany();
        };
        chunk.visit(relieve, [](std::int64_t) {}, watch);
        for (std::int64_t i = 0; i < chunk.size(); ++i) {
            relieve(i);
            std::sort(rows[chunk.query(i)].begin(), rows[chunk.query(i)].end());
        }
    });
    Reached out;
    out.counts.reserve(rows.size());
    out.indices.reserve(static_cast<std::size_t>(all));
    out.distances.reserve(static_cast<std::size_t>(all));
    for (auto& row : rows) {
        out.counts.push_back(static_cast<std::int64_t>(row.size()));
        for (const Hit& hit : row) {
            out.indices.push_back(hit.point);
            out.distances.push_back(static_cast<float>(std::sqrt(hit.square)));
        }
        std::vector<Hit>().swap(row);
    }
    return out;
}

template Reached within(const Search<float>&, double, std::int64_t, int, Watch&);
template Reached within(const Search<double>&, double, std::int64_t, int, Watch&);

} // namespace lowdim
