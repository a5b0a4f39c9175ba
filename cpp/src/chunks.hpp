// Pieces of work shared among threads, of which the first keeps the watch.
#pragma once

#include <lowdim/watch.hpp>

#include <cstdint>

#include <omp.h>

namespace lowdim::detail {

// Runs piece(i) for i < count. Which thread runs a piece is left to chance, so pieces must not share sums.
template <class Piece> void each_piece(std::int64_t count, int n_threads, Watch& watch, const Piece& piece) {
    if (n_threads == 1 || count == 1) { // a team of threads costs more than a small piece
        for (std::int64_t i = 0; i < count && !watch.stopped(); ++i) {
            piece(i);
            watch.poll();
        }
        return;
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads)
    for (std::int64_t i = 0; i < count; ++i) {
        if (watch.stopped())
            continue;
        piece(i);
        if (omp_get_thread_num() == 0)
            watch.poll();
    }
}

// The same, and the watch is told `whole` in all.
template <class Piece>
void share(std::int64_t count, std::int64_t whole, int n_threads, Watch& watch, const Piece& piece) {
    each_piece(count, n_threads, watch, [&](std::int64_t i) {
        piece(i);
        watch.advance((i + 1) * whole / count - i * whole / count);
    });
}

// The same as each_piece over the items 0 … n − 1 in chunks of a fixed size: piece(chunk, first, last).
template <class Piece>
void each_chunk(std::int64_t n, std::int64_t size, int n_threads, Watch& watch, const Piece& piece) {
    each_piece((n + size - 1) / size, n_threads, watch,
               [&](std::int64_t c) { piece(c, c * size, c * size + size < n ? c * size + size : n); });
}

} // namespace lowdim::detail
