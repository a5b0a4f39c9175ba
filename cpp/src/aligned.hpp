// The aligned buffer of the kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace lowdim::detail {

constexpr std::size_t huge_page = std::size_t{1} << 21;

// Asks for huge pages, since first access costs a fault per page, for which threads wait in turn.
inline void advise_huge([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
    const auto from = (reinterpret_cast<std::uintptr_t>(data) + huge_page - 1) / huge_page * huge_page;
    const auto to = (reinterpret_cast<std::uintptr_t>(data) + bytes) / huge_page * huge_page;
    if (from < to) // advice: no harm where it is refused
        (void)madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
#endif
}

// Returns freed memory to the system. glibc keeps blocks of up to 32 MB for itself, in pieces that larger
// ones cannot use.
inline void release_freed() {
#if defined(__GLIBC__)
    (void)malloc_trim(0);
#endif
}

// An array that is not cleared, on huge pages where it is large.
template <class T> std::unique_ptr<T[]> large_array(std::int64_t size) {
    std::unique_ptr<T[]> out(new T[static_cast<std::size_t>(size)]);
    advise_huge(out.get(), static_cast<std::size_t>(size) * sizeof(T));
    return out;
}

// Memory that begins on a line of the cache, since vectors that straddle two lines take twice as long; on
// huge pages where it is large. It is not cleared, so that threads may be the first to touch what they will
// read.
template <class T> class Aligned {
public:
    Aligned() = default;
    explicit Aligned(std::int64_t size) : size_((size + items - 1) / items * items) {
        const std::size_t bytes = static_cast<std::size_t>(size_) * sizeof(T);
        const std::align_val_t alignment{bytes < huge_page ? line : huge_page};
        data_ = {static_cast<T*>(::operator new(bytes, alignment)), Free{alignment}};
        advise_huge(data_.get(), bytes);
    }
    T* data() const { return data_.get(); }
    T& operator[](std::int64_t i) const { return data()[i]; }
    // In whole lines: as many elements as were asked for, or a few more.
    [[nodiscard]] std::int64_t size() const { return size_; }

private:
    static constexpr std::size_t line = 64;
    static constexpr std::int64_t items = sizeof(T) < line ? line / sizeof(T) : 1;
    struct Free {
        std::align_val_t alignment;
        void operator()(T* p) const { ::operator delete(p, alignment); }
    };
    std::int64_t size_ = 0;
    std::unique_ptr<T, Free> data_{nullptr, Free{std::align_val_t{line}}};
};

// Room for `size` elements and for more to come, whose memory is not taken before it is used: a map grows for
// hundreds of iterations, and a buffer just large enough would leave holes of all sizes behind.
template <class T> void reserve(Aligned<T>& buffer, std::int64_t size) {
    if (size <= buffer.size())
        return;
    buffer = Aligned<T>(); // first
    buffer = Aligned<T>(2 * size);
}

} // namespace lowdim::detail
