// Density of a map: the logarithm of the local radius of a point, r_i = log(δ + Σ_j w_ij s_ij / Σ_j w_ij)
// over its edges, s the squared length in the map and w the similarity that the loss has (Narayan, Berger and
// Cho 2021, densMAP and den-SNE). Given the logarithms R of the local radii in the data, standardised, a map
// lowers its own loss less
//   W corr,  corr = (1/m) Σ_i R_i z_i,  z_i = (r_i − mean)/S,  S² = variance of r + shift,
// over the m points that have edges and may move, where W is `weight` times the sum of the values of their
// edges.
#pragma once

#include <lowdim/attraction.hpp>
#include <lowdim/falloff.hpp>
#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// How r depends on R in a map: z = (r − mean)/deviation, and corr.
struct Trend {
    double mean = 0, deviation = 0, correlation = 0;
};

struct Density {
    const float* radii = nullptr; // (n) R; null where density is not considered
    double weight = 0;
    double share = 0; // of the iterations, the last ones, in which it is
    double shift = 0;
    // Of the map whose points are pinned: those that move then lower −W/m Σ_i (R_i z_i − ½ corr z_i²), which
    // is how a point changes the correlation of many. With a deviation of 0 it is that of the points that
    // move.
    Trend trend = {};

    static constexpr double floor = 1e-4; // δ
    // Part of the stiffness Σ_j 2 |c_ij| of a point's forces Σ_j c_ij (y_i − y_j) by which its step is
    // shortened.
    static constexpr float damping = 1;
};

// The curve of UMAP, w = 1/(1 + a (s + ε)^b), or Student's falloff.
struct Similarity {
    Falloff falloff = {};
    double a = 0, b = 0; // a above 0: the curve
};

// Squares of the local radii in the data of the rows from `first` on, the mean of squared distances
// weighted by the values of their edges: out (rows − first) = Σ_j v_ij d_ij² / Σ_j v_ij. Lists (n − first ×
// k) of neighbours and their distances belong to these rows; an edge has its distance from the list of either
// end, and edges that neither list holds do not count.
template <class T>
void local_radii(const Affinities& V, const std::int32_t* neighbors, const T* distances, std::int64_t k,
                 std::int64_t first, double* out, int n_threads, Watch& watch);

// Logarithms r (n) of the local radii in a map, NaN of points without edges.
void map_radii(const Affinities& V, const float* Y, int k, const Similarity& similarity, float* out,
               int n_threads, Watch& watch);

// Gradient (n × k) of W corr at the map.
void density_gradient(const Affinities& V, const float* Y, int k, const Similarity& similarity,
                      const Density& density, float* gradient, int n_threads, Watch& watch);

} // namespace lowdim
