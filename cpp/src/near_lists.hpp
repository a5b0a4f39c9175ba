// The neighbours that rows have met, as lists in order.
#pragma once

#include "aligned.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace lowdim::detail {

// A neighbour: its key in the upper half, in an order that whole numbers keep, then its row, then whether it
// was found in the last round.
using Entry = std::uint64_t;
constexpr Entry no_entry = ~Entry{0};

inline Entry entry(float key, std::int32_t row, bool fresh) {
    const auto bits = std::bit_cast<std::uint32_t>(key);
    return static_cast<Entry>(bits ^ (bits >> 31 ? 0xFFFFFFFFU : 0x80000000U)) << 32 |
           static_cast<Entry>(static_cast<std::uint32_t>(row)) << 1 | (fresh ? 1U : 0U);
}
inline std::int32_t row_of(Entry e) { return static_cast<std::int32_t>((e & 0xFFFFFFFFU) >> 1); }
inline bool is_fresh(Entry e) { return e & 1; }
inline float key_of(Entry e) {
    const auto bits = static_cast<std::uint32_t>(e >> 32);
    return std::bit_cast<float>(bits >> 31 ? bits ^ 0x80000000U : ~bits);
}
inline float limit_of(Entry last) {
    return last == no_entry ? std::numeric_limits<float>::max() : key_of(last);
}

// The nearest `keep` that each row has met, nearest first.
class Lists {
public:
    Lists(std::int64_t count, std::int64_t keep) : keep_(keep), entries_(count * keep) {}
    std::int64_t keep() const { return keep_; }
    Entry* of(std::int64_t i) const { return entries_.data() + i * keep_; }
    float limit(std::int64_t i) const { return limit_of(of(i)[keep_ - 1]); }

private:
    std::int64_t keep_;
    Aligned<Entry> entries_;
};

// list becomes the first of what it has and what was met, which is overwritten.
inline void join(Entry* list, std::int64_t keep, std::vector<Entry>& met, std::vector<Entry>& room) {
    if (static_cast<std::int64_t>(met.size()) > 2 * keep) {
        std::nth_element(met.begin(), met.begin() + keep, met.end());
        met.resize(static_cast<std::size_t>(keep));
    }
    std::sort(met.begin(), met.end());
    room.resize(static_cast<std::size_t>(keep));
    const Entry *a = list, *b = met.data(), *end_a = list + keep, *end_b = b + met.size();
    std::int64_t out = 0;
    while (out < keep) {
        if (b == end_b || (a != end_a && *a >> 1 <= *b >> 1)) {
            b += b != end_b && *a >> 1 == *b >> 1;
            room[static_cast<std::size_t>(out++)] = *a++;
        } else {
            room[static_cast<std::size_t>(out++)] = *b++;
        }
    }
    std::copy(room.begin(), room.end(), list);
}

// Rows seen by a row, as a table with open addresses.
class Seen {
public:
    Seen() : slots_(size, -1) {}
    bool add(std::int32_t row) {
        std::uint32_t at = static_cast<std::uint32_t>(row) * 0x9E3779B1U >> (32 - bits);
        while (slots_[at] != row) {
            if (slots_[at] < 0) {
                slots_[at] = row;
                used_.push_back(at);
                return true;
            }
            at = (at + 1) & (size - 1);
        }
        return false;
    }
    void clear() {
        for (const std::uint32_t at : used_)
            slots_[at] = -1;
        used_.clear();
    }

private:
    static constexpr int bits = 12;
    static constexpr std::uint32_t size = 1U << bits; // several times what a row may meet
    std::vector<std::int32_t> slots_;
    std::vector<std::uint32_t> used_;
};

} // namespace lowdim::detail
