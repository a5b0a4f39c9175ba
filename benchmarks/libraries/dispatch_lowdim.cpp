// The sums by lowdim: the source of the kernel is included, since it is not seen from outside.
#include "affinities.cpp"

#include "dispatch.hpp"

using namespace lowdim;

int main() {
    for (Isa one : {Isa::avx2, Isa::avx512}) {
        if (best_isa() < one)
            continue;
        set_isa(one);
        bench::measure_sums(
            std::string("lowdim, ") + isa_name(one), [](const float* d, std::int64_t size, float beta) {
                const Sums sums = LOWDIM_PICK(sums_at)(d, size / 16, beta); // chosen at every call
                return bench::Three{sums.s0, sums.s1, sums.s2};
            });
    }
}
