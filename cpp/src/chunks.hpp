// Sharing of work among threads: pieces that threads take one after another.
#pragma once

#include "team.hpp"

#include <lowdim/watch.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace lowdim::detail {

// Runs piece(i), or piece(i, place) with the place (0 to n_threads − 1) of the thread, for i < count. Which
// thread runs a piece is not determined, so pieces must not share sums. The thread at place 0 is the caller's
// and polls the watch. The first exception of a piece keeps further pieces from beginning and is thrown here.
template <class Piece> void each_piece(std::int64_t count, int n_threads, Watch& watch, const Piece& piece) {
    const auto run = [&](std::int64_t i, int place) {
        if constexpr (std::is_invocable_v<const Piece&, std::int64_t, int>)
            piece(i, place);
        else
            piece(i);
    };
    std::atomic<std::int64_t> next{0};
    const auto body = [&](int place) {
        try {
            for (std::int64_t i;
                 !watch.stopped() && (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
                run(i, place);
                if (place == 0)
                    watch.poll();
            }
        } catch (...) {
            next.store(count, std::memory_order_relaxed);
            throw;
        }
    };
    with_team(static_cast<int>(std::min<std::int64_t>(n_threads, count)), watch, Body(body));
}

// The same, with a total progress of `whole`.
template <class Piece>
void share(std::int64_t count, std::int64_t whole, int n_threads, Watch& watch, const Piece& piece) {
    each_piece(count, n_threads, watch, [&](std::int64_t i, int place) {
        if constexpr (std::is_invocable_v<const Piece&, std::int64_t, int>)
            piece(i, place);
        else
            piece(i);
        watch.advance((i + 1) * whole / count - i * whole / count);
    });
}

// The same as each_piece over the items 0 … n − 1 in chunks of a fixed size: piece(chunk, first, last), or
// piece(chunk, first, last, place).
template <class Piece>
void each_chunk(std::int64_t n, std::int64_t size, int n_threads, Watch& watch, const Piece& piece) {
    each_piece((n + size - 1) / size, n_threads, watch, [&](std::int64_t c, int place) {
        const std::int64_t from = c * size, to = std::min(from + size, n);
        if constexpr (std::is_invocable_v<const Piece&, std::int64_t, std::int64_t, std::int64_t, int>)
            piece(c, from, to, place);
        else
            piece(c, from, to);
    });
}

// Runs run(i, place) for i < count like each_piece, but a piece begins only once all pieces before
// begin_of(i) ≤ i have ended. Threads keep to their work from one phase to the next, which takes a few
// microseconds where a loop for each would take tens.
template <class BeginOf, class Run>
void each_in_order(std::int64_t count, int n_threads, Watch& watch, const BeginOf& begin_of, const Run& run) {
    alignas(64) std::atomic<std::int64_t> next{0};
    alignas(64) std::atomic<std::int64_t> done{0};
    std::atomic<bool> ended{false};
    const auto body = [&](int place) {
        try {
            std::int64_t i = 0;
            while (!watch.stopped() && (i = next.load(std::memory_order_relaxed)) < count) {
                // A thread that waits holds no piece, so that the others need not wait for it.
                if (!wait_for(done, begin_of(i), ended, place, watch))
                    return;
                if (!next.compare_exchange_strong(i, i + 1, std::memory_order_relaxed))
                    continue;
                run(i, place);
                done.fetch_add(1, std::memory_order_release);
                if (place == 0)
                    watch.poll();
            }
        } catch (...) {
            next.store(count, std::memory_order_relaxed);
            ended.store(true, std::memory_order_relaxed);
            throw;
        }
    };
    with_team(static_cast<int>(std::min<std::int64_t>(n_threads, count)), watch, Body(body));
}

// Rounds of the same pieces: piece(round, i) for i < count, each round once the one before has ended.
template <class Piece>
void each_round(std::int64_t rounds, std::int64_t count, int n_threads, Watch& watch, const Piece& piece) {
    each_in_order(
        rounds * count, n_threads, watch, [&](std::int64_t i) { return i - i % count; },
        [&](std::int64_t i, int) { piece(i / count, i % count); });
}

// Pieces of one phase: piece(i, place) for i < count.
template <class Piece> struct Phase {
    std::int64_t count;
    Piece piece;
};
template <class Piece> Phase(std::int64_t, Piece) -> Phase<Piece>;

// Phases in turn, each once the one before has ended.
template <class... Pieces> void each_phase(int n_threads, Watch& watch, const Phase<Pieces>&... phases) {
    std::array<std::int64_t, sizeof...(phases) + 1> starts{};
    std::size_t p = 0;
    ((starts[p + 1] = starts[p] + phases.count, ++p), ...);
    const auto phase_of = [&](std::int64_t i) {
        return static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), i) - starts.begin()) -
               1;
    };
    each_in_order(
        starts.back(), n_threads, watch, [&](std::int64_t i) { return starts[phase_of(i)]; },
        [&](std::int64_t i, int place) {
            const std::size_t at = phase_of(i);
            std::size_t q = 0;
            ((q++ == at ? phases.piece(i - starts[at], place) : void()), ...);
        });
}

// Workspace of each thread, created by its first piece.
template <class Desk> class Desks {
public:
    explicit Desks(int n_threads) : desks_(static_cast<std::size_t>(n_threads)) {}
    template <class... With> Desk& at(int place, const With&... with) {
        auto& desk = desks_[static_cast<std::size_t>(place)];
        if (!desk)
            desk = std::make_unique<Desk>(with...);
        return *desk;
    }
    // Calls visit with all that were created.
    template <class Visit> void each(const Visit& visit) const {
        for (const auto& desk : desks_)
            if (desk)
                visit(*desk);
    }

private:
    std::vector<std::unique_ptr<Desk>> desks_;
};

} // namespace lowdim::detail
