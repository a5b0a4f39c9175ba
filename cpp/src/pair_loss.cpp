// The loss of PaCMAP, its gradient, and the places of new points.
#include "new_points.hpp"
#include "pair_forces.hpp"
#include "planar_places.hpp"

#include <algorithm>
#include <vector>

namespace lowdim {

using namespace detail;

void pair_loss(const Pairs& pairs, const float* Y, int k, const double weights[3], double local,
               double* points, float* gradient, int n_threads, Watch& watch) {
    Forces forces(pairs, Y, k, n_threads, watch);
    forces.at(kinds_of({weights[0], weights[1], weights[2]}, local), points,
              [&](std::int64_t from, std::int64_t to, const auto& force) {
                  for (std::int64_t i = from; i < to; ++i)
                      for (int d = 0; d < k; ++d)
                          gradient[forces.row(i) * k + d] = force(i, d);
              });
}

namespace {

// The mean of 1/(1 + d̃) over a sample of the map, d̃ = s + 1, times the number of further pairs. In the unit
// √2 it is that of Cauchy's falloff, ½/(1 + s/2).
class Crowd {
public:
    Crowd(const float* Y, std::int64_t n, int k, double further, const std::int32_t* sample, std::int64_t m,
          int n_threads, Watch& watch)
        : weight_(static_cast<float>(further / (2.0 * static_cast<double>(m)))), grid_({}, k, spacing) {
        std::vector<float> map(Y, Y + n * k), some(static_cast<std::size_t>(m * k));
        for (float& y : map)
            y *= unit;
        for (std::int64_t j = 0; j < m; ++j)
            std::copy_n(map.data() + static_cast<std::int64_t>(sample[j]) * k, k, some.data() + j * k);
        grid_.charge(some.data(), m, grid_.box_of(map.data(), n, n_threads, watch), n_threads, watch);
    }

    SecondOrder operator()(const float* y, float) const {
        const float place[2] = {unit * y[0], unit * y[1]};
        const SecondOrder phi = grid_.at(place);
        const float first = weight_ * unit, second = first * unit;
        return {weight_ * phi.value, first * phi.x,   first * phi.y,
                second * phi.xx,     second * phi.xy, second * phi.yy};
    }

private:
    static constexpr float unit = 0.70710678f;
    static constexpr double spacing = 0.42; // of the grid

    float weight_;
    Grid grid_;
};

} // namespace

void place_new_pairs(const NewPoints& new_points, const float* Y, std::int64_t n, int k, double further,
                     const std::int32_t* sample, std::int64_t m, std::int64_t iterations, float* out,
                     int n_threads, Watch& watch) {
    if (k <= 2) {
        const Crowd crowd(Y, n, k, further, sample, m, n_threads, watch);
        const PullLaw law{PullLaw::Kind::pair, static_cast<float>(near_shift),
                          static_cast<float>(near_shift + 1)};
        return place_in_plane(new_points, Y, k, iterations, law, crowd, out, n_threads, watch);
    }
    const auto push = pair_kernels(k).further;
    Aligned<float> columns(k * m);
    for (std::int64_t j = 0; j < m; ++j)
        for (int d = 0; d < k; ++d)
            columns[d * m + j] = Y[static_cast<std::int64_t>(sample[j]) * k + d];
    const auto look = [&](const std::int32_t* neighbors, const float* p, const float* y, float* step) {
        std::vector<double> pull(static_cast<std::size_t>(k), 0.0), force(static_cast<std::size_t>(k));
        double loss = 0, stiffness = 0;
        for (std::int64_t j = 0; j < new_points.near; ++j) {
            if (p[j] == 0)
                continue;
            const float* other = Y + static_cast<std::int64_t>(neighbors[j]) * k;
            double t = near_shift + 1;
            for (int d = 0; d < k; ++d)
                t += (static_cast<double>(y[d]) - other[d]) * (static_cast<double>(y[d]) - other[d]);
            const double factor = p[j] * 2 * near_shift / (t * t);
            loss += p[j] * (1 - near_shift / t);
            stiffness += factor;
            for (int d = 0; d < k; ++d)
                pull[static_cast<std::size_t>(d)] += factor * (static_cast<double>(other[d]) - y[d]);
        }
        const double weight = further / static_cast<double>(m);
        loss += weight * push(y, k, columns.data(), m, force.data());
        for (int d = 0; d < k; ++d)
            step[d] = static_cast<float>(
                (pull[static_cast<std::size_t>(d)] + weight * force[static_cast<std::size_t>(d)]) /
                std::max(stiffness, 1e-30));
        return loss;
    };
    place_new(new_points, Y, k, iterations, look, out, n_threads, watch);
}

} // namespace lowdim
