// The convolution by FFTW, with plans that were measured, and the time to make them. The first argument names
// a file that keeps what was measured, for the next run.
#include "sizes.hpp"

#include <fftw3.h>

int main(int count, char** words) {
    fftwf_init_threads();
    const bool known = count > 1 && fftwf_import_wisdom_from_filename(words[1]);
    for (const bench::Size& s : bench::sizes)
        for (int threads : {1, 2}) {
            const int wide = static_cast<int>(s.wide), tall = static_cast<int>(s.tall),
                      rows = static_cast<int>(s.rows);
            const int half = wide / 2 + 1;
            const std::vector<float> in = bench::nodes(s, s.wide), by = bench::multipliers(s);
            float* field = fftwf_alloc_real(in.size());
            fftwf_complex* spectrum = fftwf_alloc_complex(by.size());
            fftwf_plan_with_nthreads(threads);
            const auto start = std::chrono::steady_clock::now();
            const auto plan_rows = fftwf_plan_many_dft_r2c(1, &wide, rows, field, nullptr, 1, wide, spectrum,
                                                           nullptr, 1, half, FFTW_MEASURE);
            const auto forward = fftwf_plan_many_dft(1, &tall, half, spectrum, nullptr, half, 1, spectrum,
                                                     nullptr, half, 1, FFTW_FORWARD, FFTW_MEASURE);
            const auto backward = fftwf_plan_many_dft(1, &tall, half, spectrum, nullptr, half, 1, spectrum,
                                                      nullptr, half, 1, FFTW_BACKWARD, FFTW_MEASURE);
            const auto plan_back = fftwf_plan_many_dft_c2r(1, &wide, rows, spectrum, nullptr, 1, half, field,
                                                           nullptr, 1, wide, FFTW_MEASURE);
            const double planning =
                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
            const auto convolve = [&] {
                std::copy(in.begin(), in.end(), field); // also the zeros beyond the nodes
                fftwf_execute(plan_rows);
                std::fill(&spectrum[0][0] + 2L * half * rows, &spectrum[0][0] + 2L * half * tall, 0.0f);
                fftwf_execute(forward);
                bench::scale(&spectrum[0][0], by);
                fftwf_execute(backward);
                fftwf_execute(plan_back);
            };
            convolve();
            const double error = bench::error(s, in, field, s.wide);
            const double time = bench::seconds(convolve);
            bench::report(bench::name(s, threads).c_str(), "FFTW", time, error);
            if (!known)
                bench::report(bench::name(s, threads).c_str(), "FFTW, planning", planning, -1);
        }
    if (count > 1 && !known)
        fftwf_export_wisdom_to_filename(words[1]);
}
