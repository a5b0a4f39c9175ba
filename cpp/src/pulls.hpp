// What attracts a new point of a plane: Σ p c(s) over its neighbours, its gradient and its second
// derivatives.
#pragma once

#include "grid.hpp"

#include <lowdim/cross_entropy.hpp>
#include <lowdim/falloff.hpp>

#include <cstdint>

namespace lowdim::detail {

// c(s) of the squared distance s to a neighbour.
struct PullLaw {
    enum class Kind {
        square,     // s: Gauss's falloff
        logarithm,  // factor log(1 + s/shift): Student's
        membership, // log(1 + 2^(power log₂(s + shift) + factor)): UMAP's
        pair        // 1 − factor/(s + shift): PaCMAP's
    };
    Kind kind;
    float factor = 1, shift = 1, power = 1;

    static PullLaw of(const Falloff& falloff);
    static PullLaw of(const Curve& curve);
};

// Neighbours in columns: `size` is a multiple of `lanes`, those that fill it up have weight 0.
struct Pullers {
    static constexpr std::int64_t lanes = 16;
    const float *x, *y, *weights;
    std::int64_t size;
};

using PullSums = void (*)(const PullLaw&, const Pullers&, const float* y, SecondOrder&);
PullSums pull_sums(const PullLaw& law);

// A number that half of the weight lies below, within a thousandth of the range from `low` to `high`.
using Median = float (*)(const float* values, const float* weights, std::int64_t size, float low, float high);
Median weighted_middle();

} // namespace lowdim::detail
