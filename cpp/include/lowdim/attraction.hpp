// Attraction within a map by sparse affinities: A_i = Σ_j p_ij a(s_ij) (y_i − y_j), with a = −f′/f.
#pragma once

#include <lowdim/falloff.hpp>
#include <lowdim/watch.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace lowdim {

// Rows of P: row i holds values[starts[i] .. starts[i + 1] − 1] in the columns at the same positions.
struct Affinities {
    const std::int64_t* starts; // (rows + 1)
    const std::int32_t* columns;
    const float* values;
    std::int64_t rows;
};

// forces (n × k) = A. A row is summed by one thread, in the same order for any n_threads.
template <class T>
void attract(const Affinities& P, const T* Y, int k, const Falloff& falloff, T* forces, int n_threads,
             Watch& watch);

// The same affinities for a line (k = 1) or a plane of floats, in some order and half the memory, since
// attraction is limited by reading it: 16 bits of each value (a relative error of 2⁻⁹ at most, of either
// sign) and of each column, in groups of 8 that share the rest of the column. Short groups end in entries of
// value 0.
class PackedAffinities {
public:
    // Row order[i] of P becomes row i; place[row] is its index.
    void assign(const Affinities& P, const std::int32_t* order, const std::int32_t* place, int n_threads,
                Watch& watch);
    void attract(const float* Y, int k, const Falloff& falloff, float* forces, int n_threads,
                 Watch& watch) const;
    // attraction_costs of these rows, with the error of their values.
    void costs(const float* Y, int k, const Falloff& falloff, double* out, int n_threads, Watch& watch) const;

    struct Rows {
        const std::int64_t* starts; // (count + 1), in groups
        const std::int32_t* bases;
        const std::uint16_t *columns, *values;
        std::int64_t count;
    };

private:
    [[nodiscard]] Rows rows() const {
        return {starts_.data(), bases_.get(), columns_.get(), values_.get(),
                static_cast<std::int64_t>(starts_.size()) - 1};
    }

    std::vector<std::int64_t> starts_;
    std::int64_t room_ = 0; // groups
    std::unique_ptr<std::int32_t[]> bases_;
    std::unique_ptr<std::uint16_t[]> columns_, values_;
};

// costs (n) = Σ_j −p_ij log f(s_ij): with the entropy of P and log Z they make KL(P‖Q).
template <class T>
void attraction_costs(const Affinities& P, const T* Y, int k, const Falloff& falloff, double* costs,
                      int n_threads, Watch& watch);

// entropies (n) = Σ_j p_ij log p_ij.
void entropies(const Affinities& P, double* out, int n_threads, Watch& watch);

} // namespace lowdim
