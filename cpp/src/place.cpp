// New points of a map by SNE or t-SNE that stays as it is.
#include "exact.hpp"
#include "falloffs.hpp"
#include "grid.hpp"
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

// In more dimensions attraction makes a Newton-like step by its own curvature Σ p a, repulsion by the same.
void place_in_space(const NewPoints& new_points, const float* Y, std::int64_t n, int k,
                    const Falloff& falloff, std::int64_t iterations, float* out, int n_threads,
                    Watch& watch) {
    const detail::ExactField<float> field(Y, n, k, falloff);
    detail::with_falloff<float>(falloff, [&](const auto& f) {
        const auto look = [&](const std::int32_t* neighbors, const float* p, const float* y, float* step) {
            std::vector<double> pull(static_cast<std::size_t>(k), 0.0),
                push(static_cast<std::size_t>(k), 0.0);
            double loss = 0, curvature = 0, phi = 0;
            for (std::int64_t j = 0; j < new_points.near; ++j) {
                const float* other = Y + static_cast<std::int64_t>(neighbors[j]) * k;
                const float s = detail::square_apart(y, other, k);
                const double weight = static_cast<double>(p[j]) * f.pull(s);
                curvature += weight;
                loss += static_cast<double>(p[j]) * f.cost(s);
                for (int d = 0; d < k; ++d)
                    pull[static_cast<std::size_t>(d)] += weight * (static_cast<double>(y[d]) - other[d]);
            }
            for (std::int64_t tile = 0; tile < field.tiles(); ++tile)
                phi += field.at(y, tile, push.data());
            phi = std::max(phi, 1e-30);
            for (std::size_t d = 0; d < pull.size(); ++d)
                step[d] = static_cast<float>((push[d] / phi - pull[d]) / std::max(curvature, 1e-30));
            return loss + std::log(phi);
        };
        detail::place_new(new_points, Y, k, iterations, look, out, n_threads, watch);
    });
}

} // namespace

void place(const NewPoints& new_points, const float* Y, std::int64_t n, int k, const Falloff& falloff,
           double spacing, std::int64_t iterations, float* out, int n_threads, Watch& watch) {
    if (k > 2)
        return place_in_space(new_points, Y, n, k, falloff, iterations, out, n_threads, watch);
    const Crowd crowd(Y, n, k, falloff, spacing, n_threads, watch);
    detail::place_in_plane(new_points, Y, k, iterations, detail::PullLaw::of(falloff), crowd, out, n_threads,
                           watch);
}

} // namespace lowdim
