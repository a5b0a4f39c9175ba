// One kernel of the core, the sums Σ e, Σ e d and Σ e d² with e = exp(−β d) of the perplexity, and its
// choice.
#pragma once

#include "measure.hpp"

#include <cmath>
#include <cstdint>
#include <string>

namespace bench {

struct Three {
    float s0, s1, s2;
};

// Times `sums(d, size, beta)` over rows of 96 distances, as a perplexity of 30 has them, and of 16, which
// shows what a call costs. Error: relative, of the three sums.
template <class Sums> void measure_sums(const std::string& system, const Sums& sums) {
    alignas(64) static float d[96];
    double exact[3] = {};
    for (int j = 0; j < 96; ++j) {
        d[j] = 0.03f * static_cast<float>(j);
        for (int power = 0; power < 3; ++power)
            exact[power] +=
                std::exp(-1.25 * static_cast<double>(d[j])) * std::pow(static_cast<double>(d[j]), power);
    }
    const Three found = sums(d, 96, 1.25f);
    const double error = std::max({std::abs(found.s0 / exact[0] - 1), std::abs(found.s1 / exact[1] - 1),
                                   std::abs(found.s2 / exact[2] - 1)});
    volatile float sink;
    for (std::int64_t size : {96, 16}) {
        const double time = seconds([&] { sink = sums(d, size, 1.25f).s2; });
        report(("sums of " + std::to_string(size)).c_str(), system.c_str(), time, size == 96 ? error : -1);
    }
    (void)sink;
}

} // namespace bench
