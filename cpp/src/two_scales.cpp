// Two scales: which maps they suit, and the way between nodes and coarser nodes.
#include "two_scales.hpp"

#include "chunks.hpp"
#include "instructions.hpp"
#include "spline.hpp"

#include <algorithm>

namespace lowdim::detail {
namespace {

constexpr std::int64_t fewest = 64; // nodes in each direction: with fewer, the reach is most of the period
constexpr int width = Grid::width;
constexpr int at_once = 4; // coarser rows

std::int64_t coarser_than(std::int64_t nodes) { return (nodes - 1) / coarser + width; }
std::int64_t stride_of(std::int64_t nodes) { return (nodes + side - 1) / side * side + side; }

// Weights of the coarser nodes i / coarser to i / coarser + 7 about node i, by i % coarser, between zeros.
struct Weights {
    float table[coarser][width + 2 * at_once] = {};
    Weights() {
        const Spline spline;
        for (int phase = 0; phase < coarser; ++phase)
            for (int node = 0; node < width; ++node) {
                float& weight = table[phase][node + at_once];
                for (int power = Spline::terms - 1; power >= 0; --power)
                    weight = weight * static_cast<float>(phase) / coarser + spline.values[power][node];
            }
    }
    [[nodiscard]] float of(int phase, std::int64_t node) const { return table[phase][node + at_once]; }
};
const Weights weights;

struct Between {
    float* nodes;
    std::int64_t rows, columns, stride;
    float* coarse;
    std::int64_t coarse_rows, coarse_columns, coarse_stride;
    float* lines;
};

#define LOWDIM_KERNEL "two_scales.inl"
#include "each_isa.inl"

} // namespace

TwoScales::TwoScales(const Falloff& falloff, int dimensions, KernelPart range)
    : falloff_(falloff), dimensions_(dimensions), range_(range), fine_(falloff, dimensions),
      coarse_(falloff, dimensions) {}

bool TwoScales::fit(const std::array<std::int64_t, 2>& nodes, double spacing, int n_threads, Watch& watch) {
    const bool apart = range_ == KernelPart::whole && dimensions_ == 2 &&
                       (falloff_.kind == Falloff::Kind::cauchy || falloff_.kind == Falloff::Kind::gauss) &&
                       std::min(nodes[0], nodes[1]) >= fewest;
    far_ = apart && falloff_.kind == Falloff::Kind::cauchy;
    bool changed = fine_.fit(nodes, spacing, apart ? KernelPart::near : range_, n_threads, watch);
    nodes_ = nodes;
    if (far_ && !watch.stopped()) {
        coarser_ = {coarser_than(nodes[0]), coarser_than(nodes[1])};
        reserve(charges_, stride_of(coarser_[0]) * (coarser_[1] + 1));
        changed |= coarse_.fit(coarser_, spacing * coarser, KernelPart::gathered, n_threads, watch);
    }
    return changed;
}

void TwoScales::operator()(float* nodes, std::int64_t stride, int n_threads, Watch& watch) {
    const std::int64_t coarse_stride = stride_of(coarser_[0]),
                       room = at_once * coarser * (coarse_stride + side);
    if (far_) {
        reserve(lines_, stride * coarser_[1]);
        reserve(scratch_, room * n_threads);
    }
    const Between b{nodes,       nodes_[1],   nodes_[0],     stride,       charges_.data(),
                    coarser_[1], coarser_[0], coarse_stride, lines_.data()};
    const auto gather = LOWDIM_PICK(gather_rows);
    const auto widen = LOWDIM_PICK(widen_row), add = LOWDIM_PICK(add_far);
    const std::int64_t cells = (nodes_[1] + coarser - 1) / coarser;
    // The pieces of the coarser nodes are short and come last.
    const auto pass = [&](int number) {
        const std::int64_t fine = fine_.pieces(number);
        return Phase{fine + (far_ ? coarse_.pieces(number) : 0), [=, this](std::int64_t piece, int place) {
                         if (piece < fine)
                             fine_.run(nodes, stride, number, piece, place);
                         else
                             coarse_.run(charges_.data(), coarse_stride, number, piece - fine, place);
                     }};
    };
    each_phase(fine_.brief() ? 1 : n_threads, watch,
               Phase{far_ ? (coarser_[1] + at_once - 1) / at_once : 0,
                     [&](std::int64_t piece, int place) {
                         gather(b, piece * at_once, scratch_.data() + place * room);
                     }},
               pass(0), pass(1), pass(2),
               Phase{far_ ? coarser_[1] : 0, [&](std::int64_t row, int) { widen(b, row); }},
               Phase{far_ ? cells : 0, [&](std::int64_t cell, int) { add(b, cell); }});
}

} // namespace lowdim::detail
