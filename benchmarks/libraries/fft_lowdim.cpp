// The convolution by lowdim. The source of the grid is included, since its kernels are not seen from outside.
#include "grid.cpp"

#include "convolution.hpp"

using namespace lowdim;
using namespace lowdim::detail;

int main() {
    for (const bench::Size& s : bench::sizes)
        for (int threads : {1, 2}) {
            const Plan along(s.wide), across(s.tall);
            const std::int64_t stride = (s.columns + side - 1) / side * side + side,
                               longest = std::max(s.wide, s.tall);
            const std::int64_t blocks = (s.wide / 2 + side) / side,
                               pieces = (s.rows + 2 * side - 1) / (2 * side);
            const std::vector<float> in = bench::nodes(s, stride);
            Aligned<float> field(stride * s.rows);
            Aligned<Lanes> multiplier(blocks * (s.tall / 2 + 1));
            for (std::int64_t k = 0; k < blocks * side; ++k)
                for (std::int64_t j = 0; j <= s.tall / 2; ++j)
                    multiplier[k / side * (s.tall / 2 + 1) + j][k % side] =
                        bench::multiplier(s, std::min(k, s.wide / 2), j);
            Aligned<Complexes> spectrum(blocks * s.rows), scratch(2 * longest * threads);
            const Convolution c{&along, &across,      s.rows,          s.columns,        blocks,
                                stride, field.data(), spectrum.data(), multiplier.data()};
            const auto by = [&](const auto kernel, std::int64_t at, int place) {
                Complexes* room = scratch.data() + 2 * longest * place;
                kernel(c, at, room, room + longest);
            };
            const auto forward = LOWDIM_PICK(rows_forward), backward = LOWDIM_PICK(rows_backward);
            const auto through = LOWDIM_PICK(columns_through);
            Watch watch;
            const auto convolve = [&] {
                std::copy(in.begin(), in.end(), field.data()); // also the zeros beyond the nodes
                each_phase(threads, watch,
                           Phase{pieces, [&](std::int64_t i, int at) { by(forward, i * 2 * side, at); }},
                           Phase{blocks, [&](std::int64_t i, int at) { by(through, i, at); }},
                           Phase{pieces, [&](std::int64_t i, int at) { by(backward, i * 2 * side, at); }});
            };
            convolve();
            const double error = bench::error(s, in, field.data(), stride);
            const double time = bench::seconds(convolve);
            bench::report(bench::name(s, threads).c_str(), "lowdim", time, error);
        }
}
