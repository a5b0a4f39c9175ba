// The convolution of a grid's nodes with f: its far part on coarser nodes of their own.
#pragma once

#include "convolution.hpp"

#include <array>
#include <cstdint>

namespace lowdim::detail {

// Transforms of the whole need twice the nodes in each direction, since f ends nowhere. The near part needs a
// few more only, and the far part has a sixteenth of the nodes: less work and less memory. Charges go from
// nodes to the coarser ones, and the far field back, by the spline of a grid.
class TwoScales {
public:
    // Of the whole f, or of its far part, which needs no second scale.
    TwoScales(const Falloff& falloff, int dimensions, KernelPart range);

    // As Convolution has it.
    bool fit(const std::array<std::int64_t, 2>& nodes, double spacing, int n_threads, Watch& watch);
    // Replaces nodes, in rows of this stride; those of a line are followed by up to 31 zeros. The bits do not
    // depend on n_threads.
    void operator()(float* nodes, std::int64_t stride, int n_threads, Watch& watch);

private:
    Falloff falloff_;
    int dimensions_;
    KernelPart range_;
    Convolution fine_, coarse_;
    bool far_ = false; // coarser nodes are in use
    std::array<std::int64_t, 2> nodes_{}, coarser_{};
    Aligned<float> charges_; // of the coarser nodes, and then their field
    Aligned<float> lines_;   // that field at all nodes of the coarser rows
    Aligned<float> scratch_; // some rows of each thread
};

} // namespace lowdim::detail
