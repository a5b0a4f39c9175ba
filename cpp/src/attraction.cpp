// Attraction: memory is read once, in order, and the points of a row lie near each other in a map that was
// put in Morton order.
#include "chunks.hpp"
#include "falloffs.hpp"

#include <lowdim/attraction.hpp>
#include <lowdim/isa.hpp>

#include <cstring>
#include <type_traits>
#include <vector>

namespace lowdim {
namespace {

constexpr std::int64_t chunk = 512;

namespace generic {
#define LOWDIM_TARGET
#include "attraction.inl"
#undef LOWDIM_TARGET
} // namespace generic

#if LOWDIM_X86
namespace avx2 {
#define LOWDIM_TARGET __attribute__((target("avx2,fma")))
#include "attraction.inl"
#undef LOWDIM_TARGET
} // namespace avx2
#endif

template <bool constant> auto pull_kernel() {
#if LOWDIM_X86
    if (isa() >= Isa::avx2)
        return avx2::pull_rows<constant>;
#endif
    return generic::pull_rows<constant>;
}

auto log_kernel() {
#if LOWDIM_X86
    if (isa() >= Isa::avx2)
        return avx2::logs;
#endif
    return generic::logs;
}

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
void attract(const Affinities& P, const T* Y, int k, const Falloff& falloff, bool padded, T* forces,
             int n_threads, Watch& watch) {
    if constexpr (std::is_same_v<T, float>) {
        if (padded && k == 2) {
            const bool constant = falloff.kind == Falloff::Kind::gauss;
            const bool student = falloff.kind == Falloff::Kind::student;
            const auto factor = static_cast<float>(student ? (falloff.dof + 1) / 2 : 1);
            const auto shift = static_cast<float>(student ? falloff.dof : 1);
            const auto kernel = constant ? pull_kernel<true>() : pull_kernel<false>();
            detail::each_chunk(P.rows, chunk, n_threads, watch,
                               [&](std::int64_t, std::int64_t from, std::int64_t to) {
                                   kernel(P, Y, factor, shift, from, to, forces);
                               });
            return;
        }
    }
    detail::with_falloff<T>(falloff, [&](const auto& f) {
        detail::each_chunk(P.rows, chunk, n_threads, watch,
                           [&](std::int64_t, std::int64_t from, std::int64_t to) {
                               pull_rows(f, P, Y, k, from, to, forces);
                           });
    });
}

template <class T>
void attraction_costs(const Affinities& P, const T* Y, int k, const Falloff& falloff, double* costs,
                      int n_threads, Watch& watch) {
    const auto logs = log_kernel();
    detail::with_falloff<T>(falloff, [&](const auto& f) {
        using F = std::decay_t<decltype(f)>;
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
                    // The common case by vectors; float64 and other falloffs one by one.
                    if constexpr (std::is_same_v<F, detail::Cauchy<float>>) {
                        for (float& s : terms)
                            s += 1.0f;
                        logs(terms.data(), size);
                    } else {
                        for (T& s : terms)
                            s = f.cost(s);
                    }
                    double sum = 0;
                    for (std::int64_t e = 0; e < size; ++e)
                        sum += static_cast<double>(P.values[start + e]) * terms[static_cast<std::size_t>(e)];
                    costs[i] = sum;
                }
            });
    });
}

void entropies(const Affinities& P, double* out, int n_threads, Watch& watch) {
    const auto logs = log_kernel();
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

template void attract(const Affinities&, const float*, int, const Falloff&, bool, float*, int, Watch&);
template void attract(const Affinities&, const double*, int, const Falloff&, bool, double*, int, Watch&);
template void attraction_costs(const Affinities&, const float*, int, const Falloff&, double*, int, Watch&);
template void attraction_costs(const Affinities&, const double*, int, const Falloff&, double*, int, Watch&);

} // namespace lowdim
