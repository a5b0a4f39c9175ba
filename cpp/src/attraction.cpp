// Attraction: memory is read once, in order, and the points of a row lie near each other in a map that was
// put in Morton order.
#include "aligned.hpp"
#include "chunks.hpp"
#include "falloffs.hpp"
#include "instructions.hpp"
#include "two_fours.hpp"

#include <lowdim/attraction.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <vector>

namespace lowdim {
namespace {

constexpr std::int64_t chunk = 512;

#define LOWDIM_KERNEL "attraction.inl"
#include "each_isa.inl"

// The upper half of a positive float, rounded to the nearest.
std::uint16_t upper_half(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

// a(s) = factor/(s + shift) and −log f(s) = factor log(1 + s/shift); for Gauss's falloff 1 and s.
struct PackedLaw {
    bool constant;
    float factor = 1, shift = 1;
    explicit PackedLaw(const Falloff& of) : constant(of.kind == Falloff::Kind::gauss) {
        if (of.kind == Falloff::Kind::student) {
            factor = static_cast<float>((of.dof + 1) / 2);
            shift = static_cast<float>(of.dof);
        }
    }
};

template <class T, class F>
void pull_rows(const F& f, const Affinities& P, const T* Y, int k, std::int64_t from, std::int64_t to,
               T* forces) {
    std::vector<T> step(static_cast<std::size_t>(k)), sums(static_cast<std::size_t>(k));
    for (std::int64_t i = from; i < to; ++i) {
        std::fill(sums.begin(), sums.end(), T(0));
        for (std::int64_t e = P.starts[i]; e < P.starts[i + 1]; ++e) {
            const T* other = Y + static_cast<std::int64_t>(P.columns[e]) * k;
            T s = 0;
            for (std::size_t d = 0; d < step.size(); ++d) {
                step[d] = Y[i * k + static_cast<std::int64_t>(d)] - other[d];
                s += step[d] * step[d];
            }
            const T weight = static_cast<T>(P.values[e]) * f.pull(s);
            for (std::size_t d = 0; d < step.size(); ++d)
                sums[d] += weight * step[d];
        }
        std::copy(sums.begin(), sums.end(), forces + i * k);
    }
}

} // namespace

template <class T>
void attract(const Affinities& P, const T* Y, int k, const Falloff& falloff, T* forces, int n_threads,
             Watch& watch) {
    detail::with_falloff<T>(falloff, [&](const auto& f) {
        detail::each_chunk(P.rows, chunk, n_threads, watch,
                           [&](std::int64_t, std::int64_t from, std::int64_t to) {
                               pull_rows(f, P, Y, k, from, to, forces);
                           });
    });
}

void PackedAffinities::assign(const Affinities& P, const std::int32_t* order, const std::int32_t* place,
                              int n_threads, Watch& watch) {
    const auto pages = static_cast<std::size_t>(P.rows >> 16) + 1; // columns that share their upper bits
    starts_.assign(static_cast<std::size_t>(P.rows) + 1, 0);
    // Entries of each page of row i, by which the groups are first counted and then filled.
    const auto count = [&](std::int64_t row, std::vector<std::int64_t>& sizes) {
        sizes.assign(pages, 0);
        for (std::int64_t e = P.starts[row]; e < P.starts[row + 1]; ++e)
            ++sizes[static_cast<std::size_t>(place[P.columns[e]] >> 16)];
    };
    detail::each_chunk(P.rows, chunk, n_threads, watch,
                       [&](std::int64_t, std::int64_t from, std::int64_t to) {
                           std::vector<std::int64_t> sizes;
                           for (std::int64_t i = from; i < to; ++i) {
                               count(order[i], sizes);
                               for (std::int64_t size : sizes)
                                   starts_[static_cast<std::size_t>(i) + 1] += (size + 7) / 8;
                           }
                       });
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    if (starts_.back() > room_) { // another order pads other groups
        room_ = starts_.back() + starts_.back() / 32;
        bases_.reset(); // before the others are taken
        columns_.reset();
        values_.reset();
        bases_ = detail::large_array<std::int32_t>(room_);
        columns_ = detail::large_array<std::uint16_t>(8 * room_);
        values_ = detail::large_array<std::uint16_t>(8 * room_);
    }
    detail::each_chunk(
        P.rows, chunk, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
            std::vector<std::int64_t> sizes, next(pages);
            for (std::int64_t i = from; i < to; ++i) {
                const std::int64_t row = order[i];
                count(row, sizes);
                std::int64_t group = starts_[static_cast<std::size_t>(i)];
                for (std::size_t page = 0; page < pages; ++page) {
                    next[page] = 8 * group;
                    for (std::int64_t rest = sizes[page]; rest > 0; rest -= 8, ++group) {
                        bases_[static_cast<std::size_t>(group)] = static_cast<std::int32_t>(page << 16);
                        std::fill_n(columns_.get() + 8 * group, 8, std::uint16_t{0});
                        std::fill_n(values_.get() + 8 * group, 8, std::uint16_t{0});
                    }
                }
                for (std::int64_t e = P.starts[row]; e < P.starts[row + 1]; ++e) {
                    const std::int32_t column = place[P.columns[e]];
                    const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(column >> 16)]++);
                    columns_[at] = static_cast<std::uint16_t>(column & 0xFFFF);
                    values_[at] = upper_half(P.values[e]);
                }
            }
        });
}

void PackedAffinities::attract(const float* Y, int k, const Falloff& falloff, float* forces, int n_threads,
                               Watch& watch) const {
    const PackedLaw law(falloff);
    const auto pull =
        k == 1 ? (law.constant ? LOWDIM_PICK(pull_packed<1, true>) : LOWDIM_PICK(pull_packed<1, false>))
               : (law.constant ? LOWDIM_PICK(pull_packed<2, true>) : LOWDIM_PICK(pull_packed<2, false>));
    detail::each_chunk(rows().count, chunk, n_threads, watch,
                       [&](std::int64_t, std::int64_t from, std::int64_t to) {
                           pull(rows(), Y, law.factor, law.shift, from, to, forces);
                       });
}

void PackedAffinities::costs(const float* Y, int k, const Falloff& falloff, double* out, int n_threads,
                             Watch& watch) const {
    const PackedLaw law(falloff);
    const auto cost =
        k == 1 ? (law.constant ? LOWDIM_PICK(cost_packed<1, true>) : LOWDIM_PICK(cost_packed<1, false>))
               : (law.constant ? LOWDIM_PICK(cost_packed<2, true>) : LOWDIM_PICK(cost_packed<2, false>));
    detail::each_chunk(rows().count, chunk, n_threads, watch,
                       [&](std::int64_t, std::int64_t from, std::int64_t to) {
                           cost(rows(), Y, law.shift, from, to, out);
                           for (std::int64_t i = from; i < to; ++i)
                               out[i] *= static_cast<double>(law.factor);
                       });
}

namespace {

// Squared lengths become costs: the common case by vectors; float64 and other falloffs one by one.
void to_costs(const detail::Cauchy<float>&, std::vector<float>& terms) {
    for (float& s : terms)
        s += 1.0f;
    LOWDIM_PICK(logs)(terms.data(), static_cast<std::int64_t>(terms.size()));
}

template <class F, class T> void to_costs(const F& f, std::vector<T>& terms) {
    for (T& s : terms)
        s = f.cost(s);
}

} // namespace

template <class T>
void attraction_costs(const Affinities& P, const T* Y, int k, const Falloff& falloff, double* costs,
                      int n_threads, Watch& watch) {
    detail::with_falloff<T>(falloff, [&](const auto& f) {
        detail::each_chunk(
            P.rows, chunk, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
                std::vector<T> terms;
                for (std::int64_t i = from; i < to; ++i) {
                    const std::int64_t start = P.starts[i], size = P.starts[i + 1] - start;
                    terms.resize(static_cast<std::size_t>(size));
                    for (std::int64_t e = 0; e < size; ++e) {
                        const T* other = Y + static_cast<std::int64_t>(P.columns[start + e]) * k;
                        T s = 0;
                        for (int d = 0; d < k; ++d) {
                            const T step = Y[i * k + d] - other[d];
                            s += step * step;
                        }
                        terms[static_cast<std::size_t>(e)] = s;
                    }
                    to_costs(f, terms);
                    double sum = 0;
                    for (std::int64_t e = 0; e < size; ++e)
                        sum += static_cast<double>(P.values[start + e]) * terms[static_cast<std::size_t>(e)];
                    costs[i] = sum;
                }
            });
    });
}

void entropies(const Affinities& P, double* out, int n_threads, Watch& watch) {
    const auto logs = LOWDIM_PICK(logs);
    detail::each_chunk(
        P.rows, chunk, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
            std::vector<float> terms;
            for (std::int64_t i = from; i < to; ++i) {
                const float *first = P.values + P.starts[i], *last = P.values + P.starts[i + 1];
                terms.assign(first, last);
                for (float& p : terms) // log needs a positive number, and 0 log 0 is 0
                    p = p > 0 ? p : 1.0f;
                logs(terms.data(), last - first);
                double sum = 0;
                for (std::size_t e = 0; e < terms.size(); ++e)
                    sum += static_cast<double>(first[e]) * terms[e];
                out[i] = sum;
            }
        });
}

template void attract(const Affinities&, const float*, int, const Falloff&, float*, int, Watch&);
template void attract(const Affinities&, const double*, int, const Falloff&, double*, int, Watch&);
template void attraction_costs(const Affinities&, const float*, int, const Falloff&, double*, int, Watch&);
template void attraction_costs(const Affinities&, const double*, int, const Falloff&, double*, int, Watch&);

} // namespace lowdim
