#include <lowdim/csr.hpp>
#include <lowdim/isa.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>

#include <omp.h>

namespace lowdim {

namespace {

constexpr std::int64_t strip = 16;           // columns of V summed at a time, in registers
constexpr std::int64_t rows_at_a_time = 256; // of a task
constexpr double thread_work = 1 << 18; // products below which waking another thread costs more than it saves

// Inlined into one function per instruction set, where the compiler vectorises it for that set.
[[gnu::always_inline]] inline void multiply_rows(const Csr& A, const double* V, std::int64_t width,
                                                 std::int64_t first, std::int64_t last, double* out) {
    for (std::int64_t i = first; i < last; ++i)
        for (std::int64_t j = 0; j < width; j += strip) {
            double* __restrict target = out + i * width + j;
            const std::int64_t n = std::min(strip, width - j);
            if (n == strip) {
                double sum[strip] = {};
                for (std::int32_t place = A.starts[i]; place < A.starts[i + 1]; ++place) {
                    const double* __restrict row = V + A.columns[place] * width + j;
                    for (std::int64_t c = 0; c < strip; ++c)
                        sum[c] += A.values[place] * row[c];
                }
                std::copy_n(sum, strip, target);
            } else {
                std::fill_n(target, n, 0.0);
                for (std::int32_t place = A.starts[i]; place < A.starts[i + 1]; ++place) {
                    const double* __restrict row = V + A.columns[place] * width + j;
                    for (std::int64_t c = 0; c < n; ++c)
                        target[c] += A.values[place] * row[c];
                }
            }
        }
}

using Multiply = void (*)(const Csr&, const double*, std::int64_t, std::int64_t, std::int64_t, double*);

void multiply_generic(const Csr& A, const double* V, std::int64_t width, std::int64_t first,
                      std::int64_t last, double* out) {
    multiply_rows(A, V, width, first, last, out);
}

#if LOWDIM_X86
[[gnu::target("avx2,fma")]] void multiply_avx2(const Csr& A, const double* V, std::int64_t width,
                                               std::int64_t first, std::int64_t last, double* out) {
    multiply_rows(A, V, width, first, last, out);
}

[[gnu::target("avx512f,avx512vl,avx512dq,avx2,fma")]] void multiply_avx512(const Csr& A, const double* V,
                                                                           std::int64_t width,
                                                                           std::int64_t first,
                                                                           std::int64_t last, double* out) {
    multiply_rows(A, V, width, first, last, out);
}
#endif

Multiply best() {
#if LOWDIM_X86
    const Isa have = isa();
    if (have >= Isa::avx512)
        return multiply_avx512;
    if (have >= Isa::avx2)
        return multiply_avx2;
#endif
    return multiply_generic;
}

} // namespace

void check(const Csr& A, std::int64_t stored) {
    bool rising = A.starts[0] == 0 && A.starts[A.rows] == stored;
    for (std::int64_t i = 0; i < A.rows; ++i)
        rising &= A.starts[i] <= A.starts[i + 1];
    if (!rising)
        throw std::invalid_argument("csr: starts must rise from 0 to the number of stored values (" +
                                    std::to_string(stored) + "); they do not. Rebuild the matrix.");
    for (std::int64_t place = 0; place < stored; ++place)
        if (A.columns[place] < 0 || A.columns[place] >= A.cols)
            throw std::invalid_argument("csr: columns must be from 0 to " + std::to_string(A.cols - 1) +
                                        "; got " + std::to_string(A.columns[place]) +
                                        ". Rebuild the matrix.");
}

void product(const Csr& A, const double* V, std::int64_t width, double* out, int n_threads, Watch& watch) {
    const double work = static_cast<double>(A.starts[A.rows]) * static_cast<double>(width);
    const int team = std::clamp(n_threads, 1, static_cast<int>(std::min(work / thread_work, 1023.0)) + 1);
    const Multiply multiply = best();
    const std::int64_t tasks = (A.rows + rows_at_a_time - 1) / rows_at_a_time;
#pragma omp parallel for schedule(dynamic, 1) num_threads(team)
    for (std::int64_t task = 0; task < tasks; ++task) {
        if (omp_get_thread_num() == 0)
            watch.poll();
        if (watch.stopped())
            continue;
        const std::int64_t first = task * rows_at_a_time, last = std::min(first + rows_at_a_time, A.rows);
        multiply(A, V, width, first, last, out);
        watch.advance(last - first);
    }
}

} // namespace lowdim
