// Memory for vectors.
#pragma once

#include <cstdint>
#include <vector>

namespace lowdim::detail {

// Memory on the boundary of a vector, zero at first.
template <class T> class Aligned {
public:
    explicit Aligned(std::int64_t size = 0) { resize(size); }
    void resize(std::int64_t size) {
        room_.assign(static_cast<std::size_t>((size * static_cast<std::int64_t>(sizeof(T)) + 63) / 64),
                     Block{});
    }
    // As many elements as were asked for, or a few more.
    [[nodiscard]] std::int64_t size() const {
        return static_cast<std::int64_t>(room_.size() * 64 / sizeof(T));
    }
    T* data() { return reinterpret_cast<T*>(room_.data()); }
    [[nodiscard]] const T* data() const { return reinterpret_cast<const T*>(room_.data()); }
    T& operator[](std::int64_t i) { return data()[i]; }

private:
    struct alignas(64) Block {
        unsigned char bytes[64];
    };
    std::vector<Block> room_;
};

} // namespace lowdim::detail
