// New points of a fixed map: where each starts, and how it is moved.
#pragma once

#include "chunks.hpp"

#include <lowdim/descent.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace lowdim::detail {

// The value at which half the weight lies below, of the points in coordinate d.
inline float weighted_median(const std::int32_t* neighbors, const float* p, std::int64_t near, const float* Y,
                             int k, int d, std::vector<std::int64_t>& order) {
    order.resize(static_cast<std::size_t>(near));
    std::iota(order.begin(), order.end(), 0);
    const auto at = [&](std::int64_t j) { return Y[static_cast<std::int64_t>(neighbors[j]) * k + d]; };
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return at(a) < at(b); });
    const double half = 0.5 * std::accumulate(p, p + near, 0.0);
    double sum = 0;
    for (std::int64_t j : order)
        if ((sum += p[j]) >= half)
            return at(j);
    return at(order.back());
}

inline float square_apart(const float* a, const float* b, int k) {
    float s = 0;
    for (int d = 0; d < k; ++d)
        s += (a[d] - b[d]) * (a[d] - b[d]);
    return s;
}

// Positions of new points, one after another. look(neighbors, p, y, step) gives the loss at y and where a
// step of unit length would take it. A new point whose neighbours lie in several clusters has a loss that is
// flat between them: so it starts at their weighted median and at those of largest weight, keeps the position
// of the smallest loss, and stays in the bounding box of its neighbours.
template <class Look> class Placement {
public:
    Placement(const float* Y, int k, std::int64_t near, std::int64_t iterations, const Look& look)
        : Y_(Y), k_(static_cast<std::size_t>(k)), near_(near), iterations_(iterations), look_(look), low_(k_),
          high_(k_), y_(k_), best_(k_), step_(k_), next_(k_), step_next_(k_) {}

    void place(const std::int32_t* neighbors, const float* p, float* out) {
        neighbors_ = neighbors, p_ = p;
        fit_box();
        for (std::size_t d = 0; d < k_; ++d)
            best_[d] = weighted_median(neighbors, p, near_, Y_, dims(), static_cast<int>(d), order_);
        double least = descend(best_);
        order_.resize(static_cast<std::size_t>(near_));
        std::iota(order_.begin(), order_.end(), 0);
        std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return p[a] > p[b]; });
        for (std::int64_t j = 0; j < std::min(Placing::starts, near_); ++j) {
            const std::int64_t one = order_[static_cast<std::size_t>(j)];
            if (p[one] == 0 ||
                square_apart(place_of(one), best_.data(), dims()) <= Placing::apart * Placing::apart)
                continue;
            y_.assign(place_of(one), place_of(one) + k_);
            if (const double loss = descend(y_); loss < least) {
                least = loss;
                best_.swap(y_);
            }
        }
        std::copy(best_.begin(), best_.end(), out);
    }

private:
    [[nodiscard]] int dims() const { return static_cast<int>(k_); }

    [[nodiscard]] const float* place_of(std::int64_t j) const {
        return Y_ + static_cast<std::int64_t>(neighbors_[j]) * static_cast<std::int64_t>(k_);
    }

    void fit_box() {
        bool first = true;
        for (std::int64_t j = 0; j < near_; ++j) {
            if (p_[j] == 0 && (j + 1 < near_ || !first)) // one at least
                continue;
            for (std::size_t d = 0; d < k_; ++d) {
                low_[d] = first ? place_of(j)[d] : std::min(low_[d], place_of(j)[d]);
                high_[d] = first ? place_of(j)[d] : std::max(high_[d], place_of(j)[d]);
            }
            first = false;
        }
    }

    // Lowers the loss of y by steps that never increase it; returns it.
    double descend(std::vector<float>& y) {
        double loss = look_(neighbors_, p_, y.data(), step_.data());
        float size = 1;
        for (std::int64_t turn = 0; turn < iterations_; ++turn) {
            for (std::size_t d = 0; d < k_; ++d)
                next_[d] = std::clamp(y[d] + size * step_[d], low_[d], high_[d]);
            if (static_cast<double>(square_apart(next_.data(), y.data(), dims())) <
                Placing::still * Placing::still)
                break;
            const double there = look_(neighbors_, p_, next_.data(), step_next_.data());
            if (there <= loss) {
                loss = there;
                y.swap(next_);
                step_.swap(step_next_);
                size = std::min(1.0f, 2 * size);
            } else {
                size /= 2;
            }
        }
        return loss;
    }

    const float* Y_;
    std::size_t k_;
    std::int64_t near_, iterations_;
    const Look& look_;
    const std::int32_t* neighbors_ = nullptr;
    const float* p_ = nullptr;
    std::vector<float> low_, high_, y_, best_, step_, next_, step_next_;
    std::vector<std::int64_t> order_;
};

template <class Look>
void place_new(const NewPoints& new_points, const float* Y, int k, std::int64_t iterations, const Look& look,
               float* out, int n_threads, Watch& watch) {
    each_chunk(new_points.rows, 16, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
        Placement<Look> placement(Y, k, new_points.near, iterations, look);
        for (std::int64_t i = from; i < to && !watch.stopped(); ++i) {
            placement.place(new_points.neighbors + i * new_points.near, new_points.p + i * new_points.near,
                            out + i * k);
            watch.advance(1);
        }
    });
}

} // namespace lowdim::detail
