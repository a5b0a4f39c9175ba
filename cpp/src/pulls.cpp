// The sums over neighbours, once per instruction set.
#include "pulls.hpp"

#include "falloffs.hpp"
#include "instructions.hpp"
#include "powers.hpp"

#include <cmath>

namespace lowdim::detail {
namespace {

#define LOWDIM_KERNEL "pulls.inl"
#include "each_isa.inl"

} // namespace

PullLaw PullLaw::of(const Falloff& falloff) {
    if (falloff.kind == Falloff::Kind::gauss)
        return {Kind::square};
    const double dof = falloff.kind == Falloff::Kind::student ? falloff.dof : 1.0;
    return {Kind::logarithm, static_cast<float>((dof + 1) / 2), static_cast<float>(dof)};
}

PullLaw PullLaw::of(const Curve& curve) {
    return {Kind::membership, static_cast<float>(std::log2(curve.a)), static_cast<float>(EpochPlan::soft),
            static_cast<float>(curve.b)};
}

PullSums pull_sums(const PullLaw& law) {
    switch (law.kind) {
    case PullLaw::Kind::square:
        return LOWDIM_PICK(sums_of<PullLaw::Kind::square>);
    case PullLaw::Kind::membership:
        return LOWDIM_PICK(sums_of<PullLaw::Kind::membership>);
    case PullLaw::Kind::pair:
        return LOWDIM_PICK(sums_of<PullLaw::Kind::pair>);
    default:
        return LOWDIM_PICK(sums_of<PullLaw::Kind::logarithm>);
    }
}

Median weighted_middle() { return LOWDIM_PICK(middle_of); }

} // namespace lowdim::detail
