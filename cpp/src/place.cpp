// New points of a map by SNE or t-SNE that stays as it is.
#include "exact.hpp"
#include "falloffs.hpp"
#include "grid.hpp"
#include "new_density.hpp"
#include "new_points.hpp"
#include "planar_places.hpp"

#include <lowdim/descent.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace lowdim {
namespace {

// log φ(y) of the map about a point, from a grid.
class Crowd {
public:
    Crowd(const float* Y, std::int64_t n, int k, const Falloff& falloff, double spacing, int n_threads,
          Watch& watch)
        : grid_(falloff, k, spacing) {
        grid_.charge(Y, n, grid_.box_of(Y, n, n_threads, watch), n_threads, watch);
    }

    detail::SecondOrder operator()(const float* y, float) const {
        const detail::SecondOrder phi = grid_.at(y);
        if (!(phi.value > least))
            return {std::log(least)};
        const float inverse = 1 / phi.value, x = phi.x * inverse, up = phi.y * inverse;
        return {std::log(phi.value),       x, up, phi.xx * inverse - x * x, phi.xy * inverse - x * up,
                phi.yy * inverse - up * up};
    }

private:
    static constexpr float least = 1e-5f; // φ below this is the grid's rounding
    detail::Grid grid_;
};

// Attraction makes a Newton-like step by its own curvature Σ p a, repulsion by the same. repel(y, push) gives
// log φ(y) and, in `push`, minus half its gradient.
template <class Repel>
void place_by_steps(const NewPoints& new_points, const float* Y, int k, const Falloff& falloff,
                    const Density& density, std::int64_t iterations, const Repel& repel, float* out,
                    int n_threads, Watch& watch) {
    detail::with_falloff<float>(falloff, [&](const auto& f) {
        const auto look = [&](const std::int32_t* neighbors, const float* p, const float* y, float* step) {
            std::vector<double> pull(static_cast<std::size_t>(k), 0.0),
                push(static_cast<std::size_t>(k), 0.0);
            double loss = 0, curvature = 0, degree = 0;
            detail::NewDensity dense(density, k);
            for (std::int64_t j = 0; j < new_points.near; ++j) {
                const float* other = Y + static_cast<std::int64_t>(neighbors[j]) * k;
                const float s = detail::square_apart(y, other, k);
                const double weight = static_cast<double>(p[j]) * f.pull(s);
                curvature += weight;
                loss += static_cast<double>(p[j]) * f.cost(s);
                for (int d = 0; d < k; ++d)
                    pull[static_cast<std::size_t>(d)] += weight * (static_cast<double>(y[d]) - other[d]);
                degree += static_cast<double>(p[j]);
                if (dense.any() && p[j] > 0)
                    dense.add(static_cast<double>(s), static_cast<double>(f.value(s)),
                              static_cast<double>(f.pull(s)), other);
            }
            loss += repel(y, push.data());
            if (dense.any()) { // pull is half the gradient, and so is what this takes from it
                double stiffness = 0;
                std::vector<double> forces(static_cast<std::size_t>(k), 0.0);
                loss += dense.finish(static_cast<std::size_t>((p - new_points.p) / new_points.near), degree,
                                     y, forces.data(), stiffness);
                curvature += 0.5 * stiffness;
                for (std::size_t d = 0; d < forces.size(); ++d)
                    pull[d] -= 0.5 * forces[d];
            }
            for (std::size_t d = 0; d < pull.size(); ++d)
                step[d] = static_cast<float>((push[d] - pull[d]) / std::max(curvature, 1e-30));
            return loss;
        };
        detail::place_new(new_points, Y, k, iterations, look, out, n_threads, watch);
    });
}

} // namespace

void place(const NewPoints& new_points, const float* Y, std::int64_t n, int k, const Falloff& falloff,
           const Density& density, double spacing, std::int64_t iterations, float* out, int n_threads,
           Watch& watch) {
    if (k > 2) {
        const detail::ExactField<float> field(Y, n, k, falloff);
        const auto repel = [&](const float* y, double* push) {
            double phi = 0;
            for (std::int64_t tile = 0; tile < field.tiles(); ++tile)
                phi += field.at(y, tile, push);
            phi = std::max(phi, 1e-30);
            for (int d = 0; d < k; ++d)
                push[d] /= phi;
            return std::log(phi);
        };
        return place_by_steps(new_points, Y, k, falloff, density, iterations, repel, out, n_threads, watch);
    }
    const Crowd crowd(Y, n, k, falloff, spacing, n_threads, watch);
    if (!density.radii)
        return detail::place_in_plane(new_points, Y, k, iterations, detail::PullLaw::of(falloff), crowd, out,
                                      n_threads, watch);
    const auto repel = [&](const float* y, double* push) {
        const detail::SecondOrder phi = crowd(y, 1);
        push[0] = -0.5 * static_cast<double>(phi.x);
        if (k == 2)
            push[1] = -0.5 * static_cast<double>(phi.y);
        return static_cast<double>(phi.value);
    };
    place_by_steps(new_points, Y, k, falloff, density, iterations, repel, out, n_threads, watch);
}

} // namespace lowdim
