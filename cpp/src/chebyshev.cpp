// Threads own rows and meet twice a step; rows are summed by themselves, so that the bits do not depend on
// them.
#include "instructions.hpp"

#include <lowdim/chebyshev.hpp>

#include <algorithm>
#include <utility>

#include <omp.h>

namespace lowdim {
namespace {

constexpr std::int64_t width = chebyshev_width;
constexpr double thread_work = 1 << 18; // products of a step below which threads wait more than they work

#define LOWDIM_KERNEL "chebyshev.inl"
#include "each_isa.inl"

} // namespace

void chebyshev(const Csr& B, const Csr& Bt, double* V, double* next, double* work, double low, double high,
               std::int64_t degree, int n_threads, Watch& watch) {
    const auto multiply = LOWDIM_PICK(multiply);
    const auto advance = LOWDIM_PICK(advance);
    const double centre = (high + low) / 2, half = (high - low) / 2;
    const std::int64_t n = B.rows;
    const double work_of_step = 2.0 * static_cast<double>(width) * B.starts[n];
    const int team_size =
        std::clamp(n_threads, 1, static_cast<int>(std::min(work_of_step / thread_work, 1023.0)) + 1);
    bool stop = false;
    const double* result = V;
#pragma omp parallel num_threads(team_size)
    {
        const std::int64_t thread = omp_get_thread_num(), team = omp_get_num_threads();
        const std::int64_t first = n * thread / team, last = n * (thread + 1) / team;
        double *now = V, *then = next; // T_{d − 1} and T_d; every thread swaps its own
        for (std::int64_t d = 0; d < degree; ++d) {
            multiply(B, d == 0 ? now : then, work, first, last);
#pragma omp barrier
            if (d == 0) {
                advance(Bt, work, now, 1 / half, centre, nullptr, then, first, last);
            } else {
                advance(Bt, work, then, 2 / half, centre, now, now, first, last);
                std::swap(now, then);
            }
            if (thread == 0) {
                result = then;
                watch.advance(1);
                watch.poll();
                stop = watch.stopped();
            }
#pragma omp barrier
            if (stop) // written between the two barriers alone, so that all threads read the same
                break;
        }
    }
    if (result != V)
        std::copy_n(result, n * width, V);
}

} // namespace lowdim
