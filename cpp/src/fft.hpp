// Fourier transforms of sixteen sequences side by side, one in each lane of a vector.
#pragma once

#include "aligned.hpp"
#include "falloffs.hpp"

#include <cstdint>
#include <vector>

namespace lowdim::detail {

using Lanes = Wide<float>::Vector;
constexpr int side = Wide<float>::lanes;

struct Complexes {
    Lanes re, im;
};

// A length of the form 2ᵃ 3ᵇ 5ᶜ, even unless it is 1, and what its transform needs: radices, the first of
// them even, and exp(−2πi p/length).
class Plan {
public:
    explicit Plan(std::int64_t length = 1);
    [[nodiscard]] std::int64_t length() const { return length_; }
    // Smallest even length of that form that is at least n.
    static std::int64_t at_least(std::int64_t n);

    std::vector<int> radices;
    std::vector<float> cosines, sines;

private:
    std::int64_t length_;
};

} // namespace lowdim::detail
