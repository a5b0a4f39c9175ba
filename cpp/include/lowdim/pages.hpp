// First access to large arrays.
#pragma once

#include <lowdim/watch.hpp>

#include <cstddef>

namespace lowdim {

// Writes to every page of memory that holds nothing yet. Of several threads that are the first to write to a
// huge page at once, each clears one, and all but one of those are dropped: here each page is one thread's.
void touch_pages(void* data, std::size_t bytes, int n_threads, Watch& watch);

} // namespace lowdim
