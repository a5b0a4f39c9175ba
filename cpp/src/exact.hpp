// The field of a map by exact sums.
#pragma once

#include "aligned.hpp"

#include <lowdim/falloff.hpp>

#include <cstdint>

namespace lowdim::detail {

// Keeps the points Y (n × k) coordinate by coordinate, as vectors read them.
template <class T> class ExactField {
public:
    ExactField(const T* Y, std::int64_t n, int k, const Falloff& falloff);
    // Adds Σ_j f a (q − y_j) to forces (k) and returns what φ(q) gains, over one tile of the points.
    double at(const T* q, std::int64_t tile, double* forces) const;
    [[nodiscard]] std::int64_t tiles() const;

private:
    Aligned<T> planes_;
    std::int64_t stride_;
    int k_;
    Falloff falloff_;
};

} // namespace lowdim::detail
