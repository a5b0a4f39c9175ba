// exp, log and powers by SLEEF or by glibc's libmvec, whose functions take a register.
#include "functions.hpp"

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))

#ifdef WITH_SLEEF
#define SYSTEM "SLEEF"
#define EXPF8 Sleef_expf8_u10avx2
#define EXPF16 Sleef_expf16_u10avx512f
#define EXPD4 Sleef_expd4_u10avx2
#define EXPD8 Sleef_expd8_u10avx512f
#define LOGF8 Sleef_logf8_u10avx2
#define LOGF16 Sleef_logf16_u10avx512f
#define POWF8 Sleef_powf8_u10avx2
#define POWF16 Sleef_powf16_u10avx512f
#else
#define SYSTEM "libmvec"
#define EXPF8 _ZGVdN8v_expf
#define EXPF16 _ZGVeN16v_expf
#define EXPD4 _ZGVdN4v_exp
#define EXPD8 _ZGVeN8v_exp
#define LOGF8 _ZGVdN8v_logf
#define LOGF16 _ZGVeN16v_logf
#define POWF8 _ZGVdN8vv_powf
#define POWF16 _ZGVeN16vv_powf
#endif

extern "C" { // headers declare them for the instruction set of the whole file alone
AVX2 __m256 EXPF8(__m256);
AVX512 __m512 EXPF16(__m512);
AVX2 __m256d EXPD4(__m256d);
AVX512 __m512d EXPD8(__m512d);
AVX2 __m256 LOGF8(__m256);
AVX512 __m512 LOGF16(__m512);
AVX2 __m256 POWF8(__m256, __m256);
AVX512 __m512 POWF16(__m512, __m512);
}

namespace {

#define LOOP(name, target, T, step, load, store, call)                                                       \
    target void name(const T* in, T* out, std::int64_t n) {                                                  \
        for (std::int64_t j = 0; j < n; j += step) {                                                         \
            const auto x = load(in + j);                                                                     \
            store(out + j, call);                                                                            \
        }                                                                                                    \
    }

constexpr float by = static_cast<float>(bench::exponent);
LOOP(exps8, AVX2, float, 8, _mm256_loadu_ps, _mm256_storeu_ps, EXPF8(x))
LOOP(exps16, AVX512, float, 16, _mm512_loadu_ps, _mm512_storeu_ps, EXPF16(x))
LOOP(exps4, AVX2, double, 4, _mm256_loadu_pd, _mm256_storeu_pd, EXPD4(x))
LOOP(wide_exps8, AVX512, double, 8, _mm512_loadu_pd, _mm512_storeu_pd, EXPD8(x))
LOOP(logs8, AVX2, float, 8, _mm256_loadu_ps, _mm256_storeu_ps, LOGF8(x))
LOOP(logs16, AVX512, float, 16, _mm512_loadu_ps, _mm512_storeu_ps, LOGF16(x))
LOOP(powers8, AVX2, float, 8, _mm256_loadu_ps, _mm256_storeu_ps, POWF8(x, _mm256_set1_ps(by)))
LOOP(powers16, AVX512, float, 16, _mm512_loadu_ps, _mm512_storeu_ps, POWF16(x, _mm512_set1_ps(by)))

} // namespace

int main() {
    if (__builtin_cpu_supports("avx2")) {
        bench::measure(bench::exps<float>, SYSTEM ", avx2", exps8);
        bench::measure(bench::exps<double>, SYSTEM ", avx2", exps4);
        bench::measure(bench::logs, SYSTEM ", avx2", logs8);
        bench::measure(bench::powers, SYSTEM ", avx2", powers8);
    }
    if (__builtin_cpu_supports("avx512f")) {
        bench::measure(bench::exps<float>, SYSTEM ", avx512", exps16);
        bench::measure(bench::exps<double>, SYSTEM ", avx512", wide_exps8);
        bench::measure(bench::logs, SYSTEM ", avx512", logs16);
        bench::measure(bench::powers, SYSTEM ", avx512", powers16);
    }
}
