// The convolution by MKL.
#include "sizes.hpp"

#include <mkl.h>

namespace {

// Transforms of `count` sequences whose numbers are `step` apart.
DFTI_DESCRIPTOR_HANDLE plan(DFTI_CONFIG_VALUE domain, std::int64_t length, std::int64_t count,
                            std::int64_t step, std::int64_t next, std::int64_t next_spectrum, bool in_place,
                            int threads) {
    DFTI_DESCRIPTOR_HANDLE h;
    MKL_LONG strides[] = {0, step};
    DftiCreateDescriptor(&h, DFTI_SINGLE, domain, 1, static_cast<MKL_LONG>(length));
    DftiSetValue(h, DFTI_PLACEMENT, in_place ? DFTI_INPLACE : DFTI_NOT_INPLACE);
    DftiSetValue(h, DFTI_NUMBER_OF_TRANSFORMS, static_cast<MKL_LONG>(count));
    DftiSetValue(h, DFTI_FWD_STRIDES, strides);
    DftiSetValue(h, DFTI_BWD_STRIDES, strides);
    DftiSetValue(h, DFTI_FWD_DISTANCE, static_cast<MKL_LONG>(next));
    DftiSetValue(h, DFTI_BWD_DISTANCE, static_cast<MKL_LONG>(next_spectrum));
    DftiSetValue(h, DFTI_THREAD_LIMIT, static_cast<MKL_LONG>(threads));
    DftiCommitDescriptor(h);
    return h;
}

} // namespace

int main() {
    for (const bench::Size& s : bench::sizes)
        for (int threads : {1, 2}) {
            mkl_set_num_threads(threads);
            const std::int64_t half = s.wide / 2 + 1;
            const std::vector<float> in = bench::nodes(s, s.wide), by = bench::multipliers(s);
            auto* field = static_cast<float*>(mkl_malloc(in.size() * sizeof(float), 64));
            auto* spectrum = static_cast<float*>(mkl_malloc(2 * by.size() * sizeof(float), 64));
            const auto rows = plan(DFTI_REAL, s.wide, s.rows, 1, s.wide, half, false, threads);
            const auto columns = plan(DFTI_COMPLEX, s.tall, half, half, 1, 1, true, threads);
            const auto convolve = [&] {
                std::copy(in.begin(), in.end(), field); // also the zeros beyond the nodes
                DftiComputeForward(rows, field, spectrum);
                std::fill(spectrum + 2 * half * s.rows, spectrum + 2 * half * s.tall, 0.0f);
                if (s.tall > 1)
                    DftiComputeForward(columns, spectrum);
                bench::scale(spectrum, by);
                if (s.tall > 1)
                    DftiComputeBackward(columns, spectrum);
                DftiComputeBackward(rows, spectrum, field);
            };
            convolve();
            const double error = bench::error(s, in, field, s.wide);
            const double time = bench::seconds(convolve);
            bench::report(bench::name(s, threads).c_str(), "MKL", time, error);
        }
}
