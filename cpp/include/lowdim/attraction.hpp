// Attraction within a map by sparse affinities: A_i = Σ_j p_ij a(s_ij) (y_i − y_j), with a = −f′/f.
#pragma once

#include <lowdim/falloff.hpp>
#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// Rows of P: row i holds values[starts[i] .. starts[i + 1] − 1] in the columns of the same places.
struct Affinities {
    const std::int64_t* starts; // (rows + 1)
    const std::int32_t* columns;
    const float* values;
    std::int64_t rows;
};

// forces (n × k) = A. A row is summed by one thread, in the same order whatever n_threads. Where rows start
// at multiples of 8 and are padded to them (entries of value 0), `padded` says so and a plane of floats goes
// faster.
template <class T>
void attract(const Affinities& P, const T* Y, int k, const Falloff& falloff, bool padded, T* forces,
             int n_threads, Watch& watch);

// costs (n) = Σ_j −p_ij log f(s_ij): with the entropy of P and log Z they make KL(P‖Q).
template <class T>
void attraction_costs(const Affinities& P, const T* Y, int k, const Falloff& falloff, double* costs,
                      int n_threads, Watch& watch);

// entropies (n) = Σ_j p_ij log p_ij.
void entropies(const Affinities& P, double* out, int n_threads, Watch& watch);

} // namespace lowdim
