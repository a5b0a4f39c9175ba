// Starts of a map: eigenvectors of its graph.
#include "engine.hpp"

#include <lowdim/smoothest.hpp>

#include <algorithm>

namespace lowdim::wasm {

bool spectral_start(const SparseRows& graph, float* Y, int n_threads, Watch& watch) {
    constexpr std::int64_t k = 2, fewest = 16;
    const auto n = static_cast<std::int64_t>(graph.starts.size()) - 1;
    if (n <= fewest)
        return false;
    const Smoothest found =
        smoothest(graph.starts.data(), graph.columns.get(), graph.values.get(), n, k, n_threads, watch);
    if (found.values.size() > k) // several components
        return false;
    const double second =
        std::max(found.values[0] / std::max(found.values[1], 1e-300), 0.25); // see compose/layout.py
    for (std::int64_t i = 0; i < n; ++i) {
        Y[k * i] = static_cast<float>(found.positions[static_cast<std::size_t>(k * i)]);
        Y[k * i + 1] = static_cast<float>(second * found.positions[static_cast<std::size_t>(k * i + 1)]);
    }
    return true;
}

} // namespace lowdim::wasm
