// Work in pieces, dealt to threads as they come free.
#pragma once

#include <lowdim/watch.hpp>

#include <cstdint>

#include <omp.h>

namespace lowdim {

// Runs piece(i) for i < count on n_threads; the first thread keeps the watch, which is told `whole` in all.
template <class Piece>
void share(std::int64_t count, std::int64_t whole, int n_threads, Watch& watch, const Piece& piece) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads)
    for (std::int64_t i = 0; i < count; ++i) {
        if (watch.stopped())
            continue;
        piece(i);
        watch.advance((i + 1) * whole / count - i * whole / count);
        if (omp_get_thread_num() == 0)
            watch.poll();
    }
}

} // namespace lowdim
