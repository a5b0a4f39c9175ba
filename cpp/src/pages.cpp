#include <lowdim/pages.hpp>

#include "aligned.hpp"
#include "chunks.hpp"

#include <algorithm>

namespace lowdim {

void touch_pages(void* data, std::size_t bytes, int n_threads, Watch& watch) {
    constexpr std::size_t page = 4096;
    if (bytes == 0)
        return;
    const auto first = reinterpret_cast<std::uintptr_t>(data), last = first + bytes;
    const std::uintptr_t from = first / detail::huge_page * detail::huge_page;
    const auto count = static_cast<std::int64_t>((last - from + detail::huge_page - 1) / detail::huge_page);
    detail::each_piece(count, n_threads, watch, [&](std::int64_t piece) {
        const std::uintptr_t start = from + static_cast<std::size_t>(piece) * detail::huge_page;
        for (std::uintptr_t at = start; at < start + detail::huge_page; at += page)
            if (const std::uintptr_t byte = std::max(at, first); byte < last && byte < at + page)
                *reinterpret_cast<volatile char*>(byte) = 0;
    });
}

} // namespace lowdim
