// Sums over pairs of distances and their counterparts in an embedding. Each row is summed by itself, in a
// fixed order, so that the bits do not depend on the number of threads.
#include <lowdim/geodesics.hpp>
#include <lowdim/isa.hpp>

#include <algorithm>
#include <cmath>

#include <omp.h>

namespace lowdim {
namespace {

constexpr std::int64_t chunk = 256; // columns at a time, small enough for the first cache
constexpr int lanes = 16;           // sums that run side by side

// Σx, Σx² and Σxy of a chunk, added to three totals.
[[gnu::always_inline]] inline void add(const float* x, const float* y, std::int64_t n, double* totals) {
    double sum[lanes] = {}, square[lanes] = {}, both[lanes] = {};
    for (std::int64_t j = 0; j + lanes <= n; j += lanes)
        for (int l = 0; l < lanes; ++l) {
            const double a = x[j + l], b = y[j + l];
            sum[l] += a;
            square[l] += a * a;
            both[l] += a * b;
        }
    for (std::int64_t j = n - n % lanes; j < n; ++j) {
        const double a = x[j], b = y[j];
        sum[0] += a;
        square[0] += a * a;
        both[0] += a * b;
    }
    for (int l = 0; l < lanes; ++l) {
        totals[0] += sum[l];
        totals[1] += square[l];
        totals[2] += both[l];
    }
}

[[gnu::always_inline]] inline void sum_row(const float* D, std::int64_t place, const float* Y, std::int64_t n,
                                           std::int64_t k, bool squared, bool beyond, double* out) {
    float d[chunk], e2[chunk], e[chunk];
    std::fill_n(out, 2 + 3 * k, 0.0);
    for (std::int64_t start = beyond ? place + 1 : 0; start < n; start += chunk) {
        const std::int64_t m = std::min(chunk, n - start);
        for (std::int64_t j = 0; j < m; ++j) {
            d[j] = squared ? std::sqrt(D[start + j]) : D[start + j];
            e2[j] = 0;
        }
        double own[3] = {};
        add(d, d, m, own);
        out[0] += own[0];
        out[1] += own[1];
        for (std::int64_t c = 0; c < k; ++c) {
            const float* y = Y + c * n;
            const float at = y[place];
            for (std::int64_t j = 0; j < m; ++j) {
                const float step = y[start + j] - at;
                e2[j] += step * step;
                e[j] = std::sqrt(e2[j]);
            }
            add(e, d, m, out + 2 + 3 * c);
        }
    }
}

using Sum = void (*)(const float*, std::int64_t, const float*, std::int64_t, std::int64_t, bool, bool,
                     double*);

void sum_generic(const float* D, std::int64_t place, const float* Y, std::int64_t n, std::int64_t k,
                 bool squared, bool beyond, double* out) {
    sum_row(D, place, Y, n, k, squared, beyond, out);
}

#if LOWDIM_X86
[[gnu::target("avx2,fma")]] void sum_avx2(const float* D, std::int64_t place, const float* Y, std::int64_t n,
                                          std::int64_t k, bool squared, bool beyond, double* out) {
    sum_row(D, place, Y, n, k, squared, beyond, out);
}

[[gnu::target("avx512f,avx512vl,avx512dq,avx2,fma")]] void sum_avx512(const float* D, std::int64_t place,
                                                                      const float* Y, std::int64_t n,
                                                                      std::int64_t k, bool squared,
                                                                      bool beyond, double* out) {
    sum_row(D, place, Y, n, k, squared, beyond, out);
}
#endif

Sum best() {
#if LOWDIM_X86
    const Isa have = isa();
    if (have >= Isa::avx512)
        return sum_avx512;
    if (have >= Isa::avx2)
        return sum_avx2;
#endif
    return sum_generic;
}

} // namespace

void distance_sums(const float* D, const std::int32_t* places, std::int64_t rows, const float* Y,
                   std::int64_t n, std::int64_t k, bool squared, bool beyond, double* out, int n_threads,
                   Watch& watch) {
    const Sum sum = best();
#pragma omp parallel for schedule(dynamic, 16) num_threads(n_threads)
    for (std::int64_t i = 0; i < rows; ++i) {
        if (omp_get_thread_num() == 0)
            watch.poll();
        if (watch.stopped())
            continue;
        sum(D + i * n, places[i], Y, n, k, squared, beyond, out + i * (2 + 3 * k));
        watch.advance(1);
    }
}

} // namespace lowdim
