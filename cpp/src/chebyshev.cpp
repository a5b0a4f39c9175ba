#include <lowdim/chebyshev.hpp>
#include <lowdim/isa.hpp>

#include <algorithm>
#include <utility>

#include <omp.h>

namespace lowdim {
namespace {

constexpr std::int64_t width = chebyshev_width;
constexpr double thread_work = 1 << 18; // products of a step below which threads wait more than they work

// Row i of A V.
[[gnu::always_inline]] inline void row_product(const Csr& A, std::int64_t i, const double* V, double* sum) {
    for (std::int64_t c = 0; c < width; ++c)
        sum[c] = 0;
    for (std::int32_t place = A.starts[i]; place < A.starts[i + 1]; ++place) {
        const double value = A.values[place];
        const double* row = V + std::int64_t{A.columns[place]} * width;
        for (std::int64_t c = 0; c < width; ++c)
            sum[c] += value * row[c];
    }
}

// Rows from first to last of out = A V.
[[gnu::always_inline]] inline void multiply(const Csr& A, const double* V, double* out, std::int64_t first,
                                            std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
        double sum[width];
        row_product(A, i, V, sum);
        std::copy_n(sum, width, out + i * width);
    }
}

// Rows from first to last of one step: out = scale (A W − centre V) − before, where before may be out itself.
[[gnu::always_inline]] inline void advance(const Csr& A, const double* W, const double* V, double scale,
                                           double centre, const double* before, double* out,
                                           std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
        double sum[width];
        row_product(A, i, W, sum);
        const double* at = V + i * width;
        for (std::int64_t c = 0; c < width; ++c)
            sum[c] = scale * (sum[c] - centre * at[c]);
        if (before)
            for (std::int64_t c = 0; c < width; ++c)
                sum[c] -= before[i * width + c];
        std::copy_n(sum, width, out + i * width);
    }
}

struct Steps {
    void (*multiply)(const Csr&, const double*, double*, std::int64_t, std::int64_t);
    void (*advance)(const Csr&, const double*, const double*, double, double, const double*, double*,
                    std::int64_t, std::int64_t);
};

#define LOWDIM_STEPS(name, attribute)                                                                        \
    attribute void multiply_##name(const Csr& A, const double* V, double* out, std::int64_t first,           \
                                   std::int64_t last) {                                                      \
        multiply(A, V, out, first, last);                                                                    \
    }                                                                                                        \
    attribute void advance_##name(const Csr& A, const double* W, const double* V, double scale,              \
                                  double centre, const double* before, double* out, std::int64_t first,      \
                                  std::int64_t last) {                                                       \
        advance(A, W, V, scale, centre, before, out, first, last);                                           \
    }

LOWDIM_STEPS(generic, )
#if LOWDIM_X86
LOWDIM_STEPS(avx2, [[gnu::target("avx2,fma")]])
LOWDIM_STEPS(avx512, [[gnu::target("avx512f,avx512vl,avx512dq,avx2,fma")]])
#endif
#undef LOWDIM_STEPS

Steps best() {
#if LOWDIM_X86
    const Isa have = isa();
    if (have >= Isa::avx512)
        return {multiply_avx512, advance_avx512};
    if (have >= Isa::avx2)
        return {multiply_avx2, advance_avx2};
#endif
    return {multiply_generic, advance_generic};
}

} // namespace

void chebyshev(const Csr& B, const Csr& Bt, double* V, double* next, double* work, double low, double high,
               std::int64_t degree, int n_threads, Watch& watch) {
    const Steps steps = best();
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
            steps.multiply(B, d == 0 ? now : then, work, first, last);
#pragma omp barrier
            if (d == 0) {
                steps.advance(Bt, work, now, 1 / half, centre, nullptr, then, first, last);
            } else {
                steps.advance(Bt, work, then, 2 / half, centre, now, now, first, last);
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
