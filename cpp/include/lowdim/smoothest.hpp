// The smoothest coordinates of the connected components of a graph, as an initial layout needs them.
#pragma once

#include <lowdim/watch.hpp>

#include <cstdint>
#include <vector>

namespace lowdim {

// For each connected component of a symmetric graph of n rows (those of equal numbers in `part`, from 0 by
// their first rows) the k smoothest coordinates but the constant one: D^−½ u for the lowest eigenvectors u of
// I − D^−½ V D^−½, of weighted mean 0 and weighted mean square 1, in positions (n × k); their eigenvalues in
// values (components × k). Coordinates that a component has too few rows for are 0. Small components are
// solved exactly; large ones after the graph of groups of their rows, which is solved likewise, by
// polynomials of fixed degrees: not to a residual, but so far that a descent that begins there ends as low.
// The bits do not depend on n_threads.
struct Smoothest {
    std::vector<std::int32_t> part;
    std::vector<double> positions, values;
};
Smoothest smoothest(const std::int64_t* starts, const std::int32_t* columns, const float* values,
                    std::int64_t n, std::int64_t k, int n_threads, Watch& watch);

} // namespace lowdim
