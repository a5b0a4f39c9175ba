// Work shared among threads in phases: no task of a phase starts before all of the one before it are done.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <thread>

namespace lowdim::detail {

// For the members of a team, in place of a loop for each phase: a member takes its next task while others are
// still busy with theirs, and waits only where a phase is not complete.
class Phases {
public:
    Phases(std::int64_t tasks, std::int64_t phases) : tasks_(tasks), all_(tasks * phases) {}

    struct Task {
        std::int64_t phase, index;
    };

    // Takes the next task, waiting for the phase before it. False when there is none left or somebody left
    // early.
    bool take(Task& task) {
        const std::int64_t ticket = next_.fetch_add(1, std::memory_order_relaxed);
        if (ticket >= all_)
            return false;
        task = {ticket / tasks_, ticket % tasks_};
        wait_for(task.phase * tasks_);
        return finished_.load(std::memory_order_acquire) < left_early;
    }

    void finish() {
        if ((finished_.fetch_add(1, std::memory_order_acq_rel) + 1) % tasks_ == 0)
            finished_.notify_all();
    }

    void leave() {
        finished_.store(left_early, std::memory_order_release);
        finished_.notify_all();
    }

private:
    static constexpr std::int64_t left_early = std::numeric_limits<std::int64_t>::max() / 2;
    const std::int64_t tasks_, all_;
    // On separate cache lines, so that taking does not slow down waiting threads.
    alignas(64) std::atomic<std::int64_t> next_{0};
    alignas(64) std::atomic<std::int64_t> finished_{0};

    void wait_for(std::int64_t needed) {
        for (int patience = 100;;) {
            const std::int64_t now = finished_.load(std::memory_order_acquire);
            if (now >= needed)
                return;
            if (patience-- > 0)
                std::this_thread::yield();
            else
                finished_.wait(now, std::memory_order_acquire);
        }
    }
};

} // namespace lowdim::detail
