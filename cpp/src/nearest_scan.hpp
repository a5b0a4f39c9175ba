// What the search for neighbours and its kernels, written for each instruction set, have in common.
#pragma once

#include <cstdint>

namespace lowdim::detail {

constexpr int tile_width = 16, most_stages = 8;

// How a value is packed: floats dimension by dimension, whole numbers of 16 bits two dimensions at a time.
template <class V> struct Packing;
template <> struct Packing<float> {
    using Sum = float;
    static constexpr int together = 1;
    static constexpr float nowhere = -1e30f, anywhere = -1e29f; // see Front
};
template <> struct Packing<std::int16_t> {
    using Sum = std::int32_t;
    static constexpr int together = 2;
    static constexpr std::int32_t nowhere = -(1 << 30), anywhere = -(7 << 27);
    static constexpr double longest =
        23170; // of a row: its products stay below 2²⁹, and scores above anywhere
};

// Points in tiles of tile_width side by side; each stage of dimensions lies by itself, so that the first
// ones, which decide most, stay in the cache.
template <class V> struct Tiles {
    using Sum = typename Packing<V>::Sum;
    int n_stages;
    std::int64_t steps[most_stages]; // of the stages, each of one dimension or those packed together
    const V* values[most_stages];    // [tile][step][tile_width][dimension of the step]
    const Sum* halves[most_stages];  // [tile][tile_width]: −½ Σ x² over the stage; padding is `nowhere`
    const float *lowest, *highest;   // [tile]: distances of its points from their centre
};

// Some queries side by side, and what they have found: scores q·x − ½‖x‖² (the higher, the nearer) and
// points. A query that looks for everything rejects what is below `anywhere`.
template <class V> struct Front {
    using Sum = typename Packing<V>::Sum;
    const V* values;                // [step][rows][dimension of the step]
    const Sum* reject[most_stages]; // [rows]: lower scores cannot be near
    float* scores;                  // [rows][capacity]
    std::int32_t* points;           // [rows][capacity]
    std::int32_t* counts;           // [rows], at most capacity − tile_width before a tile is scanned
    std::int64_t capacity;
    float unit; // of a score
};

// Which tiles to scan: [first, last), those with a point between `inner` and `outer` from the centre.
struct Range {
    std::int64_t first, last;
    float inner, outer;
    std::int32_t point; // first of the first tile
};

// How a front lies to a group, by squared distances of its queries from the centre of the group (there) and
// from that of their own (here), and by how far each looks.
struct Lie {
    const float *there, *here, *reach;
    int rows;
    float apart;         // twice the distance of the two centres, not too small
    float unsure, slack; // errors of there − here, and of there
};

struct Scanner {
    int rows; // of a front
    // Scans until the range is done or a row is too full for another tile; returns the tile to go on with.
    std::int64_t (*scan)(const Tiles<float>&, const Front<float>&, const Range&);
    // The same for whole numbers; null where the processor is no faster with them.
    std::int64_t (*scan_integers)(const Tiles<std::int16_t>&, const Front<std::int16_t>&, const Range&);
    // Scores (rows × tile_width, row by row) of one tile, all dimensions.
    void (*score)(const Tiles<float>&, const float* front, std::int64_t tile, float* scores);
    // Whether a query may find something in the group; if so, sets inner and outer of the range.
    bool (*reaches)(const Lie&, Range&);
    // The lowest and the highest of `count` scores.
    void (*range)(const float* scores, std::int64_t count, float& low, float& high);
    // How many of `count` scores are at least `least`; and drops the others, leaving the number.
    std::int64_t (*count)(const float* scores, std::int64_t count, float least);
    std::int64_t (*keep)(float* scores, std::int32_t* points, std::int64_t count, float least);
    // Σ (x − y)² in double.
    double (*squared_float)(const float*, const float*, std::int64_t);
    double (*squared_double)(const double*, const double*, std::int64_t);
};

Scanner scanner();
// scan_integers by vpdpwssd, for twelve rows.
decltype(Scanner::scan_integers) integer_scan();

} // namespace lowdim::detail
