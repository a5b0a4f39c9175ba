// New points of a map by SNE or t-SNE that stays as it is.
#include "exact.hpp"
#include "falloffs.hpp"
#include "grid.hpp"
#include "new_points.hpp"

#include <lowdim/descent.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace lowdim {
namespace {

constexpr double margin = 10; // of the grid about the map, in units of the falloff

// The field of the map at one point: from the grid where it reaches, else summed.
class Field {
public:
    Field(const float* Y, std::int64_t n, int k, const Falloff& falloff, double spacing, int n_threads,
          Watch& watch)
        : k_(k), gridded_(k <= 2), grid_(falloff, k, spacing, margin), sums_(Y, n, k, falloff) {
        if (gridded_)
            grid_.charge(Y, n, grid_.box_of(Y, n, n_threads, watch), n_threads, watch);
    }

    // φ(y), and −½∇φ in `force`.
    double at(const float* y, float* force) {
        if (gridded_ && grid_.covers(y)) {
            Watch unwatched;
            return grid_.read(y, 1, force, nullptr, 1, unwatched);
        }
        double phi = 0;
        std::vector<double> sums(static_cast<std::size_t>(k_), 0.0);
        for (std::int64_t tile = 0; tile < sums_.tiles(); ++tile)
            phi += sums_.at(y, tile, sums.data());
        std::transform(sums.begin(), sums.end(), force, [](double sum) { return static_cast<float>(sum); });
        return phi;
    }

private:
    int k_;
    bool gridded_;
    detail::Grid grid_;
    detail::ExactField<float> sums_;
};

} // namespace

void place(const NewPoints& new_points, const float* Y, std::int64_t n, int k, const Falloff& falloff,
           double spacing, std::int64_t iterations, float* out, int n_threads, Watch& watch) {
    Field field(Y, n, k, falloff, spacing, n_threads, watch);
    detail::with_falloff<float>(falloff, [&](const auto& f) {
        // Attraction makes a Newton-like step by its own curvature Σ p a, repulsion by the same.
        const auto look = [&](const std::int32_t* neighbors, const float* p, const float* y, float* step) {
            std::vector<double> pull(static_cast<std::size_t>(k), 0.0);
            double loss = 0, curvature = 0;
            for (std::int64_t j = 0; j < new_points.near; ++j) {
                const float* other = Y + static_cast<std::int64_t>(neighbors[j]) * k;
                const float s = detail::square_apart(y, other, k);
                const double weight = static_cast<double>(p[j]) * f.pull(s);
                curvature += weight;
                loss += static_cast<double>(p[j]) * f.cost(s);
                for (int d = 0; d < k; ++d)
                    pull[static_cast<std::size_t>(d)] += weight * (static_cast<double>(y[d]) - other[d]);
            }
            const double phi = std::max(field.at(y, step), 1e-30);
            for (int d = 0; d < k; ++d)
                step[d] = static_cast<float>((step[d] / phi - pull[static_cast<std::size_t>(d)]) /
                                             std::max(curvature, 1e-30));
            return loss + std::log(phi);
        };
        detail::place_new(new_points, Y, k, iterations, look, out, n_threads, watch);
    });
}

} // namespace lowdim
