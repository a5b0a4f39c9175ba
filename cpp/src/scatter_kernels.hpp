// Description of a micro-kernel for the driver in scatter.cpp, for any instruction set.
#pragma once

#include <lowdim/scatter.hpp>

#include <cstddef>
#include <cstdint>

namespace lowdim::detail {

// A few rows of one panel, column-contiguous, to be packed. Columns past the last one of
// the matrix read as zero, and so do rows up to the next multiple of the kernel's group.
struct PackBlock {
    const void* source;
    std::ptrdiff_t stride; // elements from row to row of the source
    std::int64_t rows;
    const double* shift; // never null when weights or shift were given
    const double* weights;
    const std::int32_t* labels;
    double* sums; // of class 0
    std::int64_t class_stride;
    void* packed;
};

using Pack = void (*)(const PackBlock&);

// tile (tile_rows × panel, row by row) += Σ_k a_k b_kᵀ over at most `fold` rows. Both sides are read from
// packed panels: a points at the first of tile_rows columns, b at the first of some vectors of columns.
using Multiply = void (*)(const std::byte* a, const std::byte* b, std::int64_t steps, double* tile);

// uint8 values are multiplied with 128 subtracted from both factors, or from the right one alone.
enum class Bias { none, both, right };

constexpr int max_vectors = 3, most_panel = 64;

struct Kernel {
    int tile_rows; // divides panel, so that a tile's left side never straddles two panels
    int panel;     // columns packed side by side
    int lanes;     // columns of one vector
    int group;     // consecutive rows interleaved per column, multiplied in one step
    int item;      // bytes of a packed value
    int fold;      // rows multiplied before the tile is added to its double; a multiple of group
    Bias bias;
    Pack pack;                          // plain copy
    Pack pack_full;                     // with shift and weights
    Multiply multiply[max_vectors + 1]; // by number of vectors; [0] unused
};

enum class Element { u8, f32, f64 };

Kernel float_kernel(Element element);
Kernel vnni_kernel();
Kernel words_kernel();

} // namespace lowdim::detail
