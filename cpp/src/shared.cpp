// Common neighbours: the nearest of a row are marked, then the lists of its neighbours are read.
#include <lowdim/shared.hpp>

#include "chunks.hpp"

#include <algorithm>
#include <vector>

namespace lowdim {

void count_shared(const std::int32_t* indices, std::int64_t n, std::int64_t c, std::int64_t first,
                  std::uint8_t* counts, int n_threads, Watch& watch) {
    std::vector<std::int32_t> lists(
        static_cast<std::size_t>(n * first)); // the nearest alone, close in memory
    for (std::int64_t i = 0; i < n; ++i)
        std::copy_n(indices + i * c, first, lists.data() + i * first);
    detail::Desks<std::vector<std::int32_t>> desks(n_threads);
    detail::each_chunk(
        n, 512, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to, int place) {
            auto& marks =
                desks.at(place, static_cast<std::size_t>(n), -1); // the last row that each is near to
            for (std::int64_t i = from; i < to; ++i) {
                const auto row = static_cast<std::int32_t>(i);
                for (std::int64_t e = i * first; e < (i + 1) * first; ++e)
                    marks[static_cast<std::size_t>(lists[static_cast<std::size_t>(e)])] = row;
                for (std::int64_t e = i * c; e < (i + 1) * c; ++e) {
                    const std::int32_t* list = lists.data() + indices[e] * first;
                    const auto shared = std::count_if(list, list + first, [&](std::int32_t j) {
                        return marks[static_cast<std::size_t>(j)] == row;
                    });
                    counts[e] = static_cast<std::uint8_t>(std::min<std::int64_t>(shared, 255));
                }
            }
        });
}

} // namespace lowdim
