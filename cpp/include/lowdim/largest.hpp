// Magnitude of values, so that NaN and infinity never enter a kernel that would use them as indices.
#pragma once

#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// The largest |x| of n values; NaN or infinity where one of them is.
template <class T> T largest(const T* x, std::int64_t n, int n_threads, Watch& watch);

} // namespace lowdim
