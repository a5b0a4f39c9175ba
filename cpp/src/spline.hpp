// The B-spline by which points are spread over the nodes of a grid.
#pragma once

#include "grid.hpp"

#include <algorithm>

namespace lowdim::detail {

// Weights of the nodes about a point as polynomials of its place t within a cell, and their first and second
// derivatives.
struct Spline {
    static constexpr int terms = Grid::width, before = Grid::width / 2 - 1;
    float values[terms][8] = {}, slopes[terms][8] = {}, bends[terms][8] = {};

    Spline() {
        // Pieces of the B-spline of each order from those of the order before:
        // k M_{k+1}(x) = x M_k(x) + (k + 1 − x) M_k(x − 1).
        double pieces[terms][terms] = {{1.0}};
        for (int k = 1; k < terms; ++k) {
            double next[terms][terms] = {};
            for (int j = 0; j <= k; ++j)
                for (int power = 0; power < k; ++power) {
                    const double rising = j < k ? pieces[j][power] : 0,
                                 falling = j ? pieces[j - 1][power] : 0;
                    next[j][power] += (j * rising + (k + 1 - j) * falling) / k;
                    next[j][power + 1] += (rising - falling) / k;
                }
            std::copy(&next[0][0], &next[0][0] + terms * terms, &pieces[0][0]);
        }
        for (int node = 0; node < terms; ++node)
            for (int power = 0; power < terms; ++power) {
                const double c = pieces[terms - 1 - node][power];
                values[power][node] = static_cast<float>(c);
                if (power)
                    slopes[power - 1][node] = static_cast<float>(power * c);
                if (power > 1)
                    bends[power - 2][node] = static_cast<float>(power * (power - 1) * c);
            }
    }
};

} // namespace lowdim::detail
