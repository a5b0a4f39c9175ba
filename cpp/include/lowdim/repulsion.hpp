// Repulsion within a map: F_i = Σ_j f(s_ij) a(s_ij) (y_i − y_j) = −½∇φ(y_i) with φ(y) = Σ_j f(‖y − y_j‖²) and
// a = −f′/f, and the normaliser Z = Σ_{i≠j} f(s_ij).
#pragma once

#include <lowdim/falloff.hpp>
#include <lowdim/watch.hpp>

#include <cstdint>
#include <memory>

namespace lowdim {

// Sums over all points Y (n × k, any k) at the points Q (m × k): forces (m × k) and phi (m), which counts a
// point that is also in Y. Each row is summed in the same order for any n_threads.
template <class T>
void repel_exactly(const T* Q, std::int64_t m, const T* Y, std::int64_t n, int k, const Falloff& falloff,
                   T* forces, double* phi, int n_threads, Watch& watch);

enum class Repel { exactly, by_tree, by_grid };

// A repulsion method with its workspace, kept between iterations. The tree (1 to 3 dimensions) treats cells
// as one charge where their side is below `angle` times their distance; the grid (1 or 2) has cells of
// `spacing`.
class Repulsion {
public:
    virtual ~Repulsion() = default;
    // Fills forces (n × k) and, unless null, phi (n), which counts the point itself; returns Z. The bits do
    // not depend on n_threads.
    virtual double operator()(const float* Y, std::int64_t n, float* forces, float* phi, int n_threads,
                              Watch& watch) = 0;
    // From now on a grid has cells of this size.
    virtual void refine(double) {}
};

std::unique_ptr<Repulsion> make_repulsion(Repel how, int k, const Falloff& falloff, double angle,
                                          double spacing);

} // namespace lowdim
