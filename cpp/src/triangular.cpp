// A few columns at a time lie row by row, so that an entry of a factor meets one vector: its place and value
// are read once for all of them.
#include "aligned.hpp"
#include "chunks.hpp"
#include "instructions.hpp"

#include <lowdim/triangular.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace lowdim {
namespace {

constexpr int lanes = 4; // columns at a time, by one thread

#define LOWDIM_KERNEL "triangular.inl"
#include "each_isa.inl"

} // namespace

void check_permutation(const std::int32_t* places, std::int64_t n) {
    std::vector<bool> seen(static_cast<std::size_t>(n), false);
    for (std::int64_t i = 0; i < n; ++i) {
        if (places[i] < 0 || places[i] >= n || seen[static_cast<std::size_t>(places[i])])
            throw std::invalid_argument("solve: rows and columns must be permutations of 0 to " +
                                        std::to_string(n - 1) + "; got " + std::to_string(places[i]) +
                                        " at " + std::to_string(i) + ". Pass those of the factors.");
        seen[static_cast<std::size_t>(places[i])] = true;
    }
}

void solve(const Factors& A, const double* B, std::int64_t width, bool transposed, double* out, int n_threads,
           Watch& watch) {
    const auto by_columns = LOWDIM_PICK(by_columns), by_rows = LOWDIM_PICK(by_rows);
    const std::int64_t n = A.lower.rows;
    const std::int32_t *in = transposed ? A.columns : A.rows, *back = transposed ? A.rows : A.columns;
    detail::Workspaces<detail::Aligned<double>> workspaces(n_threads);
    detail::each_chunk(width, lanes, n_threads, watch,
                       [&](std::int64_t, std::int64_t from, std::int64_t to, int place) {
                           double* Y = workspaces.at(place, n * lanes).data();
                           std::fill_n(Y, n * lanes, 0.0);
                           for (std::int64_t i = 0; i < n; ++i)
                               std::copy_n(B + i * width + from, to - from, Y + in[i] * lanes);
                           if (transposed) {
                               by_rows(A.upper, A.diagonal, true, Y);
                               by_rows(A.lower, nullptr, false, Y);
                           } else {
                               by_columns(A.lower, nullptr, true, Y);
                               by_columns(A.upper, A.diagonal, false, Y);
                           }
                           for (std::int64_t i = 0; i < n; ++i)
                               std::copy_n(Y + back[i] * lanes, to - from, out + i * width + from);
                       });
}

} // namespace lowdim
