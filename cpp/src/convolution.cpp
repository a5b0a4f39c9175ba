// The convolution of a grid: plans, multipliers and the three passes.
#include "convolution.hpp"

#include "chunks.hpp"
#include "grid.hpp"
#include "instructions.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace lowdim::detail {
namespace {

constexpr std::int64_t folds = 2 * side;     // rows of a line
constexpr std::int64_t least = 8;            // columns of its period: transforms have two stages or more
constexpr std::int64_t one_thread = 1 << 10; // columns up to which threads would wait for each other

struct KernelGrid {
    const Plan *along, *across; // of the finer grid
    std::int64_t rows, blocks;  // rows up to the middle
    double step;
    Lanes* out;
};

// The near and the far part of Cauchy's f.
template <KernelPart range> struct Split {
    float limit;
    template <class V> LOWDIM_INLINE void at(const V& s, V& f, V& pull) const {
        V faded;
        Gauss<float>({}).at(V(limit * (s + 1.0f)), faded, pull);
        f = (range == KernelPart::near ? faded : 1.0f - faded) / (s + 1.0f);
    }
};

// log(1 + 1/u), u = 2^(power log₂(s + soft) + log_a).
struct Odds {
    float power, log_a, soft;
    explicit Odds(const Falloff& of)
        : power(static_cast<float>(of.b)), log_a(static_cast<float>(std::log2(of.a))),
          soft(static_cast<float>(of.soft)) {}
    template <class V> LOWDIM_INLINE void at(const V& s, V& f, V&) const {
        V log, inverse;
        log2_of(V(s + soft), log);
        exp2_of(V(-(log * power + log_a)), inverse);
        const V sum = inverse + 1.0f;
        log2_of(sum, f);
        f = (f * 0.69314718f) + (inverse - (sum - 1.0f)) / sum; // what rounding took from the sum
    }
};

template <class Visit>
void with_range(const Falloff& of, KernelPart range, double spacing, const Visit& visit) {
    if (of.kind == Falloff::Kind::odds)
        return visit(Odds(of));
    if (range == KernelPart::whole || of.kind == Falloff::Kind::gauss)
        return with_falloff<float>(of, visit);
    const auto limit = static_cast<float>(parting(range == KernelPart::near ? spacing : spacing / coarser));
    if (range == KernelPart::near)
        visit(Split<KernelPart::near>{limit});
    else
        visit(Split<KernelPart::far>{limit});
}

// Cells after which the near part is nothing; at least a vector, which is what rows are read by.
std::int64_t reach(const Falloff& of, double spacing) {
    constexpr std::int64_t least = side;
    return of.kind == Falloff::Kind::gauss
               ? std::max(least, static_cast<std::int64_t>(std::ceil(4 / spacing)))
               : 24;
}

#define LOWDIM_KERNEL "convolution.inl"
#include "each_isa.inl"

std::int64_t blocks_of(std::int64_t period) { return (period / 2 + side) / side; }

// Ŵ at the angle a cell: sinc to the power of the width.
double window(double angle) {
    const double sinc = angle == 0 ? 1 : std::sin(angle / 2) / (angle / 2);
    return std::pow(sinc, Grid::width);
}

// Ŵ / Σ Ŵ², over the aliases that matter.
double correction(double angle) {
    double sum = 0;
    for (int alias = -2; alias <= 2; ++alias)
        sum += std::pow(window(angle + 2 * std::numbers::pi * alias), 2);
    return window(angle) / sum;
}

// The square of that for each frequency of a period, and of what the spline of the finer nodes needs where
// these are gathered from them.
std::vector<float> corrections(std::int64_t period, std::int64_t room, KernelPart range, int n_threads,
                               Watch& watch) {
    std::vector<float> out(static_cast<std::size_t>(std::max(period, room)), 0.0f);
    each_chunk(period, 64, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from; i < to; ++i) {
            const auto wave = static_cast<double>(2 * i <= period ? i : i - period);
            const double angle = 2 * std::numbers::pi * wave / static_cast<double>(period);
            const double both =
                correction(angle) * (range == KernelPart::gathered ? correction(angle / coarser) : 1);
            // The finer grid has twice the samples along this axis; the transform back divides by the period.
            out[static_cast<std::size_t>(i)] =
                static_cast<float>(both * both / (2 * static_cast<double>(period)));
        }
    });
    return out;
}

// What a line needs of one block of frequencies: at(k) of the multiplier for k up to the middle, and the
// turns.
template <class At>
void fold(std::int64_t columns, std::int64_t block, const At& at, Lanes* multiplier, Complexes* turns) {
    const std::int64_t period = folds * columns;
    for (std::int64_t row = 0; row < folds; ++row)
        for (int lane = 0; lane < side; ++lane) {
            const std::int64_t first =
                std::min(block * side + lane, columns / 2); // idle lanes repeat the last
            const std::int64_t k = first + columns * row;
            multiplier[block * folds + row][lane] = at(std::min(k, period - k));
            const double angle =
                -2 * std::numbers::pi * static_cast<double>(row * first) / static_cast<double>(period);
            turns[block * folds + row].re[lane] = static_cast<float>(std::cos(angle));
            turns[block * folds + row].im[lane] = static_cast<float>(std::sin(angle));
        }
}

// Along rows, across them and back, and along them back: how many pieces each of these has,
std::int64_t pieces_of(const Passes& c, int pass) {
    return pass == 1 ? c.blocks : (c.rows + 2 * side - 1) / (2 * side);
}

// and one of them, with the scratch of its thread.
void run_piece(const Passes& c, int pass, std::int64_t piece, Complexes* scratch, int place) {
    const std::int64_t longest = std::max(c.along->length(), c.across->length());
    Complexes* room = scratch + 2 * longest * place;
    if (pass == 1)
        LOWDIM_PICK(columns_through)(c, piece, room, room + longest);
    else if (pass == 0)
        LOWDIM_PICK(rows_forward)(c, piece * 2 * side, room, room + longest);
    else
        LOWDIM_PICK(rows_backward)(c, piece * 2 * side, room, room + longest);
}

} // namespace

Convolution::Convolution(const Falloff& falloff, int dimensions)
    : falloff_(falloff), dimensions_(dimensions) {
    if (folded())
        plans_[1] = Plan(folds);
}

bool Convolution::fit(const std::array<std::int64_t, 2>& nodes, double spacing, KernelPart range,
                      int n_threads, Watch& watch) {
    bool same = spacing == spacing_ && range == range_;
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions_); ++d) {
        // No node is further from another than half the period, or an image of it lies beyond the reach.
        const std::int64_t beyond =
            range == KernelPart::near ? std::min(nodes[d], reach(falloff_, spacing)) : nodes[d];
        const std::int64_t fold = folded() ? folds : 1, needed = nodes[d] + beyond,
                           period = plans_[d].length() * fold;
        const std::int64_t length = Plan::at_least(std::max(least, (needed + needed / 12 + fold - 1) / fold));
        if (!same || needed > period || (10 * needed < 7 * period && length < plans_[d].length())) {
            plans_[d] = Plan(length);
            same = false;
        }
    }
    spacing_ = spacing;
    range_ = range;
    rows_ = folded() ? folds : nodes[1];
    columns_ = folded() ? (nodes[0] + folds - 1) / folds : nodes[0];
    const std::int64_t wide = plans_[0].length(), tall = plans_[1].length(), blocks = blocks_of(wide);
    reserve(multiplier_, blocks * (folded() ? folds : tall / 2 + 1));
    reserve(spectrum_, blocks * std::max(rows_, (tall + 2) / 2)); // or the finer kernel's, in lanes
    reserve(scratch_, 2 * std::max(wide, tall) * n_threads);
    if (folded())
        reserve(turns_, blocks * folds);
    if (!same)
        build_multiplier(n_threads, watch);
    return !same;
}

void Convolution::build_multiplier(int n_threads, Watch& watch) {
    const std::int64_t wide = plans_[0].length() * (folded() ? folds : 1), tall = plans_[1].length();
    const Plan along(2 * wide), across(folded() ? 1 : 2 * tall);
    const std::int64_t blocks = blocks_of(wide), rows = across.length() / 2 + 1;
    const KernelGrid g{&along, &across, rows, blocks, spacing_ / 2, &spectrum_.data()->re};
    const std::vector<float> x = corrections(wide, blocks * side, range_, n_threads, watch);
    each_piece((rows + 2 * side - 1) / (2 * side), n_threads, watch, [&](std::int64_t piece) {
        Aligned<Complexes> room(2 * along.length());
        with_range(falloff_, range_, spacing_, [&](const auto& f) {
            LOWDIM_PICK(kernel_rows<std::decay_t<decltype(f)>>)(f, g, piece * 2 * side, room.data(),
                                                                room.data() + along.length());
        });
    });
    if (folded()) {
        const auto at = [&](std::int64_t k) {
            return g.out[k / side][k % side] * x[static_cast<std::size_t>(k)];
        };
        each_piece(blocks_of(plans_[0].length()), n_threads, watch, [&](std::int64_t block) {
            fold(plans_[0].length(), block, at, multiplier_.data(), turns_.data());
        });
        return;
    }
    const std::vector<float> y = corrections(tall, 1, range_, n_threads, watch);
    const auto columns = LOWDIM_PICK(kernel_columns);
    each_piece(blocks, n_threads, watch, [&](std::int64_t block) {
        Aligned<Complexes> room(2 * across.length());
        columns(g, block, room.data(), room.data() + across.length(), x.data(), y.data(), multiplier_.data());
    });
}

std::int64_t Convolution::pieces(int pass) const { return pieces_of(passes(nullptr, 0), pass); }

void Convolution::run(float* nodes, std::int64_t stride, int pass, std::int64_t piece, int place) {
    run_piece(passes(nodes, stride), pass, piece, scratch_.data(), place);
}

bool Convolution::brief() const { return folded() && columns_ <= one_thread; }

Passes Convolution::passes(float* nodes, std::int64_t stride) const {
    return {&plans_[0],
            &plans_[1],
            rows_,
            columns_,
            blocks_of(plans_[0].length()),
            stride,
            nodes,
            spectrum_.data(),
            multiplier_.data(),
            folded() ? turns_.data() : nullptr};
}

} // namespace lowdim::detail
