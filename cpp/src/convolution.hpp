// The convolution of a grid's nodes with f, or with a part of it, by Fourier transforms.
#pragma once

#include "fft.hpp"

#include <lowdim/falloff.hpp>
#include <lowdim/watch.hpp>

#include <array>
#include <cstdint>

namespace lowdim::detail {

// Which part of f: 1/(1 + s) is ∫ exp(−t (1 + s)) dt. From t = 1/(8 cells)² on that is near, and nothing
// after some cells; the rest is far, and so smooth that cells of `coarser` times the size do for it. They are
// those of points, or gathered from nodes. Gauss's f is near as it is.
enum class KernelPart { whole, near, far, gathered };
constexpr int coarser = 4;
constexpr double parting(double cell) { return 1 / (64 * cell * cell); }

// What the transforms of nodes read and write.
struct Passes {
    const Plan *along, *across;
    std::int64_t rows, columns, blocks, stride;
    float* nodes;
    Complexes* spectrum;
    const Lanes* multiplier;
    const Complexes* turns; // null in a plane
};

// A line of nodes is transformed as a plane: node 32 b + l stands in row l and column b, so that all lanes
// are in use. The spectra of its rows are turned by exp(−2πi l k₁/period), and the transform across the rows
// gives frequency k₁ + k₂ period/32 in row k₂.
class Convolution {
public:
    Convolution(const Falloff& falloff, int dimensions);

    // Prepares for so many nodes along and across rows, in cells of this size; true if that changed anything.
    bool fit(const std::array<std::int64_t, 2>& nodes, double spacing, KernelPart range, int n_threads,
             Watch& watch);

    // Nodes, in rows of this stride, are replaced by three passes, each of pieces that any thread may take;
    // those of a line are followed by up to 31 zeros.
    [[nodiscard]] std::int64_t pieces(int pass) const;
    void run(float* nodes, std::int64_t stride, int pass, std::int64_t piece, int place);
    [[nodiscard]] bool brief() const; // so that threads would wait for each other

private:
    [[nodiscard]] bool folded() const { return dimensions_ == 1; }
    [[nodiscard]] Passes passes(float* nodes, std::int64_t stride) const;
    void build_multiplier(int n_threads, Watch& watch);

    Falloff falloff_;
    int dimensions_;
    double spacing_ = 0;
    KernelPart range_ = KernelPart::whole;
    std::int64_t rows_ = 0, columns_ = 0; // of the plane
    std::array<Plan, 2> plans_;           // of its periods along and across rows, so long that no image acts
    Aligned<Complexes> spectrum_;         // by block of 16 frequencies along rows, then by row
    Aligned<Lanes> multiplier_;  // by block, then by frequency across rows, up to the middle unless folded
    Aligned<Complexes> turns_;   // of a line, by block, then by row
    Aligned<Complexes> scratch_; // two periods a thread
};

} // namespace lowdim::detail
