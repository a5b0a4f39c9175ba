// New points of a fixed map of one or two dimensions, by Newton's method.
#pragma once

#include "aligned.hpp"
#include "chunks.hpp"
#include "pulls.hpp"

#include <lowdim/descent.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace lowdim::detail {

// As Placement, with second derivatives: crowd(y, degree) is the loss by what repels a new point whose
// weights sum to `degree`. A line is a plane whose points all lie at 0.
template <class Crowd> class PlanarPlacement {
public:
    PlanarPlacement(const float* Y, int k, std::int64_t near, std::int64_t iterations, const PullLaw& law,
                    const Crowd& crowd)
        : Y_(Y), k_(k), near_(near), iterations_(iterations), law_(law), crowd_(crowd), sums_(pull_sums(law)),
          middle_(weighted_middle()), x_(near + Pullers::lanes), y_(near + Pullers::lanes),
          p_(near + Pullers::lanes) {}

    void place(const std::int32_t* neighbors, const float* p, float* out) {
        take(neighbors, p);
        const Place median{middle_(x_.data(), p_.data(), pullers_.size, low_.x, high_.x),
                           k_ == 2 ? middle_(y_.data(), p_.data(), pullers_.size, low_.y, high_.y) : 0.0f};
        Place best = median;
        double least = descend(best);
        for (std::int64_t one : heaviest()) {
            if (one < 0 || near_to(best, one))
                continue;
            Place at{x_[one], y_[one]};
            if (const double loss = descend(at); loss < least) {
                least = loss;
                best = at;
            }
        }
        out[0] = best.x;
        if (k_ == 2)
            out[1] = best.y;
    }

private:
    struct Place {
        float x, y;
    };

    // Neighbours of some weight, in columns, and their box.
    void take(const std::int32_t* neighbors, const float* p) {
        degree_ = std::accumulate(p, p + near_, 0.0f);
        const float least = Placing::negligible * degree_;
        std::int64_t size = 0;
        for (std::int64_t j = 0; j < near_; ++j) {
            if (!(p[j] > least) && (size > 0 || j + 1 < near_)) // one at least
                continue;
            const float* other = Y_ + static_cast<std::int64_t>(neighbors[j]) * k_;
            x_[size] = other[0];
            y_[size] = k_ == 2 ? other[1] : 0.0f;
            p_[size++] = p[j];
        }
        low_ = {*std::min_element(x_.data(), x_.data() + size),
                *std::min_element(y_.data(), y_.data() + size)};
        high_ = {*std::max_element(x_.data(), x_.data() + size),
                 *std::max_element(y_.data(), y_.data() + size)};
        count_ = size;
        for (; size % Pullers::lanes; ++size) {
            x_[size] = x_[0];
            y_[size] = y_[0];
            p_[size] = 0;
        }
        pullers_ = {x_.data(), y_.data(), p_.data(), size};
    }

    // Those of largest weight, the earlier first among equals; −1 where there are fewer.
    [[nodiscard]] std::array<std::int64_t, Placing::starts> heaviest() const {
        std::array<std::int64_t, Placing::starts> of;
        of.fill(-1);
        for (std::int64_t j = 0; j < count_; ++j) {
            if (!(p_[j] > 0) || (of.back() >= 0 && p_[j] <= p_[of.back()]))
                continue;
            std::size_t at = of.size() - 1;
            for (; at > 0 && (of[at - 1] < 0 || p_[j] > p_[of[at - 1]]); --at)
                of[at] = of[at - 1];
            of[at] = j;
        }
        return of;
    }

    [[nodiscard]] bool near_to(const Place& a, std::int64_t j) const {
        const float x = a.x - x_[j], y = a.y - y_[j];
        return x * x + y * y <= Placing::apart * Placing::apart;
    }

    [[nodiscard]] SecondOrder look(const Place& at) const {
        const float y[2] = {at.x, at.y};
        SecondOrder pull;
        sums_(law_, pullers_, y, pull);
        const SecondOrder push = crowd_(y, degree_);
        return {pull.value + push.value, pull.x + push.x,   pull.y + push.y,
                pull.xx + push.xx,       pull.xy + push.xy, pull.yy + push.yy};
    }

    // Newton's step by the sizes of the curvatures, so that it goes down, along the sides of the box that the
    // loss presses against; true where the loss is a bowl.
    bool newton(const SecondOrder& at, const Place& from, Place& step) const {
        const bool x_held = (from.x <= low_.x && at.x > 0) || (from.x >= high_.x && at.x < 0);
        const bool y_held = (from.y <= low_.y && at.y > 0) || (from.y >= high_.y && at.y < 0);
        const float mean = 0.5f * (at.xx + at.yy), half = 0.5f * (at.xx - at.yy);
        const float radius = std::sqrt(half * half + at.xy * at.xy);
        const float floor = flattest * (std::abs(mean) + radius) + 1e-30f;
        const auto curved = [floor](float c) { return std::max(std::abs(c), floor); };
        if (x_held || y_held) {
            step = {x_held ? 0.0f : -at.x / curved(at.xx), y_held ? 0.0f : -at.y / curved(at.yy)};
            return (x_held || at.xx > floor) && (y_held || at.yy > floor);
        }
        // The larger eigenvalue has the direction (cos, sin) of half the angle of (half, xy).
        const float a = 1 / curved(mean + radius), b = 1 / curved(mean - radius);
        const float cosine = radius > 0 ? half / radius : 1.0f, sine = radius > 0 ? at.xy / radius : 0.0f;
        const float even = 0.5f * (a + b), odd = 0.5f * (a - b); // the inverse is even + odd (reflection)
        step = {-(even * at.x + odd * (cosine * at.x + sine * at.y)),
                -(even * at.y + odd * (sine * at.x - cosine * at.y))};
        return mean - radius > floor;
    }

    [[nodiscard]] Place inside(float x, float y) const {
        return {std::clamp(x, low_.x, high_.x), std::clamp(y, low_.y, high_.y)};
    }

    // Lowers the loss by steps that never increase it, but by rounding; returns it.
    double descend(Place& from) {
        SecondOrder here = look(from);
        for (std::int64_t turn = 0; turn < iterations_; ++turn) {
            Place step;
            const bool bowl = newton(here, from, step);
            for (float size = 1;; size /= 2) {
                if (!(std::abs(step.x) + std::abs(step.y) < farthest))
                    return here.value;
                const Place to = inside(from.x + size * step.x, from.y + size * step.y);
                const float dx = to.x - from.x, dy = to.y - from.y, length = dx * dx + dy * dy;
                if (length < Placing::still * Placing::still)
                    return here.value;
                if (bowl && length < Placing::sure * Placing::sure) { // where the next step would end
                    from = to;
                    return here.value + 0.5f * (here.x * dx + here.y * dy);
                }
                const SecondOrder there = look(to);
                if (there.value <= here.value) {
                    from = to;
                    here = there;
                    break;
                }
            }
        }
        return here.value;
    }

    static constexpr float flattest = 0.02f; // curvature, of the largest
    static constexpr float farthest = 1e30f; // a step, short of overflow

    const float* Y_;
    int k_;
    std::int64_t near_, iterations_;
    PullLaw law_;
    const Crowd& crowd_;
    PullSums sums_;
    Median middle_;
    Aligned<float> x_, y_, p_;
    Pullers pullers_{};
    std::int64_t count_ = 0;
    float degree_ = 0;
    Place low_{}, high_{};
};

template <class Crowd>
void place_in_plane(const NewPoints& of, const float* Y, int k, std::int64_t iterations, const PullLaw& law,
                    const Crowd& crowd, float* out, int n_threads, Watch& watch) {
    Workspaces<PlanarPlacement<Crowd>> workspaces(n_threads);
    each_chunk(of.rows, 64, n_threads, watch,
               [&](std::int64_t, std::int64_t from, std::int64_t to, int thread) {
                   auto& placement = workspaces.at(thread, Y, k, of.near, iterations, law, crowd);
                   for (std::int64_t i = from; i < to; ++i)
                       placement.place(of.neighbors + i * of.near, of.p + i * of.near, out + i * k);
                   watch.advance(to - from);
               });
}

} // namespace lowdim::detail
