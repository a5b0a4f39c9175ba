// Threads of a page: workers that share the memory of the module and run `lowdim_help`. Where a page may not
// share memory there are none, and every loop runs on the calling thread. See src/team.cpp for what is asked.
#include "team.hpp"

#include <algorithm>

namespace lowdim::detail {

namespace {

constexpr int patience = 4000; // looks before a thread sleeps

// One call at a time. A helper joins while the call is open, and the caller leaves once all have left.
struct Call {
    alignas(64) std::atomic<std::int32_t> number{0}; // of calls so far: helpers sleep on it
    alignas(64) std::atomic<std::int32_t> inside{closed};
    std::atomic<int> places{0};
    int most = 0;
    const Body* body = nullptr;

    static constexpr std::int32_t closed = 1 << 20;

    bool join() {
        std::int32_t now = inside.load(std::memory_order_acquire);
        while (now < closed)
            if (inside.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel))
                return true;
        return false;
    }
};
Call call;
std::atomic<int> helpers{0};

void sleep_on(const std::atomic<std::int32_t>& number, std::int32_t seen) {
    for (int look = 0; look < patience; ++look)
        if (number.load(std::memory_order_acquire) != seen)
            return;
    auto* word = reinterpret_cast<std::int32_t*>(const_cast<std::atomic<std::int32_t>*>(&number));
    __builtin_wasm_memory_atomic_wait32(word, seen, -1);
}

} // namespace

void help() {
    helpers.fetch_add(1);
    std::int32_t seen = call.number.load(std::memory_order_acquire);
    for (;;) {
        if (call.join()) {
            if (const int place = call.places.fetch_add(1); place < call.most)
                (*call.body)(place);
            call.inside.fetch_sub(1, std::memory_order_acq_rel);
        }
        sleep_on(call.number, seen);
        seen = call.number.load(std::memory_order_acquire);
    }
}

void with_team(int n_threads, Watch& watch, const Body& body) {
    if (n_threads <= 1 || helpers.load() == 0 || call.inside.load() != Call::closed) {
        body(0);
        return;
    }
    call.body = &body;
    call.most = n_threads;
    call.places.store(1);
    call.inside.store(0, std::memory_order_release);
    call.number.fetch_add(1, std::memory_order_acq_rel);
    __builtin_wasm_memory_atomic_notify(reinterpret_cast<std::int32_t*>(&call.number),
                                        static_cast<std::uint32_t>(n_threads - 1));
    body(0);
    call.inside.fetch_add(Call::closed, std::memory_order_acq_rel);
    while (call.inside.load(std::memory_order_acquire) != Call::closed)
        watch.poll();
}

bool comes_soon(const std::atomic<std::int64_t>& done, std::int64_t least) {
    for (int turn = 0; turn < 64; ++turn)
        if (done.load(std::memory_order_acquire) >= least)
            return true;
    return false;
}

bool wait_for(const std::atomic<std::int64_t>& done, std::int64_t least, const std::atomic<bool>& ended,
              int place, Watch& watch) {
    while (!watch.stopped() && !ended.load(std::memory_order_relaxed)) {
        for (int turn = 0; turn < 64; ++turn)
            if (done.load(std::memory_order_acquire) >= least)
                return true;
        if (place == 0)
            watch.poll();
    }
    return false;
}

std::int64_t team_threads() { return helpers.load(); }

} // namespace lowdim::detail
