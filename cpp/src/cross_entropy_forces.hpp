// What the descent, the value and the gradient of UMAP's loss have in common: the graph and the random pairs
// as the kernels read them, and the kernels, written for each instruction set.
#pragma once

#include "aligned.hpp"
#include "chunks.hpp"

#include <lowdim/cross_entropy.hpp>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace lowdim::detail {

constexpr std::int64_t ring_chunk = 1024; // points a thread takes at a time, a multiple of 16
constexpr double soft = EpochPlan::soft, cut = EpochPlan::cut;

struct Law {
    float power, log_scale, soft, longest;
    float octaves[256]; // a 2^(b e) of t from 2^e to 2^(e + 1), at e + 127, between 2^±60
    float two[32];      // the same of −10 ≤ e < 22 at e + 127 modulo 32, as two registers hold it
    float mantissas[5]; // polynomial near m^b for 1 ≤ m < 2: within 2e-5 for b up to 4
    float mantissa[8];  // and within 2e-7
};

Law law_of(const Curve& curve, double longest);

// Rows whose entries come in groups; the last group of a row ends in entries of value 0.
struct Padded {
    const std::int64_t* starts; // (rows + 1), multiples of the group
    const std::int32_t* columns;
    const float* values;
};

// Points in random order, stored twice in a row, so that partners never wrap around.
struct Ring {
    const float *places, *degrees; // k columns and one, of `stride`
    std::int64_t n, stride;
};

inline std::int64_t stride_of(std::int64_t n) { return 2 * n + 16; }

// Attraction of a point: its force (k) and its stiffness, in one line of the cache where k ≤ 3.
inline std::int64_t pull_stride(int k) { return k == 2 ? 4 : k + 1; }

// How points move: their velocity is `kept` and driven by both forces, `longest` at most.
struct Move {
    const float* pulls;        // (n × pull_stride), by place in the map's order
    const float* pushes;       // k columns of `stride`, by place in the ring
    const std::int32_t* where; // (n): place in the map's order of each point of the ring
    float *velocity, *next;    // k columns of `stride`, in the ring
    float* y;                  // (n × k), in the map's order
    float rate, kept, weight, longest;
    // Anchors times their scale, 2 w and whether points are free to move, 1 or 0: (n + 16) in columns in the
    // ring.
    const float *anchors = nullptr, *drawn = nullptr, *movable = nullptr;
};

struct CrossEntropyKernels {
    int group; // entries that a row of Padded is filled up to
    void (*pull)(const Padded&, const float* Y, int k, const Law&, std::int64_t from, std::int64_t to,
                 float* pulls);
    void (*push)(const Ring&, const std::int32_t* shifts, std::int64_t each, int k, const Law&,
                 std::int64_t from, std::int64_t to, float* pushes);
    void (*move)(const Ring&, const Move&, int k, std::int64_t from, std::int64_t to);
    void (*move_drawn)(const Ring&, const Move&, int k, std::int64_t from, std::int64_t to);
    void (*pull_costs)(const Affinities&, const float* Y, int k, const Law&, std::int64_t from,
                       std::int64_t to, double* out);
    double (*push_costs)(const Ring&, std::int64_t shift, int k, const Law&, std::int64_t from,
                         std::int64_t to);
    double (*push_at)(const float* y, int k, const float* columns, const float* counts, std::int64_t size,
                      const Law&, double* force);
};

// Those for maps of k dimensions.
CrossEntropyKernels cross_entropy_kernels(int k);

// The rows of V in a given order, with their columns renamed, in groups.
class GroupedGraph {
public:
    // Row order[i] of V becomes row i; place[row] is its index.
    void assign(const Affinities& V, int group, const std::int32_t* order, const std::int32_t* place,
                int n_threads, Watch& watch) {
        starts_.resize(static_cast<std::size_t>(V.rows) + 1);
        starts_[0] = 0;
        for (std::int64_t i = 0; i < V.rows; ++i)
            starts_[static_cast<std::size_t>(i) + 1] =
                starts_[static_cast<std::size_t>(i)] +
                (V.starts[order[i] + 1] - V.starts[order[i]] + group - 1) / group * group;
        if (columns_.size() < starts_.back()) {
            columns_ = Aligned<std::int32_t>(starts_.back());
            values_ = Aligned<float>(starts_.back());
        }
        each_chunk(V.rows, ring_chunk, n_threads, watch,
                   [&](std::int64_t, std::int64_t from, std::int64_t to) {
                       for (std::int64_t i = from; i < to; ++i)
                           fill(V, order[i], place, i);
                   });
    }
    [[nodiscard]] Padded rows() const { return {starts_.data(), columns_.data(), values_.data()}; }

private:
    void fill(const Affinities& V, std::int64_t row, const std::int32_t* place, std::int64_t i) {
        std::int64_t at = starts_[static_cast<std::size_t>(i)];
        for (std::int64_t e = V.starts[row]; e < V.starts[row + 1]; ++e) {
            columns_[at] = place[V.columns[e]];
            values_[at++] = V.values[e];
        }
        for (; at < starts_[static_cast<std::size_t>(i) + 1]; ++at) {
            columns_[at] = static_cast<std::int32_t>(i);
            values_[at] = 0;
        }
    }

    std::vector<std::int64_t> starts_;
    Aligned<std::int32_t> columns_;
    Aligned<float> values_;
};

// Degrees of the graph, and the ring of a map (n × k) and of them.
class FilledRing {
public:
    FilledRing(const Affinities& V, const float* Y, int k, const std::int32_t* order)
        : places(k * stride_of(V.rows)), degrees(stride_of(V.rows)), n_(V.rows) {
        const std::int64_t stride = stride_of(n_);
        std::vector<float> of(static_cast<std::size_t>(n_));
        for (std::int64_t i = 0; i < n_; ++i)
            of[static_cast<std::size_t>(i)] =
                static_cast<float>(std::accumulate(V.values + V.starts[i], V.values + V.starts[i + 1], 0.0));
        for (std::int64_t i = 0; i < stride; ++i) {
            const std::int64_t row = order[i % n_];
            for (int d = 0; d < k; ++d)
                places[d * stride + i] = Y[row * k + d];
            degrees[i] = of[static_cast<std::size_t>(row)];
        }
    }
    [[nodiscard]] Ring ring() const { return {places.data(), degrees.data(), n_, stride_of(n_)}; }

    Aligned<float> places, degrees;

private:
    std::int64_t n_;
};

} // namespace lowdim::detail
