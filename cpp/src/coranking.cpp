// Whole rows are sorted in both spaces. A sample is among the K nearest of both from the larger of its two
// ranks on. Sums are of integers, so that the order of threads does not matter.
#include <lowdim/coranking.hpp>

#include "chunks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace lowdim {
namespace {

// A distance, 0 or more, as an integer of the same order, and its column.
struct Placed {
    std::uint64_t distance;
    std::int32_t column;
};

// order: the entries of a row by (distance, column), sorted by digits from the last to the first, each pass
// stable.
void sort(const double* row, std::vector<Placed>& order, std::vector<Placed>& spare) {
    constexpr int bits = 11, digits = 6, values = 1 << bits;
    const std::size_t n = order.size();
    std::vector<std::int32_t> starts(static_cast<std::size_t>(digits * values), 0);
    for (std::size_t j = 0; j < n; ++j) {
        const double distance = row[j] + 0.0; // −0 becomes 0
        std::memcpy(&order[j].distance, &distance, sizeof distance);
        order[j].column = static_cast<std::int32_t>(j);
        for (int digit = 0; digit < digits; ++digit)
            ++starts[static_cast<std::size_t>(digit * values) +
                     (order[j].distance >> (digit * bits)) % values];
    }
    for (int digit = 0; digit < digits; ++digit) {
        std::int32_t* start = starts.data() + digit * values;
        std::int32_t before = 0;
        for (int value = 0; value < values; ++value)
            before += std::exchange(start[value], before);
        for (const Placed& entry : order)
            spare[static_cast<std::size_t>(start[(entry.distance >> (digit * bits)) % values]++)] = entry;
        order.swap(spare);
    }
}

} // namespace

void common_neighbors(const RowMajor<const double>& A, const RowMajor<const double>& B, const double* weights,
                      std::int64_t* total, std::int64_t* squares, double* scores, int n_threads,
                      Watch& watch) {
    const std::int64_t n = A.cols;
    const auto size = static_cast<std::size_t>(n);
    struct Lists {
        std::vector<Placed> order, spare;
        std::vector<std::int32_t> place, reached;
        std::vector<std::int64_t> total, squares;
        explicit Lists(std::size_t size)
            : order(size), spare(size), place(size), reached(size), total(size), squares(size) {}
    };
    detail::Workspaces<Lists> workspaces(n_threads);
    detail::share(A.rows, A.rows, n_threads, watch, [&](std::int64_t i, int place) {
        Lists& workspace = workspaces.at(place, size);
        sort(A.data + i * A.stride, workspace.order, workspace.spare);
        for (std::size_t r = 0; r < size; ++r)
            workspace.place[static_cast<std::size_t>(workspace.order[r].column)] =
                static_cast<std::int32_t>(r);
        sort(B.data + i * B.stride, workspace.order, workspace.spare);
        std::fill(workspace.reached.begin(), workspace.reached.end(), 0);
        for (std::size_t r = 0; r < size; ++r) {
            const auto there = workspace.place[static_cast<std::size_t>(workspace.order[r].column)];
            ++workspace.reached[static_cast<std::size_t>(std::max(there, static_cast<std::int32_t>(r)))];
        }
        std::int64_t common = 0;
        double score = 0;
        for (std::int64_t K = 0; K + 2 < n; ++K) {
            const auto at = static_cast<std::size_t>(K);
            common += workspace.reached[at];
            workspace.total[at] += common;
            workspace.squares[at] += common * common;
            score += weights[K] * static_cast<double>(common);
        }
        scores[i] = score;
    });
    workspaces.each([&](const Lists& workspace) {
        for (std::int64_t K = 0; K + 2 < n; ++K) {
            total[K] += workspace.total[static_cast<std::size_t>(K)];
            squares[K] += workspace.squares[static_cast<std::size_t>(K)];
        }
    });
}

} // namespace lowdim
