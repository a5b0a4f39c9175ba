// Each matrix is solved by one thread; threads take chunks of them.
#include "chunks.hpp"
#include "instructions.hpp"

#include <lowdim/spectra.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace lowdim {
namespace {

constexpr std::int64_t chunk = 32; // matrices of a task
constexpr int sweeps = 60;         // over all pairs; ten are enough in practice

#define LOWDIM_KERNEL "spectra.inl"
#include "each_isa.inl"

struct Workspace {
    explicit Workspace(std::int64_t k)
        : turned(static_cast<std::size_t>(k * k)), order(static_cast<std::size_t>(k)) {}
    std::vector<double> turned;
    std::vector<std::int64_t> order;
};

} // namespace

void spectra(double* A, std::int64_t count, std::int64_t k, double* values, double* vectors, int n_threads,
             Watch& watch) {
    const auto solve = LOWDIM_PICK(diagonalise);
    detail::Workspaces<Workspace> workspaces(n_threads);
    detail::each_chunk(
        count, chunk, n_threads, watch, [&](std::int64_t, std::int64_t first, std::int64_t last, int place) {
            Workspace& workspace = workspaces.at(place, k);
            for (std::int64_t i = first; i < last; ++i) {
                double* own = A + i * k * k;
                solve(own, k, workspace.turned.data());
                std::iota(workspace.order.begin(), workspace.order.end(), std::int64_t{0});
                std::stable_sort(
                    workspace.order.begin(), workspace.order.end(),
                    [&](std::int64_t a, std::int64_t b) { return own[a * k + a] > own[b * k + b]; });
                for (std::int64_t j = 0; j < k; ++j) {
                    const std::int64_t from = workspace.order[static_cast<std::size_t>(j)];
                    values[i * k + j] = own[from * k + from];
                    std::copy_n(workspace.turned.data() + from * k, k, vectors + (i * k + j) * k);
                }
            }
            watch.advance(last - first);
        });
}

} // namespace lowdim
