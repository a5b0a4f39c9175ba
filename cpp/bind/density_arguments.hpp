// The density of a map as the bindings of descents take it.
#pragma once

#include "maps.hpp"

#include <lowdim/density.hpp>

#include <nanobind/stl/array.h>

#include <array>
#include <cmath>

namespace lowdim::bind {

// Weight, share of the iterations, shift of the variance; mean, deviation (0: of the map itself) and
// correlation of a trend.
using Wanted = std::array<double, 6>;

inline Similarity similarity_of(double a, double b, double dof) {
    demand(a >= 0 && b >= 0 && b <= 4 && dof > 0, "a, b (at most 4) and dof must be positive", a, b, dof);
    return {{dof == 1 ? Falloff::Kind::cauchy : Falloff::Kind::student, dof}, a, b};
}

inline Density density_of(const MaybeVector& radii, const Wanted& by, std::size_t n) {
    if (!radii)
        return {};
    demand(radii->shape(0) == n, "radii must be one for each point", *radii);
    demand_each(
        radii->data(), size(*radii), [](float r) { return !(std::abs(r) > 1e15f); },
        "radii must be finite or NaN");
    demand(by[0] >= 0 && by[1] >= 0 && by[1] <= 1 && by[2] >= 0 && by[4] >= 0,
           "weight, share (at most 1), shift and deviation must be 0 or more", by[0], by[1], by[2], by[4]);
    return {.radii = radii->data(),
            .weight = by[0],
            .share = by[1],
            .shift = by[2],
            .trend = {by[3], by[4], by[5]}};
}

} // namespace lowdim::bind
