// Points drawn to anchors, as the descents have them in their own orders.
//
// A step h against the gradient c (y − a) is taken at its end, y' = y + v', which no weight makes unstable:
// v' = (v − h c (y − a)) / (1 + h c), with v the velocity without anchors. It is 0 where the gradients of
// loss and anchors cancel, and leads to the anchor itself as c grows.
#pragma once

#include <lowdim/anchors.hpp>
#include <lowdim/attraction.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace lowdim::detail {

inline bool is_pinned(float weight) { return !(weight <= std::numeric_limits<float>::max()); }

// The gradient of anchors at a map is 2 factor w (y − scale a), their cost is that of points that may move.
struct Pull {
    float scale = 1, factor = 1;
    double cost = 0;
};

// Summed in the order of the points.
template <class Place, class Anchor, class Weight>
Pull pull_of(std::int64_t n, int k, bool scaled, const Place& y, const Anchor& a, const Weight& w) {
    double both = 0, own = 0, size = 0, total = 0, apart = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        if (is_pinned(w(i)))
            continue;
        const auto weight = static_cast<double>(w(i));
        double dot = 0, square = 0, length = 0, gap = 0;
        for (int d = 0; d < k; ++d) {
            const auto from = static_cast<double>(y(i, d)), to = static_cast<double>(a(i, d));
            dot += from * to;
            square += to * to;
            length += from * from;
            gap += (from - to) * (from - to);
        }
        both += weight * dot;
        own += weight * square;
        size += weight * length;
        apart += weight * gap;
        total += weight;
    }
    if (!scaled)
        return {1, 1, apart};
    if (!(own > 0))
        return {1, 0, 0};
    // f = (S − C²/A) / (S + W): its gradient is 2 w (1 − f)/(S + W) (y − C/(A (1 − f)) a).
    const double share = (size - both * both / own) / (size + total);
    return {static_cast<float>(both / own / (1 - share)),
            static_cast<float>(total * (1 - share) / (size + total)), total * share};
}

// Affinities without the rows of pinned points, whose forces nobody needs.
class FreeRows {
public:
    FreeRows(const Affinities& P, const Anchors& anchors) : rows_(P) {
        pinned_ = anchors.places && std::any_of(anchors.weights, anchors.weights + P.rows, is_pinned);
        if (!pinned_)
            return;
        starts_.reserve(static_cast<std::size_t>(P.rows) + 1);
        starts_.push_back(0);
        for (std::int64_t i = 0; i < P.rows; ++i) {
            if (!is_pinned(anchors.weights[i])) {
                columns_.insert(columns_.end(), P.columns + P.starts[i], P.columns + P.starts[i + 1]);
                values_.insert(values_.end(), P.values + P.starts[i], P.values + P.starts[i + 1]);
            }
            starts_.push_back(static_cast<std::int64_t>(columns_.size()));
        }
        rows_ = {starts_.data(), columns_.data(), values_.data(), P.rows};
    }
    FreeRows(const FreeRows&) = delete;
    FreeRows& operator=(const FreeRows&) = delete;

    [[nodiscard]] const Affinities& rows() const { return rows_; }
    [[nodiscard]] bool pinned() const { return pinned_; } // whether any point is

private:
    bool pinned_;
    std::vector<std::int64_t> starts_;
    std::vector<std::int32_t> columns_;
    std::vector<float> values_;
    Affinities rows_;
};

} // namespace lowdim::detail
