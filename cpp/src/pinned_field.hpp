// Repulsion of points that move by points that never do: the field of the latter is computed once, and read
// where the former are.
#pragma once

#include "grid.hpp"

#include <lowdim/repulsion.hpp>

#include <cstdint>
#include <vector>

namespace lowdim::detail {

class PinnedField {
public:
    PinnedField(Repel how, int k, const Falloff& falloff, double spacing);

    // Forces on the first `moving` of n points (n × k), by all others; `repel` is that of points that all
    // move. Returns Z of all points. Pinned ones, the rest of Y, must be the same in each call, in any order.
    double operator()(Repulsion& repel, const float* Y, std::int64_t moving, std::int64_t n, float* forces,
                      int n_threads, Watch& watch);

    // From now on the grid has cells of this size.
    void refine(double spacing) {
        grid_.refine(spacing);
        charged_ = false;
    }

private:
    bool reach(const float* Y, std::int64_t moving, std::int64_t n, int n_threads, Watch& watch);

    Repel how_;
    int k_;
    Falloff falloff_;
    Grid grid_;
    Grid::Box box_{}; // that the grid covers
    bool charged_ = false, measured_ = false;
    double among_ = 0; // Z of the pinned points
    std::vector<float> forces_;
    std::vector<double> phi_;
};

} // namespace lowdim::detail
