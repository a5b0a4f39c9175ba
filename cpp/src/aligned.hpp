// The aligned buffer of the kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace lowdim::detail {

// Memory that begins on a line of the cache, since vectors that straddle two lines take twice as long; on
// huge pages where it is large, since first access costs a fault per page. It is not cleared, so that threads
// may be the first to touch what they will read.
template <class T> class Aligned {
public:
    Aligned() = default;
    explicit Aligned(std::int64_t size) : size_((size + items - 1) / items * items) {
        const std::size_t bytes = static_cast<std::size_t>(size_) * sizeof(T);
        const std::align_val_t alignment{bytes < huge ? line : huge};
        data_ = {static_cast<T*>(::operator new(bytes, alignment)), Free{alignment}};
#if defined(__linux__)
        if (bytes >= huge)
            (void)madvise(data_.get(), bytes / huge * huge,
                          MADV_HUGEPAGE); // advice: no harm where it is refused
#endif
    }
    T* data() const { return data_.get(); }
    T& operator[](std::int64_t i) const { return data()[i]; }
    // In whole lines: as many elements as were asked for, or a few more.
    [[nodiscard]] std::int64_t size() const { return size_; }

private:
    static constexpr std::size_t line = 64, huge = std::size_t{1} << 21;
    static constexpr std::int64_t items = sizeof(T) < line ? line / sizeof(T) : 1;
    struct Free {
        std::align_val_t alignment;
        void operator()(T* p) const { ::operator delete(p, alignment); }
    };
    std::int64_t size_ = 0;
    std::unique_ptr<T, Free> data_{nullptr, Free{std::align_val_t{line}}};
};

} // namespace lowdim::detail
