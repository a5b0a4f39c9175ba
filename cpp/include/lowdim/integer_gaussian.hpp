// The Gaussian kernel between rows of whole numbers, whose distances are exact.
#pragma once

#include <lowdim/pairs.hpp>
#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// Features up to which squared distances of bytes fit in 32 bits.
constexpr std::int64_t most_integer_features = 32768;

// Whether the processor multiplies bytes fast enough that this beats products of floats.
bool multiplies_bytes();

// K (m × n) = exp(−gamma ‖a_i − b_j‖²) for rows of A (m × d) and B (n × d), with the exponential of
// `gaussian`. Every value is computed by itself, so that the bits do not depend on n_threads. Only where
// multiplies_bytes() and d ≤ most_integer_features.
template <class T>
void integer_gaussian(const RowMajor<const std::uint8_t>& A, const RowMajor<const std::uint8_t>& B, T gamma,
                      const RowMajor<T>& K, int n_threads, Watch& watch);

} // namespace lowdim
