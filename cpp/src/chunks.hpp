// Sharing of work among threads: pieces that threads take one after another.
#pragma once

#include "team.hpp"

#include <lowdim/watch.hpp>

#include <algorithm>
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
