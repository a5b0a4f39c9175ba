// Rows are shared among threads in fixed chunks. Squared distances of a row are taken relative to the
// smallest and divided by their mean, so that float32 holds them in any units.
#include "aligned.hpp"
#include "chunks.hpp"
#include "falloffs.hpp"
#include "instructions.hpp"

#include <lowdim/affinities.hpp>
#include <lowdim/fuzzy.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace lowdim {
namespace {

constexpr std::int64_t chunk = 256;
constexpr std::int64_t sliced = 1 << 22; // neighbours of all rows from which rows are merged in slices
constexpr float beyond = 1e30f; // above any entry of a row, and short of overflow when multiplied by beta
constexpr float negligible = 1e-18f; // beside the nearest neighbour; keeps denormal numbers out of the forces
constexpr double widest = 40;        // |log beta| up to which it is searched, in units of the mean

struct Sums {
    float s0, s1, s2;
    [[nodiscard]] double mean() const { return s1 / s0; }
    [[nodiscard]] double entropy(double beta) const { return std::log(s0) + beta * mean(); }
    [[nodiscard]] double variance() const { return std::max(0.0, s2 / s0 - mean() * mean()); }
};

#define LOWDIM_KERNEL "affinities.inl"
#include "each_isa.inl"

struct Row {
    Sums (*sums_at)(const float*, std::int64_t, float);
    void (*add)(const float*, std::int64_t, float, float, float*);
};

Row kernels() { return {LOWDIM_PICK(sums_at), LOWDIM_PICK(add_row)}; }

// A row's squared distances less the smallest, over their mean; the rest of the last vector is padded with
// large values.
struct Scaled {
    detail::Aligned<float> room;
    double mean = 0;

    explicit Scaled(std::int64_t k) : room(k) {}
    float* data() { return room.data(); }
    [[nodiscard]] std::int64_t vectors() const { return room.size() / detail::Wide<float>::lanes; }

    template <class T> void take(const T* row, std::int64_t k) {
        const double nearest = row[0];
        double sum = 0;
        for (std::int64_t j = 0; j < k; ++j)
            sum += (row[j] - nearest) * (row[j] + nearest);
        mean = sum / static_cast<double>(k);
        const double unit = mean > 0 ? 1 / mean : 0;
        std::fill_n(data(), room.size(), 2 * beyond);
        for (std::int64_t j = 0; j < k; ++j)
            data()[j] = static_cast<float>((row[j] - nearest) * (row[j] + nearest) * unit);
    }
};

// Newton's steps on log beta, kept inside a bracket that every step narrows. The entropy decreases as beta
// grows, by beta² times the variance of d per unit of log beta.
double solve(const Row& row, const float* d, std::int64_t size, double target) {
    double low = -widest, high = widest, at = 0;
    for (int step = 0; step < 100 && high - low > 1e-7; ++step) {
        const double beta = std::exp(at);
        const Sums sums = row.sums_at(d, size, static_cast<float>(beta));
        const double above = sums.entropy(beta) - target;
        if (std::abs(above) < 1e-5)
            break;
        (above > 0 ? low : high) = at;
        const double slope = beta * beta * sums.variance();
        const double next = slope > 1e-12 ? at + above / slope : low - 1;
        at = next > low && next < high ? next : (low + high) / 2;
    }
    return std::exp(at);
}

float reached_by(const float* p, std::int64_t k) {
    double entropy = 0;
    for (std::int64_t j = 0; j < k; ++j)
        if (p[j] > 0)
            entropy -= p[j] * std::log(static_cast<double>(p[j]));
    return static_cast<float>(std::exp(entropy));
}

// Fills the rows by fill(scaled row, p of the row).
template <class T, class Fill>
void each_row(const NearDistances<T>& near, float* p, float* reached, int n_threads, Watch& watch,
              const Fill& fill) {
    detail::each_chunk(near.rows, chunk, n_threads, watch,
                       [&](std::int64_t, std::int64_t from, std::int64_t to) {
                           Scaled scaled(near.k);
                           for (std::int64_t i = from; i < to; ++i) {
                               scaled.take(near.distances + i * near.k, near.k);
                               std::fill_n(p + i * near.k, near.k, 0.0f);
                               fill(scaled, p + i * near.k);
                               reached[i] = reached_by(p + i * near.k, near.k);
                           }
                           watch.advance(to - from);
                       });
}

// Symmetric rows of combine(p_{j|i}, p_{i|j}), 0 where one of the two is not a neighbour of the other.
template <class Combine>
SparseRows merge(const std::int32_t* indices, const float* p, std::int64_t n, std::int64_t k,
                 const Combine& combine, int n_threads, Watch& watch) {
    if (n * k > std::numeric_limits<std::uint32_t>::max())
        throw std::length_error("affinities: rows times neighbours must be below 2^32; got " +
                                std::to_string(n) + " times " + std::to_string(k) +
                                ". Lower the perplexity or n_neighbors.");
    // Reverse neighbours: every thread collects them for its own range of rows, so that no two threads write
    // to the same entry and the order within a row is by index.
    std::vector<std::int64_t> starts(static_cast<std::size_t>(n) + 1, 0);
    const std::int64_t parts = std::min<std::int64_t>(n_threads, n), all = n * k;
    const auto range = [&](std::int64_t part) { return n * part / parts; };
    detail::each_piece(parts, n_threads, watch, [&](std::int64_t part) {
        const std::int64_t from = range(part), to = range(part + 1);
        for (std::int64_t e = 0; e < all; ++e)
            if (indices[e] >= from && indices[e] < to)
                ++starts[static_cast<std::size_t>(indices[e]) + 1];
    });
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
        starts[i + 1] += starts[i];
    // Rows are merged twice, to count and to fill, and many of them in slices: only the entries that name
    // rows of a slice are held, one number for each, since at this point most memory is in use.
    const std::int64_t slices = all < sliced ? 1 : std::min<std::int64_t>(4, n);
    const auto first_of = [&](std::int64_t slice) { return n * slice / slices; };
    std::int64_t most = 0;
    for (std::int64_t slice = 0; slice < slices; ++slice)
        most = std::max(most, starts[static_cast<std::size_t>(first_of(slice + 1))] -
                                  starts[static_cast<std::size_t>(first_of(slice))]);
    const auto naming = detail::large_array<std::uint32_t>(most);
    const auto each = static_cast<std::uint32_t>(k);
    SparseRows P;
    P.starts.assign(static_cast<std::size_t>(n) + 1, 0);
    // `place` is the position of a column in the current row.
    detail::Workspaces<std::vector<std::int64_t>> places(n_threads);
    for (std::int64_t turn = 0; turn < 2 * slices; ++turn) {
        const bool filling = turn >= slices;
        const std::int64_t begin = first_of(turn % slices), size_of = first_of(turn % slices + 1) - begin;
        const std::int64_t named = starts[static_cast<std::size_t>(begin)];
        const auto part_of = [&](std::int64_t part) { return begin + size_of * part / parts; };
        if (turn == slices) {
            for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
                P.starts[i + 1] += P.starts[i];
            P.columns = detail::large_array<std::int32_t>(P.starts.back());
            P.values = detail::large_array<float>(P.starts.back());
        }
        if (slices > 1 || turn == 0) {
            std::vector<std::int64_t> next(starts.begin() + begin, starts.begin() + begin + size_of);
            detail::each_piece(parts, n_threads, watch, [&](std::int64_t part) {
                const std::int64_t from = part_of(part), to = part_of(part + 1);
                for (std::int64_t e = 0; e < all; ++e)
                    if (indices[e] >= from && indices[e] < to)
                        naming[static_cast<std::size_t>(next[static_cast<std::size_t>(indices[e] - begin)]++ -
                                                        named)] = static_cast<std::uint32_t>(e);
            });
        }
        detail::each_piece(parts, n_threads, watch, [&](std::int64_t part, int thread) {
            std::vector<std::int64_t>& place = places.at(thread, static_cast<std::size_t>(n), -1);
            for (std::int64_t i = part_of(part); i < part_of(part + 1) && !watch.stopped(); ++i) {
                for (std::int64_t e = i * k; e < i * k + k; ++e)
                    place[static_cast<std::size_t>(indices[e])] = e;
                const std::int64_t own = i * k;
                std::int64_t size = k;
                std::int32_t* columns =
                    filling ? P.columns.get() + P.starts[static_cast<std::size_t>(i)] : nullptr;
                float* values = filling ? P.values.get() + P.starts[static_cast<std::size_t>(i)] : nullptr;
                if (filling)
                    for (std::int64_t e = 0; e < k; ++e) {
                        columns[e] = indices[own + e];
                        values[e] = combine(p[own + e], 0.0f);
                    }
                for (std::int64_t e = starts[static_cast<std::size_t>(i)];
                     e < starts[static_cast<std::size_t>(i) + 1]; ++e) {
                    const std::uint32_t entry = naming[static_cast<std::size_t>(e - named)];
                    const auto j = static_cast<std::int32_t>(entry / each);
                    const std::int64_t at = place[static_cast<std::size_t>(j)] - own;
                    const bool known = at >= 0 && at < k;
                    if (filling) {
                        const float value = p[entry];
                        if (known) {
                            values[at] = combine(p[own + at], value);
                        } else {
                            columns[size] = j;
                            values[size] = combine(0.0f, value);
                        }
                    }
                    size += known ? 0 : 1;
                }
                if (!filling)
                    P.starts[static_cast<std::size_t>(i) + 1] = size;
            }
        });
        if (watch.stopped())
            return {};
    }
    return P;
}

} // namespace

template <class T>
void perplexity(const NearDistances<T>& near, const std::vector<double>& perplexities, float* p,
                float* reached, int n_threads, Watch& watch) {
    const Row row = kernels();
    const auto share = static_cast<float>(1.0 / static_cast<double>(perplexities.size()));
    each_row(near, p, reached, n_threads, watch, [&](Scaled& scaled, float* out) {
        for (double wanted : perplexities) {
            const double beta = scaled.mean > 0
                                    ? solve(row, scaled.data(), scaled.vectors(), std::log(wanted))
                                    : 0.0; // all alike
            row.add(scaled.data(), near.k, static_cast<float>(beta), share, out);
        }
    });
}

template <class T>
void bandwidth(const NearDistances<T>& near, double sigma, float* p, float* reached, int n_threads,
               Watch& watch) {
    const Row row = kernels();
    each_row(near, p, reached, n_threads, watch, [&](Scaled& scaled, float* out) {
        const double beta = std::min(scaled.mean / (2 * sigma * sigma), std::exp(widest));
        row.add(scaled.data(), near.k, static_cast<float>(beta), 1.0f, out);
    });
}

SparseRows symmetrize(const std::int32_t* indices, const float* p, std::int64_t n, std::int64_t k,
                      int n_threads, Watch& watch) {
    const float half = static_cast<float>(0.5 / static_cast<double>(n));
    return merge(
        indices, p, n, k, [half](float a, float b) { return half * a + half * b; }, n_threads, watch);
}

SparseRows fuzzy_union(const std::int32_t* indices, const float* v, std::int64_t n, std::int64_t k,
                       double mix, int n_threads, Watch& watch) {
    const auto either = static_cast<float>(mix);
    const auto join = [either](float a, float b) {
        return either * (a + b - a * b) + (1 - either) * (a * b);
    };
    return merge(indices, v, n, k, join, n_threads, watch);
}

template void perplexity(const NearDistances<float>&, const std::vector<double>&, float*, float*, int,
                         Watch&);
template void perplexity(const NearDistances<double>&, const std::vector<double>&, float*, float*, int,
                         Watch&);
template void bandwidth(const NearDistances<float>&, double, float*, float*, int, Watch&);
template void bandwidth(const NearDistances<double>&, double, float*, float*, int, Watch&);

} // namespace lowdim
