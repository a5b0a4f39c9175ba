// Rows are summed separately, so that the bits do not depend on the number of threads.
#include "chunks.hpp"
#include "instructions.hpp"

#include <lowdim/chebyshev.hpp>

#include <algorithm>
#include <utility>

namespace lowdim {
namespace {

constexpr std::int64_t width = chebyshev_width;
constexpr std::int64_t pieces = 4, few = 2; // per thread: a slow thread leaves some to the others
constexpr int many = 4;                     // threads, above which there are few pieces for each
constexpr double thread_work = 1 << 16;     // products of a step below which threads wait more than they work

#define LOWDIM_KERNEL "chebyshev.inl"
#include "each_isa.inl"

} // namespace

template <class T>
void chebyshev(const CsrOf<T>* B, const CsrOf<T>& A, T* V, T* next, T* work, double low, double high,
               std::int64_t degree, int n_threads, Watch& watch) {
    const auto multiply = LOWDIM_PICK(multiply<T>);
    const auto advance = LOWDIM_PICK(advance<T>);
    const double centre = (high + low) / 2, half = (high - low) / 2;
    const std::int64_t n = A.rows;
    const double work_of_step = (B ? 2.0 : 1.0) * static_cast<double>(width) * A.starts[n];
    const int team_size =
        std::clamp(n_threads, 1, static_cast<int>(std::min(work_of_step / thread_work, 1023.0)) + 1);
    const std::int64_t count = std::min(n, (team_size > many ? few : pieces) * team_size);
    const int halves = B ? 2 : 1; // of a step
    T* const bases[] = {V, next};
    detail::each_round(halves * degree, count, team_size, watch, [&](std::int64_t round, std::int64_t piece) {
        const std::int64_t d = round / halves, from = n * piece / count, to = n * (piece + 1) / count;
        T* const out = bases[(d + 1) % 2]; // T_{d + 1}, in place of T_{d − 1}
        const T* const at = bases[d % 2];  // T_d
        if (B && round % 2 == 0) {
            multiply(*B, at, work, from, to);
            return;
        }
        advance(A, B ? work : at, at, static_cast<T>((d == 0 ? 1 : 2) / half), static_cast<T>(centre),
                d == 0 ? nullptr : out, out, from, to);
        if (piece == 0)
            watch.advance(1);
    });
    if (degree % 2 == 1 && !watch.stopped())
        std::copy_n(next, n * width, V);
}

template void chebyshev(const CsrOf<double>*, const CsrOf<double>&, double*, double*, double*, double, double,
                        std::int64_t, int, Watch&);
template void chebyshev(const CsrOf<float>*, const CsrOf<float>&, float*, float*, float*, double, double,
                        std::int64_t, int, Watch&);

} // namespace lowdim
