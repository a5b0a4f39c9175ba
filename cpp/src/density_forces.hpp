// The correlation of densities in a descent: its forces, for points in the descent's own order.
#pragma once

#include "cross_entropy_forces.hpp"

#include <lowdim/density.hpp>

#include <cstdint>
#include <vector>

namespace lowdim::detail {

enum class SimilarityKind { curve, cauchy, student };

// What the kernels know of a similarity: the curve of UMAP, or (1 + s/dof)^−power.
struct Fall {
    SimilarityKind kind;
    Law law;
    float dof, power;
};

struct DensityKernels {
    int group; // entries that a row of Padded is filled up to
    void (*sum)(const Padded&, const float* Y, int k, const Fall&, std::int64_t from, std::int64_t to,
                float* sums);
    void (*force)(const Padded&, const float* Y, int k, const Fall&, const float* nodes, float scale,
                  float stiffening, std::int64_t from, std::int64_t to, float* forces);
};

class DensityForces {
public:
    // `rows` are those of points that may move; others have none. Rows without edges or radius do not count.
    DensityForces(const Density& plan, const Affinities& rows, const Similarity& similarity, int k);

    [[nodiscard]] int group() const { return kernels_.group; }

    // Whether iteration `done` of so many is one of the last ones, in which density is considered.
    [[nodiscard]] bool on(std::int64_t done, std::int64_t iterations) const {
        return plan_.radii &&
               static_cast<double>(done + 1) > (1 - plan_.share) * static_cast<double>(iterations);
    }
    [[nodiscard]] bool any() const { return plan_.radii != nullptr; }

    // Point order[i] becomes point i.
    void reorder(const std::int32_t* order);

    // Adds `scale` times the gradient of W corr at y (n × k), and `stiffening` times its stiffness, to
    // `forces` (n × pull_stride). The graph is in the order of the points.
    void add(const Padded& graph, const float* y, float scale, float stiffening, float* forces, int n_threads,
             Watch& watch);

    // r (n), NaN of points that do not count.
    void radii(const Padded& graph, const float* y, float* out, int n_threads, Watch& watch);

private:
    void weigh(const Trend& trend, double each, const float* r, std::int64_t from, std::int64_t to);
    [[nodiscard]] bool counts(std::int64_t i, const float* r) const;

    Density plan_;
    std::int64_t n_, count_ = 0; // points, and those that may move
    int k_;
    Fall fall_;
    DensityKernels kernels_;
    double total_ = 0, middle_ = 0;       // Σ v over their edges, and the mean of R
    std::vector<float> radii_;            // R less its mean, in the order of the points
    std::vector<float> sums_, nodes_, r_; // N and D, A and B, r
};

} // namespace lowdim::detail
