// Highway's instruction sets, one after another.
#pragma once

#include <cstdint>
#include <hwy/highway.h>

namespace bench {

// Calls measure(name of the system) with Highway's dispatch set to each target that this processor has.
template <class Measure> void on_each_target(const Measure& measure) {
    const auto on = [&](std::int64_t target, const char* system) {
        if ((hwy::SupportedTargets() & target) == 0)
            return;
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
        measure(system);
        hwy::SetSupportedTargetsForTest(0);
    };
    on(HWY_AVX2, "Highway, avx2");
    on(HWY_AVX3, "Highway, avx512");
}

} // namespace bench
