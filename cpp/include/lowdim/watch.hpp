// Progress of a long loop, and whether it should stop.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

namespace lowdim {

// A kernel calls `advance` from any thread as pieces of work finish, and `stopped` at the head of each piece.
// Only the thread that made the watch calls `poll`; it does so at most every 50 ms, so that the callback
// (which may take a lock, draw a bar or look for Ctrl-C) costs nothing. A poll that returns false stops every
// thread.
class Watch {
public:
    using Poll = std::function<bool(std::int64_t done)>;

    Watch() = default;
    explicit Watch(Poll poll) : poll_(std::move(poll)), last_(Clock::now()) {}

    void advance(std::int64_t amount) { done_.fetch_add(amount, std::memory_order_relaxed); }

    [[nodiscard]] bool stopped() const { return stop_.load(std::memory_order_relaxed); }

    // Call from the thread that made the watch.
    void poll() {
        if (!poll_ || stopped())
            return;
        auto now = Clock::now();
        if (now - last_ < std::chrono::milliseconds(50))
            return;
        last_ = now;
        if (!poll_(done_.load(std::memory_order_relaxed)))
            stop_.store(true, std::memory_order_relaxed);
    }

private:
    using Clock = std::chrono::steady_clock;
    Poll poll_;
    Clock::time_point last_;
    // On cache lines of their own: every thread reads `stop_` before each piece.
    alignas(64) std::atomic<std::int64_t> done_{0};
    alignas(64) std::atomic<bool> stop_{false};
};

} // namespace lowdim
