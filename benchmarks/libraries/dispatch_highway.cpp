// The sums by Highway, with its exponential.
#include "dispatch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dispatch_highway.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

Three sums_at(const float* d, std::int64_t size, float beta) {
    const hn::ScalableTag<float> tag;
    const auto minus = hn::Set(tag, -beta), beyond = hn::Set(tag, 1e30f);
    auto s0 = hn::Zero(tag), s1 = s0, s2 = s0;
    for (std::int64_t j = 0; j < size; j += static_cast<std::int64_t>(hn::Lanes(tag))) {
        const auto x = hn::Load(tag, d + j);
        const auto inside = hn::Lt(x, beyond);
        const auto e = hn::IfThenElseZero(inside, hn::Exp(tag, hn::Mul(x, minus)));
        const auto near = hn::IfThenElseZero(inside, x), ex = hn::Mul(e, near);
        s0 = hn::Add(s0, e);
        s1 = hn::Add(s1, ex);
        s2 = hn::MulAdd(ex, near, s2);
    }
    const auto total = [&](auto v) { return hn::GetLane(hn::SumOfLanes(tag, v)); };
    return {total(s0), total(s1), total(s2)};
}

} // namespace bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "highway_targets.hpp"

namespace bench {

HWY_EXPORT(sums_at);

void measure_all() {
    on_each_target([](const char* system) {
        measure_sums(system, [](const float* d, std::int64_t size, float beta) {
            return HWY_DYNAMIC_DISPATCH(sums_at)(d, size, beta);
        });
    });
}

} // namespace bench

int main() { bench::measure_all(); }
#endif
