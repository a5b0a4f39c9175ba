// The graph of UMAP: memberships of neighbours, and the fuzzy union of both directions.
#pragma once

#include <lowdim/affinities.hpp>
#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// Equation of the widths: Σ_j exp(−max(0, d_j − ρ)/σ) = target, ρ the distance at which `local`
// neighbours other than duplicates are reached (between two of them for a fraction).
struct Connectivity {
    double local = 1, target = 1;
    double typical = 0; // distance, for rows of duplicates, whose own mean is 0
};

// v (rows × k) = exp(−max(0, d − ρ_i)/σ_i), and ρ, σ (rows). σ is never below a thousandth of the row's mean
// distance (of the typical distance where ρ is 0), the row itself counted at 0.
template <class T>
void memberships(const NearDistances<T>& near, const Connectivity& by, float* v, float* rho, float* sigma,
                 int n_threads, Watch& watch);

// mix (a + b − ab) + (1 − mix) ab of v_{j|i} = a and v_{i|j} = b, in the order that symmetrize has. Rows and
// indices as there.
SparseRows fuzzy_union(const std::int32_t* indices, const float* v, std::int64_t n, std::int64_t k,
                       double mix, int n_threads, Watch& watch);

} // namespace lowdim
