// Gradient descent of KL(P‖Q) over a map: momentum, gains, exaggeration; and the placing of new points.
#pragma once

#include <lowdim/anchors.hpp>
#include <lowdim/attraction.hpp>
#include <lowdim/density.hpp>
#include <lowdim/falloff.hpp>
#include <lowdim/repulsion.hpp>
#include <lowdim/watch.hpp>

#include <cstdint>
#include <functional>

namespace lowdim {

struct DescentPlan {
    Falloff falloff;
    Repel repel = Repel::exactly;
    double angle = 0.5, spacing = 0.4;
    double fine_spacing = 0.4; // without exaggeration: the forces' error shifts where points come to rest
    std::int64_t iterations = 750, exaggerated = 250; // at most; the first with P times `exaggeration`
    double exaggeration = 12;
    double late = 1;         // the same factor of the other iterations
    double rate = 0;         // of learning; 0 is a share of n / exaggeration, phase by phase
    std::int64_t every = 50; // iterations between reports
    double progress = 0;     // stop where 50 iterations lower the loss by less than this share
    Anchors anchors = {};    // added to KL; the map is then not centred
    Density density = {};    // its correlation is taken from KL, after the exaggeration
};

// Momentum, the step as a share of n / exaggeration, and the longest step. Student's maps bear momentum that
// grows to 0.9 at half the step, and get in 300 iterations where 0.8 and whole steps take 500; Gauss's narrow
// minima do not.
struct Pace {
    float momentum, share, longest;

    // `since` iterations after the exaggeration.
    static Pace at(Falloff::Kind kind, bool exaggerated, std::int64_t since);

    // Iterations between two looks at the progress, and at that of the exaggeration.
    static constexpr std::int64_t check_every = 50, check_early = 25;
    // Gain of check_early iterations, over the exaggeration, below which the clusters have gathered, and
    // below which nothing moves any more: surfaces, which unfold slowly, are waited for, but not longer than
    // this. The extent that a map has by then.
    static constexpr double gathered = 1.5e-2, settled = 1.5e-3;
    static constexpr std::int64_t longest_wait = 75;
    static constexpr float grown_map = 0.1f, smallest_map = 1e-7f;
    // What gains, the factors of the rate, add where a gradient keeps its direction, and lose where not.
    static constexpr float gain_up = 0.2f, gain_down = 0.8f, least_gain = 0.01f;
};

// How new points are sought: a step of length `still` ends the search, which starts again at the `starts`
// weightiest neighbours that lie more than `apart` from the position found. In a plane a step of Newton's
// method shorter than `sure` is the last, and neighbours of a share of the weights below `negligible` are
// left out.
struct Placing {
    static constexpr double still = 1e-5;
    static constexpr std::int64_t starts = 4;
    static constexpr float apart = 1.0f, sure = 3e-3f, negligible = 1e-6f;
};

// Called with the iterations done, KL(P‖Q) at the map and the map in the rows' order; true stops.
using Report = std::function<bool(std::int64_t done, double loss, const float* Y)>;

// Moves Y (P.rows × k) down the gradient Σ_j (p_ij − q_ij) a(s_ij) (y_i − y_j), a quarter of KL's, and
// returns the iterations done. P must be symmetric and sum to 1. Inside, rows are put in Morton order now and
// then. The bits do not depend on n_threads; Y is unspecified when the watch was stopped.
std::int64_t descend(const Affinities& P, float* Y, int k, const DescentPlan& plan, const Report& report,
                     int n_threads, Watch& watch);

// New rows: neighbours (m × near) in the map and their probabilities p (m × near).
struct NewPoints {
    const std::int32_t* neighbors;
    const float* p;
    std::int64_t rows, near;
};

// Places each new point in the box of its neighbours in the map Y (n × k), with the map fixed: from their
// weighted median and from the likeliest of them it lowers its own KL(p‖q), q_j = f(s_j)/φ(y), by steps that
// never raise it, and the lowest wins. φ is read from a grid in one or two dimensions and summed exactly in
// more. With a density of new points and its trend in the map, they lower their loss less what they add to
// the correlation. No new point depends on another.
void place(const NewPoints& new_points, const float* Y, std::int64_t n, int k, const Falloff& falloff,
           const Density& density, double spacing, std::int64_t iterations, float* out, int n_threads,
           Watch& watch);

} // namespace lowdim
