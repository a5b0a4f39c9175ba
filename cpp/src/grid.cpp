// The grid: boxes, and strips of rows for spreading without conflicts.
#include "grid.hpp"

#include "chunks.hpp"
#include "instructions.hpp"
#include "spline.hpp"
#include "two_fours.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace lowdim::detail {
namespace {

constexpr std::int64_t strip = 8;              // rows of nodes, at least the spline's width less 1
constexpr std::int64_t most_nodes = 2'000'000; // that are used; a wider map gets larger cells
constexpr double nodes_each = 8;               // of a point, where that makes more
constexpr double most_in_a_row = 1 << 17;
constexpr std::int64_t layers = 32;        // of a small map's nodes, each for a share of the points
constexpr std::int64_t layered = 1 << 16;  // nodes up to which a map is small
constexpr std::int64_t each_layered = 512; // points of a layer at the least

// Points that a thread takes at a time: few enough for many threads, whatever their number.
std::int64_t chunk_for(std::int64_t n) { return std::clamp<std::int64_t>(n / 128, 256, 4096); }

// The numbers below `count` from the one in the middle to those at the ends.
std::int64_t from_middle(std::int64_t i, std::int64_t count) {
    return count / 2 + (i % 2 ? -(i + 1) / 2 : i / 2);
}

const Spline spline;

using View = Grid::View;

#define LOWDIM_KERNEL "grid.inl"
#include "each_isa.inl"

} // namespace

Grid::Grid(const Falloff& falloff, int dimensions, double spacing, double margin, KernelPart part)
    : convolve_(falloff, dimensions, part), part_(part), dimensions_(dimensions), finest_(spacing),
      margin_(margin) {}

Grid::Box Grid::box_of(const float* Y, std::int64_t n, int n_threads, Watch& watch) const {
    constexpr float inf = std::numeric_limits<float>::infinity();
    const std::int64_t size = chunk_for(n);
    const auto chunks = static_cast<std::size_t>((n + size - 1) / size);
    const Box empty{{inf, inf}, {-inf, -inf}};
    std::vector<Box> boxes(chunks, empty);
    const auto widen = [](Box& box, std::size_t d, float low, float high) {
        box.low[d] = std::min(box.low[d], low);
        box.high[d] = std::max(box.high[d], high);
    };
    each_chunk(n, size, n_threads, watch, [&](std::int64_t c, std::int64_t from, std::int64_t to) {
        Box box = empty;
        for (std::int64_t i = from; i < to; ++i)
            for (int d = 0; d < dimensions_; ++d)
                widen(box, static_cast<std::size_t>(d), Y[i * dimensions_ + d], Y[i * dimensions_ + d]);
        boxes[static_cast<std::size_t>(c)] = box;
    });
    Box whole = empty;
    for (const Box& box : boxes)
        for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions_); ++d)
            widen(whole, d, box.low[d], box.high[d]);
    return whole;
}

double Grid::spacing_for(const Box& box, std::int64_t n) const {
    double area = dimensions_ == 1 ? 0 : 1, longest = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions_); ++d) {
        const double span = static_cast<double>(box.high[d]) - box.low[d] + 2 * margin_;
        longest = std::max(longest, span);
        area *= span + 2 * width * finest_;
    }
    const double most = std::max(static_cast<double>(most_nodes), nodes_each * static_cast<double>(n));
    return std::max({finest_, longest / most_in_a_row, std::sqrt(area / most)});
}

double Grid::cells(const Box& box, std::int64_t n) const {
    double cells = 1;
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions_); ++d)
        cells *= (static_cast<double>(box.high[d]) - box.low[d]) / spacing_for(box, n) + width;
    return cells;
}

void Grid::fit(const Box& box, std::int64_t n, int n_threads, Watch& watch) {
    std::array<double, 2> low{}, span{};
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions_); ++d) {
        low[d] = box.low[d] - margin_;
        span[d] = static_cast<double>(box.high[d]) - box.low[d] + 2 * margin_;
    }
    const double spacing = spacing_for(box, n);
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions_); ++d) {
        constexpr int before = Spline::before + 1; // a cell to spare for rounding
        const auto cells = static_cast<std::int64_t>(std::ceil(span[d] / spacing)) + 1;
        axes_[d].nodes = cells + width + 3;
        axes_[d].origin = static_cast<float>((std::floor(low[d] / spacing) - before) * spacing);
    }
    spacing_ = spacing;
    stride_ = (axes_[0].nodes + side - 1) / side * side + side;
    reserve(nodes_, stride_ * (axes_[1].nodes + 1));
    const bool changed = convolve_.fit({axes_[0].nodes, axes_[1].nodes}, spacing, n_threads, watch);
    if (changed && part_ == KernelPart::whole && !watch.stopped()) // the far part is too smooth for it
        measure_own(n_threads, watch);
}

// A single charge a quarter into a cell, where the sine of its first harmonic is 1 and that of the second 0.
void Grid::measure_own(int n_threads, Watch& watch) {
    own_ = {};
    const View view{{0, 0}, 1.0f / static_cast<float>(spacing_), stride_, dimensions_, {}};
    const auto place = [&](const Axis& axis) {
        return (static_cast<float>(axis.nodes / 2) + 0.25f) * static_cast<float>(spacing_);
    };
    const float y[2] = {place(axes_[0]), place(axes_[1])};
    std::fill(nodes_.data(), nodes_.data() + stride_ * (axes_[1].nodes + 1), 0.0f);
    LOWDIM_PICK(spread_range)(spline, view, y, 0, 1, nodes_.data());
    convolve_(nodes_.data(), stride_, n_threads, watch);
    if (watch.stopped())
        return;
    float forces[2], phi;
    read(view, y, 1, forces, &phi, 1, watch);
    own_ = {phi - 1, forces[0]};
}

Grid::View Grid::view() const {
    return {{axes_[0].origin, axes_[1].origin}, static_cast<float>(1 / spacing_), stride_, dimensions_, {}};
}

void Grid::charge(const float* Y, std::int64_t n, const Box& box, int n_threads, Watch& watch) {
    fit(box, n, n_threads, watch);
    if (watch.stopped())
        return;
    if (stride_ * (axes_[1].nodes + 1) <= layered && n >= layers * each_layered)
        spread_in_layers(Y, n, n_threads, watch);
    else
        spread_by_strips(Y, n, n_threads, watch);
    if (!watch.stopped())
        convolve_(nodes_.data(), stride_, n_threads, watch);
}

// A small map has too few strips for many threads, so that shares of the points, which lie near each other,
// have rows of nodes of their own, to be added up.
void Grid::spread_in_layers(const float* Y, std::int64_t n, int n_threads, Watch& watch) {
    const View view = this->view();
    const auto points = LOWDIM_PICK(spread_range);
    if (layers * layered > layers_.size())
        layers_ = Aligned<float>(layers * layered);
    const std::int64_t rows = axes_[1].nodes + 1;
    const auto own = [&](std::int64_t layer) { return layers_.data() + layer * rows * stride_; };
    std::array<std::pair<std::int64_t, std::int64_t>, layers> reach; // of each: first row, and past the last
    const Phase spread{layers, [&](std::int64_t l, int) {
                           const std::int64_t from = n * l / layers, to = n * (l + 1) / layers;
                           std::int64_t first = 0, last = rows;
                           if (dimensions_ == 2) {
                               float low = Y[2 * from + 1], high = low;
                               for (std::int64_t i = from; i < to; ++i) {
                                   low = std::min(low, Y[2 * i + 1]);
                                   high = std::max(high, Y[2 * i + 1]);
                               }
                               const auto row = [&](float y) {
                                   return static_cast<std::int64_t>((y - view.origin[1]) * view.inverse) -
                                          Spline::before;
                               };
                               first = row(low);
                               last = std::min(rows, row(high) + width + 1); // vectors reach beyond a row
                           }
                           reach[static_cast<std::size_t>(l)] = {first, last};
                           std::fill(own(l) + first * stride_, own(l) + last * stride_, 0.0f);
                           points(spline, view, Y, from, to, own(l));
                       }};
    const Phase add_up{layers, [&](std::int64_t part, int) {
                           const std::int64_t from = rows * part / layers, to = rows * (part + 1) / layers;
                           std::fill(nodes_.data() + from * stride_, nodes_.data() + to * stride_, 0.0f);
                           for (std::int64_t l = 0; l < layers; ++l) {
                               const auto [first, last] = reach[static_cast<std::size_t>(l)];
                               const float* layer = own(l);
                               for (std::int64_t i = std::max(from, first) * stride_;
                                    i < std::min(to, last) * stride_; ++i)
                                   nodes_[i] += layer[i];
                           }
                       }};
    each_phase(n_threads, watch, spread, add_up);
}

void Grid::spread_by_strips(const float* Y, std::int64_t n, int n_threads, Watch& watch) {
    const View view = this->view();
    const std::int64_t size = chunk_for(n), chunks = (n + size - 1) / size;
    const std::int64_t strips = (axes_[1].nodes + strip - 1) / strip;
    const auto strip_of = [&](std::int64_t i) {
        if (dimensions_ == 1)
            return std::int64_t{0};
        const auto row = static_cast<std::int64_t>((Y[2 * i + 1] - view.origin[1]) * view.inverse);
        return (row - Spline::before) / strip;
    };
    // Points by strip, in their order: counted by chunk, then put in place.
    places_.assign(static_cast<std::size_t>(chunks * strips), 0);
    starts_.resize(static_cast<std::size_t>(strips) + 1);
    order_.resize(static_cast<std::size_t>(n));
    const auto place_of = [&](std::int64_t c, std::int64_t s) -> std::int32_t& {
        return places_[static_cast<std::size_t>(c * strips + s)];
    };
    const Phase count{chunks, [&](std::int64_t c, int) {
                          for (std::int64_t i = c * size; i < std::min(n, (c + 1) * size); ++i)
                              ++place_of(c, strip_of(i));
                      }};
    const Phase sum_up{1, [&](std::int64_t, int) {
                           std::int32_t next = 0;
                           for (std::int64_t s = 0; s < strips; ++s) {
                               starts_[static_cast<std::size_t>(s)] = next;
                               for (std::int64_t c = 0; c < chunks; ++c)
                                   next += std::exchange(place_of(c, s), next);
                           }
                           starts_.back() = n;
                       }};
    const Phase arrange{chunks, [&](std::int64_t c, int) {
                            for (std::int64_t i = c * size; i < std::min(n, (c + 1) * size); ++i)
                                order_[static_cast<std::size_t>(place_of(c, strip_of(i))++)] =
                                    static_cast<std::int32_t>(i);
                        }};
    // A strip's points reach into the next strip and no further: first the even ones, which begin with the
    // nodes of both, then the odd. Those in the middle of the map hold most points and come first.
    const auto points = LOWDIM_PICK(spread_points);
    const auto spread = [&](std::int64_t s) {
        const auto at = static_cast<std::size_t>(s);
        points(spline, view, Y, order_.data() + starts_[at], starts_[at + 1] - starts_[at], nodes_.data());
    };
    const std::int64_t even = (strips + 1) / 2, odd = strips / 2, rows = axes_[1].nodes;
    const Phase evenly{even, [&](std::int64_t piece, int) {
                           const std::int64_t s = 2 * from_middle(piece, even), first = s * strip;
                           const std::int64_t last = std::min(first + 2 * strip, rows + 1);
                           std::fill(nodes_.data() + first * stride_, nodes_.data() + last * stride_, 0.0f);
                           spread(s);
                       }};
    const Phase oddly{odd, [&](std::int64_t piece, int) { spread(2 * from_middle(piece, odd) + 1); }};
    each_phase(n_threads, watch, count, sum_up, arrange, evenly, oddly);
}

double Grid::read(const float* Y, std::int64_t n, float* forces, float* phi, int n_threads,
                  Watch& watch) const {
    return read(view(), Y, n, forces, phi, n_threads, watch);
}

double Grid::read_own(const float* Y, std::int64_t n, float* forces, float* phi, int n_threads,
                      Watch& watch) const {
    View view = this->view();
    view.own = own_;
    return read(view, Y, n, forces, phi, n_threads, watch);
}

double Grid::read(const View& view, const float* Y, std::int64_t n, float* forces, float* phi, int n_threads,
                  Watch& watch) const {
    const std::int64_t size = chunk_for(n);
    std::vector<double> sums(static_cast<std::size_t>((n + size - 1) / size), 0.0);
    const auto points = LOWDIM_PICK(read_points);
    each_chunk(n, size, n_threads, watch, [&](std::int64_t c, std::int64_t from, std::int64_t to) {
        sums[static_cast<std::size_t>(c)] = points(spline, view, Y, from, to, nodes_.data(), forces, phi);
    });
    double sum = 0;
    for (double part : sums)
        sum += part;
    return sum;
}

SecondOrder Grid::at(const float* y) const {
    SecondOrder out;
    LOWDIM_PICK(read_bent)(spline, view(), y, nodes_.data(), out);
    return out;
}

} // namespace lowdim::detail
