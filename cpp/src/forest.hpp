// Trees that put near rows into one leaf.
#pragma once

#include "byte_products.hpp"

#include <lowdim/watch.hpp>

#include <cstdint>
#include <vector>

namespace lowdim::detail {

// The rows of leaf l are order[starts[l]] … order[starts[l + 1] − 1].
struct Leaves {
    std::vector<std::int32_t> order;
    std::vector<std::int64_t> starts;
    std::int64_t count() const { return static_cast<std::int64_t>(starts.size()) - 1; }
};

// A tree whose nodes send each row to the nearest of some points drawn from them, until a leaf has at most
// `leaf` points. `order` has the rows, of which the first `points` are points and the others are queries. The
// bits depend on the seed and on nothing else.
Leaves grow(const ByteRows& rows, std::vector<std::int32_t> order, std::int64_t points, std::int64_t leaf,
            std::uint64_t seed, int n_threads, Watch& watch);

} // namespace lowdim::detail
