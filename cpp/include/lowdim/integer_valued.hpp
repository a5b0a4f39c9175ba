// Floats that are whole numbers in disguise: pixels, counts, grades.
#pragma once

#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// out (count) = the whole numbers from 0 to 255 whose quotients by `divisor`, rounded once, are the values.
// False, with out unspecified, where a value is none of these; NaN and infinity are not.
template <class T> bool to_integers(const T* values, std::int64_t count, T divisor, std::uint8_t* out);

// The same on several threads.
template <class T>
bool to_integers(const T* values, std::int64_t count, T divisor, std::uint8_t* out, int n_threads,
                 Watch& watch);

} // namespace lowdim
