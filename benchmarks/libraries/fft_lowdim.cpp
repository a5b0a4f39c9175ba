// The convolution by lowdim. The source is included, since its kernels are not seen from outside.
#include "convolution.cpp"

#include "sizes.hpp"

using namespace lowdim;
using namespace lowdim::detail;

int main() {
    for (const bench::Size& s : bench::sizes)
        for (int threads : {1, 2}) {
            const bool line = s.tall == 1;
            const Plan along(line ? s.wide / folds : s.wide), across(line ? folds : s.tall);
            const std::int64_t stride = (s.columns + side - 1) / side * side + side,
                               rows = line ? folds : s.rows, blocks = blocks_of(along.length()),
                               tall = line ? folds : s.tall / 2 + 1;
            const std::vector<float> in = bench::nodes(s, stride);
            Aligned<float> field(stride * s.rows);
            Aligned<Lanes> multiplier(blocks * tall);
            Aligned<Complexes> turns(blocks * folds);
            if (line)
                for (std::int64_t block = 0; block < blocks; ++block)
                    fold(
                        along.length(), block, [&](std::int64_t k) { return bench::multiplier(s, k, 0); },
                        multiplier.data(), turns.data());
            else
                for (std::int64_t k = 0; k < blocks * side; ++k)
                    for (std::int64_t j = 0; j < tall; ++j)
                        multiplier[k / side * tall + j][k % side] =
                            bench::multiplier(s, std::min(k, s.wide / 2), j);
            Aligned<Complexes> spectrum(blocks * rows),
                scratch(2 * std::max(along.length(), across.length()) * threads);
            const Passes passes{&along,
                                &across,
                                rows,
                                line ? (s.columns + folds - 1) / folds : s.columns,
                                blocks,
                                stride,
                                field.data(),
                                spectrum.data(),
                                multiplier.data(),
                                line ? turns.data() : nullptr};
            Watch watch;
            const auto convolve = [&] {
                std::copy(in.begin(), in.end(), field.data()); // also the zeros beyond the nodes
                const auto pass = [&](int number) {
                    return Phase{pieces_of(passes, number), [&, number](std::int64_t piece, int place) {
                                     run_piece(passes, number, piece, scratch.data(), place);
                                 }};
                };
                each_phase(line && passes.columns <= one_thread ? 1 : threads, watch, pass(0), pass(1),
                           pass(2));
            };
            convolve();
            const double error = bench::error(s, in, field.data(), stride);
            const double time = bench::seconds(convolve);
            bench::report(bench::name(s, threads).c_str(), "lowdim", time, error);
        }
}
