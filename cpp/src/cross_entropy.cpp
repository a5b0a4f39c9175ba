// The loss of UMAP, its gradient, and the positions of new points.
#include "cross_entropy_forces.hpp"
#include "new_density.hpp"
#include "new_points.hpp"
#include "planar_places.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace lowdim {

using namespace detail;

void cross_entropy(const Affinities& V, const float* Y, int k, const Curve& curve, const Shifts& shifts,
                   double* attraction, double* repulsion, int n_threads, Watch& watch) {
    const Law law = law_of(curve, cut);
    const auto kernels = cross_entropy_kernels(k);
    const std::int64_t n = V.rows;
    const FilledRing filled(V, Y, k, shifts.order);
    each_chunk(n, ring_chunk, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
        kernels.pull_costs(V, Y, k, law, from, to, attraction);
    });
    each_chunk(shifts.each, 4, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
        for (std::int64_t s = from; s < to && !watch.stopped(); ++s)
            repulsion[s] =
                kernels.push_costs(filled.ring(), shifts.shifts[s], k, law, 0, n) / static_cast<double>(n);
        watch.advance(to - from);
    });
}

void cross_entropy_gradient(const Affinities& V, const float* Y, int k, const Curve& curve, double negatives,
                            const Shifts& shifts, double longest, float* gradient, int n_threads,
                            Watch& watch) {
    const Law law = law_of(curve, longest);
    const auto kernels = cross_entropy_kernels(k);
    const std::int64_t n = V.rows, stride = pull_stride(k);
    const FilledRing filled(V, Y, k, shifts.order);
    const Ring ring = filled.ring();
    std::vector<float> pulls(static_cast<std::size_t>(n * stride));
    Aligned<float> pushes(k * ring.stride);
    std::vector<std::int32_t> same(static_cast<std::size_t>(n));
    std::iota(same.begin(), same.end(), 0);
    GroupedGraph graph;
    graph.assign(V, kernels.group, same.data(), same.data(), n_threads, watch);
    const auto weight = static_cast<float>(negatives * static_cast<double>(n - 1) / static_cast<double>(n) /
                                           (2.0 * static_cast<double>(shifts.each)));
    each_chunk(n, ring_chunk, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
        kernels.pull(graph.rows(), Y, k, law, from, to, pulls.data());
        kernels.push(ring, shifts.shifts, shifts.each, k, law, from, to, pushes.data());
    });
    for (std::int64_t i = 0; i < n; ++i)
        for (int d = 0; d < k; ++d) {
            const std::int64_t row = shifts.order[i];
            gradient[row * k + d] =
                -pulls[static_cast<std::size_t>(row * stride + d)] - weight * pushes[d * ring.stride + i];
        }
}

namespace {

// Σ v times the mean of negatives/2 log(1 + 1/u) over a sample of the map, from a grid.
class Crowd {
public:
    Crowd(const float* Y, std::int64_t n, int k, const Curve& curve, double negatives,
          const std::int32_t* sample, std::int64_t m, int n_threads, Watch& watch)
        : weight_(static_cast<float>(negatives / (2.0 * static_cast<double>(m)))),
          grid_({Falloff::Kind::odds, 1.0, curve.a, curve.b, EpochPlan::crowd_soft}, k,
                spacing * std::sqrt(EpochPlan::crowd_soft)) {
        std::vector<float> some(static_cast<std::size_t>(m * k));
        for (std::int64_t j = 0; j < m; ++j)
            std::copy_n(Y + static_cast<std::int64_t>(sample[j]) * k, k, some.data() + j * k);
        grid_.charge(some.data(), m, grid_.box_of(Y, n, n_threads, watch), n_threads, watch);
    }

    SecondOrder operator()(const float* y, float degree) const {
        const SecondOrder phi = grid_.at(y);
        const float w = weight_ * degree;
        return {w * phi.value, w * phi.x, w * phi.y, w * phi.xx, w * phi.xy, w * phi.yy};
    }

private:
    static constexpr double spacing = 0.42; // of the grid, over the radius within which points repel less

    float weight_;
    Grid grid_;
};

} // namespace

void place_new_cross_entropy(const NewPoints& new_points, const float* Y, std::int64_t n, int k,
                             const Curve& curve, double negatives, const Density& density,
                             const std::int32_t* sample, std::int64_t m, std::int64_t iterations, float* out,
                             int n_threads, Watch& watch) {
    if (k <= 2 && !density.radii) {
        const Crowd crowd(Y, n, k, curve, negatives, sample, m, n_threads, watch);
        return place_in_plane(new_points, Y, k, iterations, PullLaw::of(curve), crowd, out, n_threads, watch);
    }
    Law law = law_of(curve, cut);
    law.soft = static_cast<float>(EpochPlan::crowd_soft);
    const auto push = cross_entropy_kernels(k).push_at;
    const std::int64_t size = (m + 15) / 16 * 16;
    Aligned<float> columns(k * size), counts(size);
    for (std::int64_t j = 0; j < size; ++j) {
        counts[j] = j < m ? 1.0f : 0.0f;
        for (int d = 0; d < k; ++d)
            columns[d * size + j] = Y[static_cast<std::int64_t>(sample[std::min(j, m - 1)]) * k + d];
    }
    const auto look = [&](const std::int32_t* neighbors, const float* v, const float* y, float* step) {
        std::vector<double> pull(static_cast<std::size_t>(k), 0.0), force(static_cast<std::size_t>(k));
        double loss = 0, stiffness = 0, degree = 0;
        NewDensity dense(density, k);
        for (std::int64_t j = 0; j < new_points.near; ++j) {
            const float* other = Y + static_cast<std::int64_t>(neighbors[j]) * k;
            double t = soft;
            for (int d = 0; d < k; ++d)
                t += (static_cast<double>(y[d]) - other[d]) * (static_cast<double>(y[d]) - other[d]);
            const double u = curve.a * std::pow(t, curve.b);
            const double factor = v[j] * 2 * curve.b * u / (t * (1 + u));
            loss += v[j] * std::log1p(u);
            degree += v[j];
            if (dense.any() && v[j] > 0)
                dense.add(t - soft, 1 / (1 + u), curve.b * u / (t * (1 + u)), other);
            stiffness += factor;
            for (int d = 0; d < k; ++d)
                pull[static_cast<std::size_t>(d)] += factor * (static_cast<double>(other[d]) - y[d]);
        }
        if (dense.any())
            loss += dense.finish(static_cast<std::size_t>((v - new_points.p) / new_points.near), degree, y,
                                 pull.data(), stiffness);
        const double weight = negatives * degree / (2.0 * static_cast<double>(m));
        loss += weight * push(y, k, columns.data(), counts.data(), size, law, force.data());
        for (int d = 0; d < k; ++d)
            step[d] = static_cast<float>(
                (pull[static_cast<std::size_t>(d)] + weight * force[static_cast<std::size_t>(d)]) /
                std::max(stiffness, 1e-30));
        return loss;
    };
    place_new(new_points, Y, k, iterations, look, out, n_threads, watch);
}

} // namespace lowdim
