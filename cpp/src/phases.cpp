#include <lowdim/phases.hpp>

#include "chunks.hpp"

#include <atomic>
#include <numeric>
#include <stdexcept>

namespace lowdim {

std::vector<std::int64_t> run_phases(const std::vector<std::int64_t>& sizes, std::int64_t failing,
                                     int n_threads, Watch& watch) {
    std::vector<std::int64_t> firsts(sizes.size() + 1, 0);
    std::partial_sum(sizes.begin(), sizes.end(), firsts.begin() + 1);
    std::vector<std::int64_t> before(static_cast<std::size_t>(firsts.back()), -1);
    std::atomic<std::int64_t> ended{0};
    detail::each_in_order(
        static_cast<std::int64_t>(sizes.size()), n_threads, watch,
        [&](std::int64_t phase) { return sizes[static_cast<std::size_t>(phase)]; },
        [&](std::int64_t phase, std::int64_t i, int place) {
            const std::int64_t piece = firsts[static_cast<std::size_t>(phase)] + i;
            if (before[static_cast<std::size_t>(piece)] >= 0 || place < 0 || place >= n_threads)
                throw std::logic_error("phases: a piece ran twice, or at a place that no thread has.");
            before[static_cast<std::size_t>(piece)] = ended.load();
            if (piece == failing)
                throw std::runtime_error("phases: the piece that was to fail.");
            ++ended;
        });
    return before;
}

} // namespace lowdim
