// The loss of UMAP as its sampling has it (Damrich and Hamprecht 2021), over ordered pairs of different rows:
//   L = Σ_ij −v_ij log w_ij − (c/2n) (d_i + d_j)/2 log(1 − w_ij),  w = 1/(1 + a (s + ε)^b),  d_i = Σ_j v_ij,
// s the squared distance in the map, c negatives for each edge, and ε, which keeps forces between coinciding
// points finite.
#pragma once

#include <lowdim/anchors.hpp>
#include <lowdim/attraction.hpp>
#include <lowdim/density.hpp>
#include <lowdim/descent.hpp>
#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

struct Curve {
    double a = 1, b = 1;
};

// The curve 1/(1 + a d^2b) nearest to 1 up to min_dist (0 … 1) and exp(min_dist − d) beyond, by least squares
// over 300 distances up to 3.
Curve fitted_curve(double min_dist);

// Random pairs without random access: points are in a random order, and a shift r pairs each point with those
// r positions later and earlier.
struct Shifts {
    const std::int32_t* order;  // (n): row at each place
    const std::int32_t* shifts; // (epochs × each), from 1 to n − 1
    std::int64_t each;
};

struct EpochPlan {
    Curve curve;
    double negatives = 5; // for each edge, c above
    double rate = 1; // of the first epoch; falls with the square of the epochs left, so that noise vanishes
    std::int64_t epochs = 200, every = 50;
    Anchors anchors = {}; // added to L; the map is then not centred
    Density density = {}; // its correlation is taken from L

    static constexpr double soft = 1e-3;         // ε
    static constexpr double crowd_soft = 0.0625; // the same between a new point and those that repel it
    static constexpr double cut = 4;             // longest force between two points in an epoch
    // All neighbours move at once, so a step is rate/(1 + damping rate stiffness) times the force. Momentum,
    // which decreases with the rate, lets clusters move although steps are damped.
    static constexpr float momentum = 0.9f, damping = 0.3f;
};

// Moves Y (V.rows × k) for so many epochs down the gradient of L, its second term by the pairs of that
// epoch's shifts, all points at once. Returns the epochs done. V must be symmetric. The loss reported is by
// the shifts of the epoch. The bits do not depend on n_threads; Y is unspecified when the watch was stopped.
std::int64_t lower_cross_entropy(const Affinities& V, float* Y, int k, const EpochPlan& plan,
                                 const Shifts& shifts, const Report& report, int n_threads, Watch& watch);

// The attraction of each point (n), Σ_j −v_ij log w_ij, and for each shift the mean over points of its
// repulsion, −½ (d_i + d_j)/2 log(1 − w_ij) with the partner that many positions later: the mean over all n −
// 1 shifts times c (n − 1) is the second term of L.
void cross_entropy(const Affinities& V, const float* Y, int k, const Curve& curve, const Shifts& shifts,
                   double* attraction, double* repulsion, int n_threads, Watch& watch);

// Gradient (n × k) of L by these shifts in both directions; by all of 1 … n − 1 it is that of L itself.
// Forces between two points are limited to `longest` per coordinate.
void cross_entropy_gradient(const Affinities& V, const float* Y, int k, const Curve& curve, double negatives,
                            const Shifts& shifts, double longest, float* gradient, int n_threads,
                            Watch& watch);

// Puts each new point where, in the box of its neighbours in the map Y (n × k), it finds the minimum of its
// own loss Σ_j −v_j log w_j − c d/2m Σ_s log(1 − w_s), d = Σ v_j, over the m points of a sample of the map,
// by steps that never raise it; with a density of new points and its trend in the map, less what they add to
// the correlation. No new point depends on another.
void place_new_cross_entropy(const NewPoints& new_points, const float* Y, std::int64_t n, int k,
                             const Curve& curve, double negatives, const Density& density,
                             const std::int32_t* sample, std::int64_t m, std::int64_t iterations, float* out,
                             int n_threads, Watch& watch);

} // namespace lowdim
