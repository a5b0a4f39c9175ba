// The loss of PaCMAP over fixed pairs, d̃ = ‖y_i − y_j‖² + 1:
//   near Σ d̃/(10 + d̃) + mid Σ d̃/(10000 + d̃) + further Σ 1/(1 + d̃),
// minimised by Adam on all pairs at once in three phases of weights, and the placement of new points.
#pragma once

#include <lowdim/anchors.hpp>
#include <lowdim/descent.hpp>
#include <lowdim/watch.hpp>

#include <array>
#include <cstdint>

namespace lowdim {

// Partners (n × each) of every row, of one kind.
struct Partners {
    const std::int32_t* rows;
    std::int64_t each;
};

// Further pairs without random access: rows are in a random order, and each shift r pairs every row with the
// one r positions later, except for those `excluded` (two rows each).
struct PairRing {
    const std::int32_t *order, *shifts, *excluded;
    std::int64_t n_shifts, n_excluded;
};

struct Pairs {
    Partners near, mid, further;
    PairRing ring; // more further pairs
    std::int64_t n;
};

struct PairPlan {
    static constexpr double near_shift = 10, mid_shift = 10000; // in d̃/(shift + d̃)
    static constexpr float decay = 0.9f, decay_squares = 0.999f, least_square_root = 1e-7f; // of Adam
    std::int64_t iterations = 450, every = 50;
    double rate = 1;
    bool phased = true;   // otherwise all iterations have the last weights
    Anchors anchors = {}; // added to the loss; the map is then not centred
    // LocalMAP (Wang, Sun, Huang and Rudin 2025), 0 without: in the last phase near pairs are weighted by
    // half of this over √d̃, and each row's further partners, so many, are drawn again among those within this
    // distance in the map.
    double local = 0;
    std::int64_t further = 0;
    std::uint64_t seed = 0;
    static constexpr std::int64_t again = 10,
                                  tries = 100; // iterations between draws; rows tried for a partner
};

// Weights of near, middle and further pairs in an iteration.
std::array<double, 3> pair_weights(std::int64_t done, const PairPlan& plan);

// Rate of Adam in an iteration, the correction of its moments included. Steps of the last phase are short,
// because the second moments remember the large gradients of the first; without phases the rate falls to 0
// instead, so that the map comes to rest.
double pair_rate(std::int64_t done, const PairPlan& plan);

// Moves Y (n × k) and returns the iterations done. The first two ninths of the iterations attract mid-near
// rows with decreasing weight (from 1000 to 3; near 2, further 1), the next two have weights 3, 3 and 1, the
// rest 1 (near), 0 (middle) and 1 (further). Losses are reported with the last weights. The bits do not
// depend on n_threads; Y is unspecified when the watch was stopped.
std::int64_t lower_pairs(const Pairs& pairs, float* Y, int k, const PairPlan& plan, const Report& report,
                         int n_threads, Watch& watch);

// Draws each row's further partners again: of random rows, `tries` at most, the first that is neither near
// nor drawn already and lies within `plan.local` in the map Y (n × k); where there is none, the partner stays
// that of `before`, or the row itself without. Rows that are their own near partner keep theirs. The bits do
// not depend on n_threads.
void draw_local(const Partners& near, const Partners& before, const float* Y, std::int64_t n, int k,
                const PairPlan& plan, std::int64_t round, std::int32_t* out, int n_threads, Watch& watch);

// Half the loss of its pairs, for each point (n), with the given weights of the three kinds, and the gradient
// (n × k) of the whole. With `local` near pairs cost local/2 (√d̃/(10 + d̃) + arctan(√(d̃/10))/√10).
void pair_loss(const Pairs& pairs, const float* Y, int k, const double weights[3], double local,
               double* points, float* gradient, int n_threads, Watch& watch);

// Puts each new point where, in the box of its neighbours in the map Y (n × k), it finds the minimum of
// Σ_j p_j d̃_j/(10 + d̃_j) + further times the mean of 1/(1 + d̃) over a sample of the map, by steps that never
// raise it. No new point depends on another.
void place_new_pairs(const NewPoints& new_points, const float* Y, std::int64_t n, int k, double further,
                     const std::int32_t* sample, std::int64_t m, std::int64_t iterations, float* out,
                     int n_threads, Watch& watch);

} // namespace lowdim
