// The loss of PaCMAP, its gradient, and the places of new points.
#include "new_points.hpp"
#include "pair_forces.hpp"

#include <algorithm>
#include <vector>

namespace lowdim {

using namespace detail;

void pair_loss(const Pairs& pairs, const float* Y, int k, const double weights[3], double* points,
               float* gradient, int n_threads, Watch& watch) {
    Forces forces(pairs, Y, k, n_threads, watch);
    forces.at(kinds_of({weights[0], weights[1], weights[2]}), points,
              [&](std::int64_t from, std::int64_t to, const auto& force) {
                  for (std::int64_t i = from; i < to; ++i)
                      for (int d = 0; d < k; ++d)
                          gradient[forces.row(i) * k + d] = force(i, d);
              });
}

void place_new_pairs(const NewPoints& new_points, const float* Y, int k, double further,
                     const std::int32_t* sample, std::int64_t m, std::int64_t iterations, float* out,
                     int n_threads, Watch& watch) {
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
