// exp, log and powers by lowdim.
#include "functions.hpp"

#include "cross_entropy_forces.hpp"
#include "exp.hpp"
#include "instructions.hpp"
#include "powers.hpp"

#include <lowdim/attraction.hpp>

#include <immintrin.h>

using namespace lowdim;
using namespace lowdim::detail;

namespace {

#define LOWDIM_KERNEL "functions_lowdim.inl"
#include "each_isa.inl"

// x = −gamma max(0, a + b − 2 row) for row = x, a = b = 0 and gamma = ½.
template <class T, class Kernel> void measure_exp(const std::string& system, const Kernel& kernel) {
    static const T zeros[bench::length] = {};
    bench::measure(bench::exps<T>, system, [&](const T* in, T* out, std::int64_t n) {
        std::memcpy(out, in, static_cast<std::size_t>(n) * sizeof(T));
        kernel(out, T(0), zeros, T(0.5), n);
    });
}

} // namespace

#define MEASURE(isa)                                                                                         \
    measure_exp<float>("lowdim, " #isa, isa::gaussian_row<float>);                                           \
    measure_exp<double>("lowdim, " #isa, isa::gaussian_row<double>);                                         \
    bench::measure(bench::logs, "lowdim, " #isa, [](const float* in, float* out, std::int64_t n) {           \
        std::memcpy(out, in, static_cast<std::size_t>(n) * sizeof(float));                                   \
        isa::attraction::logs(out, n);                                                                       \
    });                                                                                                      \
    bench::measure(bench::powers, "lowdim, " #isa, isa::forces::powers<false>);                              \
    bench::measure(bench::powers, "lowdim as forces need it, " #isa, isa::forces::powers<true>)

int main() {
    if (best_isa() >= Isa::avx2) {
        MEASURE(avx2);
    }
    if (best_isa() >= Isa::avx512) {
        MEASURE(avx512);
    }
}
