// How far neighbours are supported by common neighbours.
#pragma once

#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// counts (n × c): how many of the `first` nearest rows of i are also among the `first` nearest of its
// neighbour indices[i × c + e], 255 at most.
void count_shared(const std::int32_t* indices, std::int64_t n, std::int64_t c, std::int64_t first,
                  std::uint8_t* counts, int n_threads, Watch& watch);

} // namespace lowdim
