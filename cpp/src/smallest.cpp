// The smallest entries of each row, of given distances: one pass that keeps a few more than needed and
// discards the surplus when there are too many.
#include "chunks.hpp"

#include <lowdim/nearest.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace lowdim {

template <class T>
void smallest(const T* D, std::int64_t rows, std::int64_t cols, std::ptrdiff_t stride,
              const std::int32_t* skip, std::int64_t k, std::int32_t* indices, T* values, int n_threads,
              Watch& watch) {
    struct Entry {
        T value;
        std::int32_t column;
        bool operator<(const Entry& other) const {
            return value < other.value || (value == other.value && column < other.column);
        }
    };
    const auto capacity = static_cast<std::size_t>(std::max(2 * k, k + 256));
    detail::Workspaces<std::vector<Entry>> workspaces(n_threads);
    detail::each_chunk(rows, 4, n_threads, watch,
                       [&](std::int64_t, std::int64_t from, std::int64_t to, int place) {
                           std::vector<Entry>& kept = workspaces.at(place);
                           kept.reserve(capacity);
                           for (std::int64_t i = from; i < to; ++i) {
                               const T* row = D + i * stride;
                               kept.clear();
                               T worst = std::numeric_limits<T>::infinity();
                               const auto thin = [&] {
                                   std::nth_element(kept.begin(), kept.begin() + (k - 1), kept.end());
                                   kept.resize(k);
                                   worst = kept.back().value;
                               };
                               for (std::int64_t j = 0; j < cols; ++j) {
                                   if (!(row[j] <= worst) || (skip != nullptr && skip[i] == j))
                                       continue;
                                   kept.push_back({row[j], static_cast<std::int32_t>(j)});
                                   if (kept.size() == capacity)
                                       thin();
                               }
                               if (kept.size() > static_cast<std::size_t>(k))
                                   thin();
                               std::sort(kept.begin(), kept.end());
                               for (std::int64_t j = 0; j < k; ++j) {
                                   indices[i * k + j] = kept[j].column;
                                   values[i * k + j] = kept[j].value;
                               }
                           }
                           watch.advance(to - from);
                       });
}

template void smallest(const float*, std::int64_t, std::int64_t, std::ptrdiff_t, const std::int32_t*,
                       std::int64_t, std::int32_t*, float*, int, Watch&);
template void smallest(const double*, std::int64_t, std::int64_t, std::ptrdiff_t, const std::int32_t*,
                       std::int64_t, std::int32_t*, double*, int, Watch&);

} // namespace lowdim
