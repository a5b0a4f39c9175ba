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

// Which pieces of a phase have begun. Each member of a team has pieces of its own, every members-th of them,
// so that in loop after loop over the same items it meets those that are in its cache and seldom touches a
// word that others write. Then it takes pieces that others have not begun: whoever is without a core holds up
// no more than the piece it runs.
class Claims {
public:
    explicit Claims(int members) : members_(members), next_(static_cast<std::size_t>(members)) {}

    // A piece of a phase (from 1) with `count` pieces for the member at `place`: its own, or one of the first
    // `owners` members from it on; −1 where all of those have begun.
    std::int64_t take(std::uint64_t phase, std::int64_t count, int place, int owners) {
        for (int turn = 0; turn < owners; ++turn) {
            const int owner = place + turn < members_ ? place + turn : place + turn - members_;
            const std::int64_t own = (count - owner + members_ - 1) / members_;
            std::atomic<std::uint64_t>& next = next_[static_cast<std::size_t>(owner)].taken;
            std::uint64_t seen = next.load(std::memory_order_relaxed);
            while (seen >> 32 <= phase) { // or this member is late, and the phase has ended
                const auto at = static_cast<std::int64_t>(seen >> 32 == phase ? seen & 0xFFFFFFFF : 0);
                if (at >= own)
                    break;
                const std::uint64_t one_more = phase << 32 | static_cast<std::uint64_t>(at + 1);
                if (next.compare_exchange_weak(seen, one_more, std::memory_order_relaxed))
                    return at * members_ + owner;
            }
        }
        return -1;
    }

private:
    struct alignas(64) Next {
        std::atomic<std::uint64_t> taken{0}; // phase, and how many of its pieces
    };
    int members_;
    std::vector<Next> next_;
};

// Runs run(phase, i, place) for i < size_of(phase) and each phase < phases in turn, each once the one before
// has ended. `place` (0 to n_threads − 1) is that of the thread. Which thread runs a piece is not determined,
// so pieces must not share sums. The thread at place 0 is the caller's and polls the watch. The first
// exception of a piece keeps further pieces from beginning and is thrown here. Threads keep to their work
// from one phase to the next, which takes a few microseconds where a loop for each would take tens.
template <class SizeOf, class Run>
void each_in_order(std::int64_t phases, int n_threads, Watch& watch, const SizeOf& size_of, const Run& run) {
    std::int64_t widest = 0;
    const auto next_of = [&](std::int64_t phase) { // that is not empty
        while (phase < phases && size_of(phase) == 0)
            ++phase;
        return phase;
    };
    for (std::int64_t phase = 0; phase < phases; ++phase)
        widest = std::max(widest, size_of(phase));
    const int members = static_cast<int>(std::min<std::int64_t>(n_threads, widest));
    if (members <= 1) {
        for (std::int64_t phase = 0; phase < phases; ++phase)
            for (std::int64_t i = 0; i < size_of(phase) && !watch.stopped(); ++i) {
                run(phase, i, 0);
                watch.poll();
            }
        return;
    }
    // On cache lines of their own: `open` is watched by those that wait, and changes once in a phase.
    alignas(64) std::atomic<std::int64_t> open{next_of(0)};
    alignas(64) std::atomic<std::int64_t> done{0}; // pieces of that phase
    alignas(64) std::atomic<bool> ended{false};
    Claims claims(members);
    const auto body = [&](int place) {
        const auto run_pieces = [&](std::int64_t phase, int owners) {
            const std::int64_t count = size_of(phase);
            std::int64_t mine = 0, i = 0;
            while (!watch.stopped() && !ended.load(std::memory_order_relaxed) &&
                   (i = claims.take(static_cast<std::uint64_t>(phase + 1), count, place, owners)) >= 0) {
                run(phase, i, place);
                ++mine;
                if (place == 0)
                    watch.poll();
            }
            if (mine > 0 && done.fetch_add(mine, std::memory_order_acq_rel) + mine == count) {
                done.store(0, std::memory_order_relaxed);
                open.store(next_of(phase + 1), std::memory_order_release);
            }
        };
        try {
            std::int64_t phase = open.load(std::memory_order_acquire);
            while (phase < phases) {
                run_pieces(phase, 1);
                // To look at the claims of others holds them up, and mostly they end at the same time.
                if (!comes_soon(open, phase + 1))
                    run_pieces(phase, members);
                // A thread that waits holds no piece, so that the others need not wait for it.
                if (phase + 1 == phases || !wait_for(open, phase + 1, ended, place, watch))
                    return;
                phase = open.load(std::memory_order_acquire);
            }
        } catch (...) {
            ended.store(true, std::memory_order_relaxed);
            throw;
        }
    };
    with_team(members, watch, Body(body));
}

// Runs piece(i), or piece(i, place), for i < count.
template <class Piece> void each_piece(std::int64_t count, int n_threads, Watch& watch, const Piece& piece) {
    each_in_order(
        1, n_threads, watch, [&](std::int64_t) { return count; },
        [&](std::int64_t, std::int64_t i, int place) {
            if constexpr (std::is_invocable_v<const Piece&, std::int64_t, int>)
                piece(i, place);
            else
                piece(i);
        });
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

// Rounds of the same pieces: piece(round, i) for i < count, each round once the one before has ended.
template <class Piece>
void each_round(std::int64_t rounds, std::int64_t count, int n_threads, Watch& watch, const Piece& piece) {
    each_in_order(
        rounds, n_threads, watch, [&](std::int64_t) { return count; },
        [&](std::int64_t round, std::int64_t i, int) { piece(round, i); });
}

// Pieces of one phase: piece(i, place) for i < count.
template <class Piece> struct Phase {
    std::int64_t count;
    Piece piece;
};
template <class Piece> Phase(std::int64_t, Piece) -> Phase<Piece>;

// Phases in turn, each once the one before has ended.
template <class... Pieces> void each_phase(int n_threads, Watch& watch, const Phase<Pieces>&... phases) {
    const std::array<std::int64_t, sizeof...(phases)> sizes{phases.count...};
    each_in_order(
        static_cast<std::int64_t>(sizes.size()), n_threads, watch,
        [&](std::int64_t phase) { return sizes[static_cast<std::size_t>(phase)]; },
        [&](std::int64_t phase, std::int64_t i, int place) {
            std::int64_t q = 0;
            ((q++ == phase ? phases.piece(i, place) : void()), ...);
        });
}

// Workspace of each thread, created by its first piece.
template <class Workspace> class Workspaces {
public:
    explicit Workspaces(int n_threads) : workspaces_(static_cast<std::size_t>(n_threads)) {}
    template <class... With> Workspace& at(int place, const With&... with) {
        auto& workspace = workspaces_[static_cast<std::size_t>(place)];
        if (!workspace)
            workspace = std::make_unique<Workspace>(with...);
        return *workspace;
    }
    // Calls visit with all that were created.
    template <class Visit> void each(const Visit& visit) const {
        for (const auto& workspace : workspaces_)
            if (workspace)
                visit(*workspace);
    }

private:
    std::vector<std::unique_ptr<Workspace>> workspaces_;
};

} // namespace lowdim::detail
