// The field of a wide map of few points: pairs that lie near each other, and a coarse grid for all others.
#pragma once

#include "grid.hpp"

#include <cstdint>
#include <vector>

namespace lowdim::detail {

// Where most cells of a grid would be empty, the near part of 1/(1 + s) takes less time pair by pair than on
// cells fine enough for it, and is exact. Points stand by strip of the plane, and from left to right in it,
// so that those within reach of one are three rows of numbers. The bits do not depend on n_threads.
class Nearby {
public:
    Nearby();

    // Puts n points (n × 2) in their box in order; false where their pairs take longer than that many cells
    // of a grid.
    bool arrange(const float* Y, std::int64_t n, const Grid::Box& box, double cells);

    // forces = −½∇φ (n × 2) and, unless null, phi (n) at those points; returns Σφ.
    double operator()(const float* Y, std::int64_t n, const Grid::Box& box, float* forces, float* phi,
                      int n_threads, Watch& watch);

    // Where a point finds others.
    struct Rows {
        const float *x, *y;
        const std::int32_t *points, *starts; // the latter of each bin of each strip
        std::int64_t strips, bins;
    };

private:
    [[nodiscard]] Rows rows() const;

    Grid far_;
    std::int64_t strips_ = 0, bins_ = 0; // bins of each strip, and one that is empty
    std::vector<std::int32_t> starts_, places_, bin_of_, points_;
    std::vector<float> planes_; // x, then y
};

} // namespace lowdim::detail
