// What the density of one new point adds to its own loss, −½ λ d (R z − ½ corr z²), z = (r − mean)/S: half of
// what it adds to W corr of the map, since its loss counts its edges once.
#pragma once

#include <lowdim/density.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace lowdim::detail {

class NewDensity {
public:
    NewDensity(const Density& plan, int k) : plan_(plan), k_(static_cast<std::size_t>(k)) {}

    [[nodiscard]] bool any() const { return plan_.radii && plan_.trend.deviation > 0; }

    void clear() {
        edges_.clear();
        above_ = below_ = 0;
    }

    // An edge of squared length s, with w and a = −w′/w there, to a neighbour at this place.
    void add(double s, double w, double a, const float* place) {
        edges_.push_back({s, w, a, place});
        above_ += w * s;
        below_ += w;
    }

    // The value for new point i at y of degree d; adds its forces and their stiffness.
    double finish(std::size_t i, double degree, const float* y, double* forces, double& stiffness) const {
        const auto R = static_cast<double>(plan_.radii[i]);
        if (std::isnan(R) || !(below_ > 0))
            return 0;
        const double square = above_ / below_, weight = 0.5 * plan_.weight * degree;
        const double z = (std::log(square + Density::floor) - plan_.trend.mean) / plan_.trend.deviation;
        const double slope = weight * (R - plan_.trend.correlation * z) / plan_.trend.deviation /
                             (below_ * (square + Density::floor));
        for (const Edge& edge : edges_) {
            const double c = 2 * slope * edge.w * ((1 - edge.a * edge.s) + edge.a * square);
            stiffness += std::abs(c);
            for (std::size_t d = 0; d < k_; ++d)
                forces[d] += c * (static_cast<double>(y[d]) - static_cast<double>(edge.place[d]));
        }
        return -weight * z * (R - 0.5 * plan_.trend.correlation * z);
    }

private:
    struct Edge {
        double s, w, a;
        const float* place;
    };
    Density plan_;
    std::size_t k_;
    std::vector<Edge> edges_;
    double above_ = 0, below_ = 0;
};

} // namespace lowdim::detail
