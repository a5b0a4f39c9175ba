// Plans of the transforms.
#include "fft.hpp"

#include <cmath>
#include <numbers>
#include <utility>

namespace lowdim::detail {

Plan::Plan(std::int64_t length)
    : cosines(static_cast<std::size_t>(length)), sines(static_cast<std::size_t>(length)), length_(length) {
    for (int radix : {4, 2, 3, 5})
        for (; length % radix == 0; length /= radix)
            radices.push_back(radix);
    // Even ones first and last: there half of the values may be zero, or not be wanted.
    if (radices.size() > 2)
        std::swap(radices[1], radices.back());
    for (std::size_t p = 0; p < cosines.size(); ++p) {
        const double angle = -2 * std::numbers::pi * static_cast<double>(p) / static_cast<double>(length_);
        cosines[p] = static_cast<float>(std::cos(angle));
        sines[p] = static_cast<float>(std::sin(angle));
    }
}

std::int64_t Plan::at_least(std::int64_t n) {
    for (n += n % 2;; n += 2) {
        std::int64_t rest = n;
        for (int radix : {2, 3, 5})
            while (rest % radix == 0)
                rest /= radix;
        if (rest == 1)
            return n;
    }
}

} // namespace lowdim::detail
