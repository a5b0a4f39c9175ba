// What the descent, the value and the gradient of PaCMAP's loss have in common: the pairs as the kernels read
// them, the kernels, written for each instruction set, and the forces at a map.
//
// Pairs are fixed, so that all of them are summed in each iteration, row by row from both ends: no two
// threads write to the same entry, and a row is summed in the same order for any number of threads.
#pragma once

#include "aligned.hpp"
#include "chunks.hpp"

#include <lowdim/pair_descent.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace lowdim::detail {

constexpr std::int64_t pair_chunk = 512; // points a thread takes at a time, a multiple of 16
constexpr double near_shift = PairPlan::near_shift, mid_shift = PairPlan::mid_shift, further_shift = 1;

constexpr int n_kinds = 4; // near, middle, further, and those that the ring has and should not

// Partners of every row, by kind, in groups of 8.
struct Incident {
    const std::int64_t *starts, *counts; // (n_kinds rows + 1), (n_kinds rows)
    const std::int32_t* partners;
};

// w d̃/(shift + d̃) = w − w shift/(shift + d̃) and w/(shift + d̃): base and −½ factor over shift + d̃. With a root
// above 0 forces are those times root/√d̃, as of near pairs in LocalMAP.
struct Kind {
    float factor, shift, base, root = 0;
};

using Kinds = std::array<Kind, n_kinds>;

// Places in the order of the ring, stored twice in a row, so that partners never wrap around.
struct RingPlaces {
    const float* places; // k columns of `stride`
    std::int64_t n, stride;
    const std::int32_t* shifts;
    std::int64_t n_shifts;
};

inline Kinds kinds_of(const std::array<double, 3>& weights, double local = 0) {
    return {
        Kind{static_cast<float>(2 * near_shift * weights[0]), near_shift, static_cast<float>(weights[0]),
             static_cast<float>(local / 2)},
        Kind{static_cast<float>(2 * mid_shift * weights[1]), mid_shift, static_cast<float>(weights[1]), 0.0f},
        Kind{static_cast<float>(-2 * weights[2]), further_shift, 0.0f, 0.0f},
        Kind{static_cast<float>(2 * weights[2]), further_shift, 0.0f, 0.0f}};
}

struct PairKernels {
    void (*rows)(const Incident&, const float* Y, int k, const Kind*, std::int64_t from, std::int64_t to,
                 float* gradient, double* costs);
    void (*around)(const RingPlaces&, int k, float factor, std::int64_t from, std::int64_t to, float* forces,
                   double* costs);
    double (*further)(const float* y, int k, const float* columns, std::int64_t size, double* force);
};

// Those for maps of k dimensions.
PairKernels pair_kernels(int k);

// The pairs from both ends. Partners of a row are its own in their order, then the rows that chose it, by
// index. A row that is its own partner has none: such are pinned points, whose forces nobody needs.
class BothEnds {
public:
    explicit BothEnds(const Pairs& pairs) {
        const auto slots = static_cast<std::size_t>(n_kinds * pairs.n);
        counts_.assign(slots, 0);
        each_pair(pairs, [&](std::int64_t row, std::int64_t) { ++counts_[static_cast<std::size_t>(row)]; });
        starts_.assign(slots + 1, 0);
        for (std::size_t slot = 0; slot < slots; ++slot)
            starts_[slot + 1] = starts_[slot] + (counts_[slot] + 7) / 8 * 8;
        partners_ = Aligned<std::int32_t>(starts_.back());
        std::vector<std::int64_t> next(starts_.begin(), starts_.end() - 1);
        each_pair(pairs, [&](std::int64_t slot, std::int64_t other) {
            partners_[next[static_cast<std::size_t>(slot)]++] = static_cast<std::int32_t>(other);
        });
        for (std::size_t slot = 0; slot < slots; ++slot)
            for (std::int64_t e = next[slot]; e < starts_[slot + 1]; ++e)
                partners_[e] = static_cast<std::int32_t>(slot / n_kinds);
    }
    [[nodiscard]] Incident rows() const { return {starts_.data(), counts_.data(), partners_.data()}; }

private:
    template <class Visit> static void each_pair(const Pairs& pairs, const Visit& visit) {
        const Partners* kinds[3] = {&pairs.near, &pairs.mid, &pairs.further};
        for (std::int64_t kind = 0; kind < 3; ++kind) {
            const Partners& of = *kinds[kind];
            for (std::int64_t i = 0; i < pairs.n; ++i)
                for (std::int64_t e = i * of.each; e < (i + 1) * of.each; ++e)
                    if (of.rows[e] != i)
                        visit(n_kinds * i + kind, of.rows[e]);
            for (std::int64_t i = 0; i < pairs.n; ++i)
                for (std::int64_t e = i * of.each; e < (i + 1) * of.each; ++e)
                    if (of.rows[e] != i)
                        visit(n_kinds * static_cast<std::int64_t>(of.rows[e]) + kind, i);
        }
        for (std::int64_t e = 0; e < pairs.ring.n_excluded; ++e) {
            const std::int64_t a = pairs.ring.excluded[2 * e], b = pairs.ring.excluded[2 * e + 1];
            visit(n_kinds * a + 3, b);
            visit(n_kinds * b + 3, a);
        }
    }
    std::vector<std::int64_t> starts_, counts_;
    Aligned<std::int32_t> partners_;
};

// Gradient of the pairs at a map, in the order of the ring.
class Forces {
public:
    Forces(const Pairs& pairs, const float* Y, int k, int n_threads, Watch& watch)
        : pairs_(pairs), ends_(pairs), k_(k), threads_(n_threads), watch_(watch), stride_(2 * pairs.n + 16),
          y_(Y, Y + pairs.n * k), pull_(y_.size()), places_(k * stride_), push_(k * stride_) {
        for (std::int64_t i = 0; i < stride_; ++i)
            for (int d = 0; d < k; ++d)
                places_[d * stride_ + i] =
                    Y[static_cast<std::int64_t>(pairs.ring.order[i % pairs.n]) * k + d];
    }

    // Calls use(from, to, force) for chunks of the ring, force(i, d) the gradient of the row at position i.
    template <class Use> void at(const Kinds& kinds, double* costs, const Use& use) {
        const PairKernels kernels = pair_kernels(k_);
        each_chunk(pairs_.n, pair_chunk, threads_, watch_,
                   [&](std::int64_t, std::int64_t from, std::int64_t to) {
                       kernels.rows(ends_.rows(), y_.data(), k_, kinds.data(), from, to, pull_.data(), costs);
                   });
        const RingPlaces ring{places_.data(), pairs_.n, stride_, pairs_.ring.shifts, pairs_.ring.n_shifts};
        std::vector<double> more(costs ? static_cast<std::size_t>(pairs_.n) : 0);
        each_chunk(pairs_.n, pair_chunk, threads_, watch_,
                   [&](std::int64_t, std::int64_t from, std::int64_t to) {
                       kernels.around(ring, k_, kinds[2].factor, from, to, push_.data(),
                                      costs ? more.data() : nullptr);
                       use(from, to, [&](std::int64_t i, int d) {
                           return pull_[static_cast<std::size_t>(row(i) * k_ + d)] + push_[d * stride_ + i];
                       });
                   });
        for (std::size_t i = 0; i < more.size(); ++i)
            costs[row(static_cast<std::int64_t>(i))] += more[i];
    }

    [[nodiscard]] std::int64_t row(std::int64_t i) const { return pairs_.ring.order[i]; }

    [[nodiscard]] float place(std::int64_t i, int d) const {
        return y_[static_cast<std::size_t>(row(i) * k_ + d)];
    }

    // Moves the row at position i by `step` in coordinate d; the others see it after `moved`.
    void move(std::int64_t i, int d, float step) {
        push_[d * stride_ + i] = y_[static_cast<std::size_t>(row(i) * k_ + d)] -= step;
    }

    void moved() {
        for (int d = 0; d < k_; ++d) {
            float* column = places_.data() + d * stride_;
            std::copy_n(push_.data() + d * stride_, pairs_.n, column);
            for (std::int64_t i = pairs_.n; i < stride_; ++i)
                column[i] = column[i - pairs_.n];
        }
    }

    // The map, in the rows' order.
    void give_back(float* out) const { std::copy(y_.begin(), y_.end(), out); }

private:
    const Pairs& pairs_;
    BothEnds ends_;
    int k_, threads_;
    Watch& watch_;
    std::int64_t stride_;
    std::vector<float> y_, pull_;  // by rows
    Aligned<float> places_, push_; // columns in the order of the ring
};

} // namespace lowdim::detail
