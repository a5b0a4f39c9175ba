// The convolution by ducc0, which carries on pocketfft.
#include "sizes.hpp"

#include <ducc0/fft/fft.h>
#include <ducc0/fft/fft1d_impl.h>
#include <ducc0/fft/fftnd_impl.h>

#include <complex>

using Complex = std::complex<float>;

int main() {
    for (const bench::Size& s : bench::sizes)
        for (int threads : {1, 2}) {
            const auto wide = static_cast<std::size_t>(s.wide), tall = static_cast<std::size_t>(s.tall),
                       rows = static_cast<std::size_t>(s.rows), half = wide / 2 + 1,
                       team = static_cast<std::size_t>(threads);
            const std::vector<float> in = bench::nodes(s, s.wide), by = bench::multipliers(s);
            std::vector<float> field = in;
            std::vector<Complex> spectrum(by.size());
            const ducc0::vfmav<float> real(field.data(), {rows, wide});
            const ducc0::vfmav<Complex> used(spectrum.data(), {rows, half}),
                all(spectrum.data(), {tall, half});
            const auto convolve = [&] {
                std::copy(in.begin(), in.end(), field.begin()); // also the zeros beyond the nodes
                ducc0::r2c<float>(real, used, std::size_t{1}, true, 1.0f, team);
                std::fill(spectrum.begin() + static_cast<long>(half * rows), spectrum.end(), Complex{});
                if (tall > 1)
                    ducc0::c2c<float>(all, all, {0}, true, 1.0f, team);
                bench::scale(reinterpret_cast<float*>(spectrum.data()), by);
                if (tall > 1)
                    ducc0::c2c<float>(all, all, {0}, false, 1.0f, team);
                ducc0::c2r<float>(used, real, std::size_t{1}, false, 1.0f, team);
            };
            convolve();
            const double error = bench::error(s, in, field.data(), s.wide);
            const double time = bench::seconds(convolve);
            bench::report(bench::name(s, threads).c_str(), "ducc0", time, error);
        }
}
