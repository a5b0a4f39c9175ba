// Threads of our own instead of OpenMP's. Where other programs use the same cores, a thread that a barrier
// waits for may be without a core for milliseconds, and OpenMP waits for all of them at the end of every
// loop, by default without sleeping. Here a thread that has not begun is not waited for, and a waiting thread
// sleeps after some microseconds.
#include "team.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <signal.h>
#define LOWDIM_POSIX 1
#else
#define LOWDIM_POSIX 0
#endif

namespace lowdim::detail {
namespace {

constexpr int most_workers = 1023;
// Before sleep. To be woken takes longer than a short loop, so that a worker whose sleep was cut short waits
// longer the next time, until a wait was long after all.
constexpr std::chrono::microseconds patience(50), most_patience(400);
constexpr std::chrono::milliseconds between_polls(50);

void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// State shared by the members of one team, on the stack of the calling thread.
struct Call {
    const Body& body;
    std::mutex lock{};
    std::exception_ptr thrown{};

    explicit Call(const Body& of) : body(of) {}

    void run(int place) noexcept {
        try {
            body(place);
        } catch (...) {
            keep_exception();
        }
    }

    // The first of those that are thrown.
    void keep_exception() noexcept {
        const std::lock_guard held(lock);
        if (!thrown)
            thrown = std::current_exception();
    }
};

// A worker thread that runs the calls it is offered. Its state is a phase and the number of the offer, so
// that a caller can distinguish its own offer from later ones.
class Worker {
public:
    // Whether the worker was free and has been offered the call; then `offer` is its number.
    bool offer(Call& call, int place, std::uint32_t& offer) {
        std::uint32_t free = state_.load();
        if (phase(free) != idle)
            return false;
        offer = free + step;
        if (!state_.compare_exchange_strong(free, offer + claimed))
            return false;
        call_ = &call;
        place_ = place;
        change(offer + offered);
        return true;
    }

    // Takes an offer back; false where the worker has begun.
    bool withdraw(std::uint32_t offer) {
        std::uint32_t expected = offer + offered;
        return state_.compare_exchange_strong(expected, offer + idle);
    }

    // Waits until the worker has ended what it began.
    void finish(std::uint32_t offer, Watch& watch) {
        while (!wait_while(offer + running, between_polls, patience))
            watch.poll();
    }

    void live() {
        auto patient = patience;
        for (std::uint32_t last = 0;;) {
            const auto start = std::chrono::steady_clock::now();
            wait_while(last + idle, std::chrono::hours(1), patient);
            const auto waited = std::chrono::steady_clock::now() - start;
            if (waited > patience)
                patient = waited < most_patience ? most_patience : patience;
            std::uint32_t now = state_.load();
            if (phase(now) == offered && state_.compare_exchange_strong(now, now - offered + running)) {
                last = now - offered;
                call_->run(place_);
                change(last + idle);
            } else if (phase(now) == idle) {
                last = now; // withdrawn
            } else {
                relax();
            }
        }
    }

private:
    enum : std::uint32_t { idle, claimed, offered, running, step };
    static std::uint32_t phase(std::uint32_t state) { return state % step; }

    // Both sides are sequentially consistent: either the sleeper sees the new state or we see the sleeper.
    void change(std::uint32_t state) {
        state_.store(state);
        if (sleepers_.load() > 0) {
            const std::lock_guard held(lock_);
            changed_.notify_all();
        }
    }

    // Returns once the state is another, first without sleeping; false after `longest`.
    template <class Duration>
    bool wait_while(std::uint32_t state, Duration longest, std::chrono::microseconds patient) {
        const auto start = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() - start < patient)
            for (int turn = 0; turn < 16; ++turn, relax())
                if (state_.load(std::memory_order_acquire) != state)
                    return true;
        ++sleepers_;
        std::unique_lock held(lock_);
        const bool other = changed_.wait_for(held, longest, [&] { return state_.load() != state; });
        --sleepers_;
        return other;
    }

    alignas(64) std::atomic<std::uint32_t> state_{idle};
    std::atomic<int> sleepers_{0};
    Call* call_ = nullptr;
    int place_ = 0;
    std::mutex lock_;
    std::condition_variable changed_;
};

// All workers of the process. They are never ended: the process ends with them asleep.
class Pool {
public:
    [[nodiscard]] int size() const { return size_.load(std::memory_order_acquire); }
    Worker& at(int i) { return *workers_[static_cast<std::size_t>(i)]; }

    // Adds workers up to `wanted`, or as many as the system grants.
    void grow(int wanted) {
        const std::lock_guard held(lock_);
        for (int i = size(); i < std::min(wanted, most_workers); ++i)
            try {
                auto worker = std::make_unique<Worker>();
                start(*worker);
                workers_[static_cast<std::size_t>(i)] = std::move(worker);
                size_.store(i + 1, std::memory_order_release);
            } catch (const std::exception&) { // the caller does more of the work
                return;
            }
    }

private:
    // Signals are for the threads of the program.
    static void start(Worker& worker) {
#if LOWDIM_POSIX
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        struct Restore {
            sigset_t* mask;
            ~Restore() { pthread_sigmask(SIG_SETMASK, mask, nullptr); }
        } const restore{&before};
#endif
        std::thread([&worker] { worker.live(); }).detach();
    }

    std::mutex lock_;
    std::atomic<int> size_{0};
    std::array<std::unique_ptr<Worker>, most_workers> workers_;
};

std::atomic<Pool*> pool{nullptr};

Pool& workers() {
    static std::mutex lock;
    if (Pool* there = pool.load(std::memory_order_acquire))
        return *there;
    const std::lock_guard held(lock);
    if (!pool.load()) {
#if LOWDIM_POSIX
        // A forked process has none of the threads: it starts new ones and leaves what it cannot free.
        static const int once =
            pthread_atfork(nullptr, nullptr, [] { pool.store(nullptr, std::memory_order_release); });
        (void)once;
#endif
        pool.store(new Pool, std::memory_order_release);
    }
    return *pool.load();
}

// The workers that were asked to join a call. However the caller leaves, none of them holds the call, which
// lies on its stack, afterwards.
class Members {
public:
    Members(Call& call, Watch& watch, int most) : call_(call), watch_(watch), most_(most) {
        asked_.reserve(static_cast<std::size_t>(std::min(most, most_workers)));
    }
    Members(const Members&) = delete;
    Members& operator=(const Members&) = delete;
    ~Members() {
        for (const auto& [worker, offer] : asked_)
            if (!worker->withdraw(offer))
                finish(*worker, offer);
    }

    [[nodiscard]] int missing() const { return most_ - static_cast<int>(asked_.size()); }

    // Asks the workers from this one on.
    void ask(Pool& all, int from) {
        for (int i = from; i < all.size() && asked_.size() < asked_.capacity() && missing() > 0; ++i) {
            std::uint32_t offer = 0;
            if (all.at(i).offer(call_, static_cast<int>(asked_.size()) + 1, offer))
                asked_.emplace_back(&all.at(i), offer);
        }
    }

private:
    void finish(Worker& worker, std::uint32_t offer) noexcept {
        for (;;)
            try {
                worker.finish(offer, watch_);
                return;
            } catch (...) { // of the watch: the worker has not ended yet
                call_.keep_exception();
            }
    }

    Call& call_;
    Watch& watch_;
    int most_;
    std::vector<std::pair<Worker*, std::uint32_t>> asked_;
};

} // namespace

void with_team(int n_threads, Watch& watch, const Body& body) {
    if (n_threads <= 1) {
        body(0);
        return;
    }
    Call call(body);
    {
        Pool& all = workers();
        Members members(call, watch, n_threads - 1);
        members.ask(all, 0);
        // More workers are started if others are busy, but never more than there are cores.
        static const int cores =
            static_cast<int>(std::thread::hardware_concurrency()); // asking takes a while
        const int there = all.size(), wanted = std::max(n_threads, cores) - 1;
        if (members.missing() > 0 && there < wanted) {
            all.grow(std::min(wanted, there + members.missing()));
            members.ask(all, there);
        }
        call.run(0);
    }
    if (call.thrown)
        std::rethrow_exception(call.thrown);
}

bool comes_soon(const std::atomic<std::int64_t>& done, std::int64_t least) {
    for (int turn = 0; turn < 64; ++turn, relax())
        if (done.load(std::memory_order_acquire) >= least)
            return true;
    return false;
}

bool wait_for(const std::atomic<std::int64_t>& done, std::int64_t least, const std::atomic<bool>& ended,
              int place, Watch& watch) {
    if (comes_soon(done, least))
        return true;
    const auto start = std::chrono::steady_clock::now();
    while (!watch.stopped() && !ended.load(std::memory_order_relaxed)) {
        for (int turn = 0; turn < 16; ++turn, relax())
            if (done.load(std::memory_order_acquire) >= least)
                return true;
        // Whoever is waited for may be without a core.
        const auto waited = std::chrono::steady_clock::now() - start;
        if (waited > 10 * patience)
            std::this_thread::sleep_for(patience);
        else if (waited > patience)
            std::this_thread::yield();
        if (place == 0)
            watch.poll();
    }
    return false;
}

std::int64_t team_threads() { return workers().size(); }

} // namespace lowdim::detail
