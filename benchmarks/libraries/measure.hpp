// How the programs of this folder measure and report.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace bench {

// Median seconds of a call, over a tenth of a second after a warm-up.
template <class Call> double seconds(const Call& call) {
    using Clock = std::chrono::steady_clock;
    const auto time = [&](int calls) {
        const auto start = Clock::now();
        for (int i = 0; i < calls; ++i)
            call();
        return std::chrono::duration<double>(Clock::now() - start).count() / calls;
    };
    double once = time(1);
    for (int i = 0; i < 2; ++i)
        once = std::min(once, time(1));
    const int calls =
        std::max(1, static_cast<int>(20e-6 / std::max(once, 1e-9))); // short calls are timed together
    std::vector<double> times;
    double sum = 0;
    while (sum < 0.1 || times.size() < 5) {
        times.push_back(time(calls));
        sum += times.back() * calls;
    }
    std::nth_element(times.begin(), times.begin() + static_cast<long>(times.size() / 2), times.end());
    return times[times.size() / 2];
}

// One line of the report; `error` is negative where none was measured.
inline void report(const char* task, const char* system, double seconds, double error) {
    std::printf("%s|%s|%.9g|%.3g\n", task, system, seconds, error);
    std::fflush(stdout);
}

} // namespace bench
