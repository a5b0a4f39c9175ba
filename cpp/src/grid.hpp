// The field φ(y) = Σ_j f(‖y − y_j‖²) of a map of one or two dimensions, on a grid, by Fourier transforms.
#pragma once

#include "two_scales.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace lowdim::detail {

// A function of a plane at one place, its gradient and its second derivatives; of a line, those along x.
struct SecondOrder {
    float value = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
};

// Points are spread over the grid with a B-spline, the grid is convolved with f, and φ and its gradient are
// read back with the same spline and its derivative. What the spline does to the spectrum, aliases included,
// is undone in the multiplier K̂ Ŵ² / (Σ Ŵ²)², the best one in the least-squares sense (Hockney and Eastwood
// 1981). One charge and one kernel give the normaliser Σφ − n and all forces −½∇φ. The bits do not depend on
// n_threads.
class Grid {
public:
    static constexpr int width = 8; // of the spline, in cells

    Grid(const Falloff& falloff, int dimensions, double spacing, double margin = 0,
         KernelPart part = KernelPart::whole);

    // Cells of this size from the next charge on.
    void refine(double spacing) { finest_ = spacing; }

    // Lowest and highest coordinates of points.
    struct Box {
        std::array<float, 2> low{}, high{};
    };
    Box box_of(const float* Y, std::int64_t n, int n_threads, Watch& watch) const;

    // Whether n points in a box have cells as small as asked for; a wider map gets larger ones.
    [[nodiscard]] bool suits(const Box& box, std::int64_t n) const { return spacing_for(box, n) <= finest_; }

    // Cells that n points in a box have.
    [[nodiscard]] double cells(const Box& box, std::int64_t n) const;

    // Computes the field of n points (n × dimensions) in their box.
    void charge(const float* Y, std::int64_t n, const Box& box, int n_threads, Watch& watch);

    // forces = −½∇φ (n × dimensions) and, unless null, phi (n) at points that the grid covers; returns Σφ.
    double read(const float* Y, std::int64_t n, float* forces, float* phi, int n_threads, Watch& watch) const;

    // The same at the charged points themselves, without what the grid makes each of them do to itself.
    double read_own(const float* Y, std::int64_t n, float* forces, float* phi, int n_threads,
                    Watch& watch) const;

    // φ and its derivatives at a point that the grid covers.
    [[nodiscard]] SecondOrder at(const float* y) const;

    // What the spline makes of a charge at its own place t within a cell: φ is higher by `excess`, and the
    // force is `push` times sin 2πt along each axis, where it should be none.
    struct Own {
        float excess = 0, push = 0;
    };

    // Where points lie on the grid.
    struct View {
        float origin[2], inverse;
        std::int64_t stride;
        int dimensions;
        Own own;
    };

private:
    struct Axis {
        std::int64_t nodes = 1;
        float origin = 0;
    };

    [[nodiscard]] double spacing_for(const Box& box, std::int64_t n) const;
    void fit(const Box& box, std::int64_t n, int n_threads, Watch& watch);
    void measure_own(int n_threads, Watch& watch);
    [[nodiscard]] View view() const;
    double read(const View& view, const float* Y, std::int64_t n, float* forces, float* phi, int n_threads,
                Watch& watch) const;
    void spread_in_layers(const float* Y, std::int64_t n, int n_threads, Watch& watch);
    void spread_by_strips(const float* Y, std::int64_t n, int n_threads, Watch& watch);

    TwoScales convolve_;
    KernelPart part_;
    int dimensions_;
    double finest_, margin_, spacing_ = 0;
    std::array<Axis, 2> axes_; // along rows, across rows
    std::int64_t stride_ = 0;  // of the nodes' rows
    Own own_;
    Aligned<float> nodes_, layers_;
    std::vector<std::int32_t> order_;  // points by strip of rows
    std::vector<std::int32_t> places_; // in that order, of the next point of each chunk and strip
    std::vector<std::int64_t> starts_; // in that order, of each strip
};

} // namespace lowdim::detail
