// The loops of kernels, as tests see them.
#pragma once

#include <lowdim/watch.hpp>

#include <cstdint>
#include <vector>

namespace lowdim {

// Runs phases of so many pieces in turn, as kernels do, and returns for each piece, phase by phase, how many
// pieces had ended when it began, −1 for one that did not run. The piece numbered `failing` throws; a piece
// that runs twice, or at a place that no thread has, is an error.
std::vector<std::int64_t> run_phases(const std::vector<std::int64_t>& sizes, std::int64_t failing,
                                     int n_threads, Watch& watch);

} // namespace lowdim
