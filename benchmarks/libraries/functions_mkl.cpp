// exp, log and powers by MKL, with its instruction set and within 1 and 4 units of the last place.
#include "functions.hpp"

#include <mkl.h>

#include <cstdlib>

int main() {
    const char* cap = std::getenv("MKL_ENABLE_INSTRUCTIONS");
    const std::string isa = cap && std::string(cap) == "AVX2" ? ", avx2" : ", avx512";
    mkl_set_num_threads(1);
    for (const bool high : {true, false}) {
        const MKL_INT64 mode = (high ? VML_HA : VML_LA) | VML_FTZDAZ_OFF | VML_ERRMODE_IGNORE;
        const std::string system = (high ? "MKL high accuracy" : "MKL low accuracy") + isa;
        bench::measure(bench::exps<float>, system,
                       [&](auto in, auto out, auto n) { vmsExp(static_cast<int>(n), in, out, mode); });
        bench::measure(bench::exps<double>, system,
                       [&](auto in, auto out, auto n) { vmdExp(static_cast<int>(n), in, out, mode); });
        bench::measure(bench::logs, system,
                       [&](auto in, auto out, auto n) { vmsLn(static_cast<int>(n), in, out, mode); });
        bench::measure(bench::powers, system, [&](auto in, auto out, auto n) {
            vmsPowx(static_cast<int>(n), in, static_cast<float>(bench::exponent), out, mode);
        });
    }
}
