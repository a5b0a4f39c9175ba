// Rows are summed separately, so that the bits do not depend on the number of threads.
#include "chunks.hpp"
#include "instructions.hpp"

#include <lowdim/chebyshev.hpp>

#include <algorithm>
#include <utility>

namespace lowdim {
namespace {

constexpr std::int64_t width = chebyshev_width;
constexpr std::int64_t pieces = 4;      // per thread: a slow thread leaves some to the others
constexpr double thread_work = 1 << 18; // products of a step below which threads wait more than they work

#define LOWDIM_KERNEL "chebyshev.inl"
#include "each_isa.inl"

} // namespace

void chebyshev(const Csr* B, const Csr& A, double* V, double* next, double* work, double low, double high,
               std::int64_t degree, int n_threads, Watch& watch) {
    const auto multiply = LOWDIM_PICK(multiply);
    const auto advance = LOWDIM_PICK(advance);
    const double centre = (high + low) / 2, half = (high - low) / 2;
    const std::int64_t n = A.rows;
    const double work_of_step = (B ? 2.0 : 1.0) * static_cast<double>(width) * A.starts[n];
    const int team_size =
        std::clamp(n_threads, 1, static_cast<int>(std::min(work_of_step / thread_work, 1023.0)) + 1);
    const std::int64_t rows = std::max<std::int64_t>(1, (n + pieces * team_size - 1) / (pieces * team_size));
    double *now = V, *then = next; // T_{d − 1} and T_d
    for (std::int64_t d = 0; d < degree && !watch.stopped(); ++d) {
        const double* at = d == 0 ? now : then;
        if (B)
            detail::each_chunk(
                n, rows, team_size, watch,
                [&](std::int64_t, std::int64_t from, std::int64_t to) { multiply(*B, at, work, from, to); });
        const double* inner = B ? work : at;
        detail::each_chunk(n, rows, team_size, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
            if (d == 0)
                advance(A, inner, at, 1 / half, centre, nullptr, then, from, to);
            else
                advance(A, inner, at, 2 / half, centre, now, now, from, to);
        });
        if (d > 0)
            std::swap(now, then);
        watch.advance(1);
    }
    if (degree > 0 && then != V)
        std::copy_n(then, n * width, V);
}

} // namespace lowdim
