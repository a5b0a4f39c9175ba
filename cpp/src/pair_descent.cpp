// Pairs are fixed, so that all of them are summed in each iteration, row by row from both ends: no two
// threads write to the same entry, and a row is summed in the same order for any number of threads.
#include "aligned.hpp"
#include "chunks.hpp"
#include "instructions.hpp"
#include "morton.hpp"
#include "newcomers.hpp"

#include <lowdim/pair_descent.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace lowdim {
namespace {

constexpr std::int64_t chunk = 512;
constexpr std::int64_t small = 1000; // points below which threads wait for each other more than they work
constexpr std::int64_t many = 5000;  // points from which their order in memory matters
constexpr double near_shift = 10, mid_shift = 10000, further_shift = 1;
constexpr float decay = 0.9f, decay_squares = 0.999f, smallest = 1e-7f; // of Adam

constexpr int n_kinds = 4; // near, middle, further, and those that the ring has and should not

// Partners of every row, by kind, in groups of 8.
struct Incident {
    const std::int64_t *starts, *counts; // (n_kinds rows + 1), (n_kinds rows)
    const std::int32_t* partners;
};

// w d̃/(shift + d̃) = w − w shift/(shift + d̃) and w/(shift + d̃): base and −½ factor over shift + d̃.
struct Kind {
    float factor, shift, base;
};

using Kinds = std::array<Kind, n_kinds>;

// Places in the order of the ring, stored twice in a row, so that partners never wrap around.
struct Ring {
    const float* places; // k columns of `stride`
    std::int64_t n, stride;
    const std::int32_t* shifts;
    std::int64_t n_shifts;
};

Kinds kinds_of(const std::array<double, 3>& weights) {
    return {Kind{static_cast<float>(2 * near_shift * weights[0]), near_shift, static_cast<float>(weights[0])},
            Kind{static_cast<float>(2 * mid_shift * weights[1]), mid_shift, static_cast<float>(weights[1])},
            Kind{static_cast<float>(-2 * weights[2]), further_shift, 0.0f},
            Kind{static_cast<float>(2 * weights[2]), further_shift, 0.0f}};
}

#define LOWDIM_KERNEL "pair_descent.inl"
#include "each_isa.inl"

auto kernel_of(int k) {
    return k == 1   ? LOWDIM_PICK(pair_rows<1>)
           : k == 2 ? LOWDIM_PICK(pair_rows<2>)
           : k == 3 ? LOWDIM_PICK(pair_rows<3>)
                    : LOWDIM_PICK(pair_rows<0>);
}

auto ring_kernel_of(int k) {
    return k == 1   ? LOWDIM_PICK(ring_rows<1>)
           : k == 2 ? LOWDIM_PICK(ring_rows<2>)
           : k == 3 ? LOWDIM_PICK(ring_rows<3>)
                    : LOWDIM_PICK(ring_rows<0>);
}

// The pairs from both ends. Partners of a row are its own in their order, then the rows that chose it, by
// index.
class BothEnds {
public:
    explicit BothEnds(const Pairs& pairs) {
        const auto slots = static_cast<std::size_t>(n_kinds * pairs.n);
        counts_.assign(slots, 0);
        each_pair(pairs, [&](std::int64_t row, std::int64_t) { ++counts_[static_cast<std::size_t>(row)]; });
        starts_.assign(slots + 1, 0);
        for (std::size_t slot = 0; slot < slots; ++slot)
            starts_[slot + 1] = starts_[slot] + (counts_[slot] + 7) / 8 * 8;
        partners_ = detail::Aligned<std::int32_t>(starts_.back());
        std::vector<std::int64_t> next(starts_.begin(), starts_.end() - 1);
        each_pair(pairs, [&](std::int64_t slot, std::int64_t other) {
            partners_[next[static_cast<std::size_t>(slot)]++] = static_cast<std::int32_t>(other);
        });
        for (std::size_t slot = 0; slot < slots; ++slot)
            for (std::int64_t e = next[slot]; e < starts_[slot + 1]; ++e)
                partners_[e] = static_cast<std::int32_t>(slot / n_kinds);
    }
    [[nodiscard]] Incident rows() const { return {starts_.data(), counts_.data(), partners_.data()}; }

private:
    template <class Visit> static void each_pair(const Pairs& pairs, const Visit& visit) {
        const Partners* kinds[3] = {&pairs.near, &pairs.mid, &pairs.further};
        for (std::int64_t kind = 0; kind < 3; ++kind) {
            const Partners& of = *kinds[kind];
            for (std::int64_t i = 0; i < pairs.n; ++i)
                for (std::int64_t e = i * of.each; e < (i + 1) * of.each; ++e)
                    visit(n_kinds * i + kind, of.rows[e]);
            for (std::int64_t i = 0; i < pairs.n; ++i)
                for (std::int64_t e = i * of.each; e < (i + 1) * of.each; ++e)
                    visit(n_kinds * static_cast<std::int64_t>(of.rows[e]) + kind, i);
        }
        for (std::int64_t e = 0; e < pairs.ring.n_excluded; ++e) {
            const std::int64_t a = pairs.ring.excluded[2 * e], b = pairs.ring.excluded[2 * e + 1];
            visit(n_kinds * a + 3, b);
            visit(n_kinds * b + 3, a);
        }
    }
    std::vector<std::int64_t> starts_, counts_;
    detail::Aligned<std::int32_t> partners_;
};

// The pairs with their rows in Morton order of a map, so that near ones are near in memory.
class Arranged {
public:
    Arranged(const Pairs& pairs, const float* Y, int k)
        : rows_(static_cast<std::size_t>(pairs.n)), place_(rows_) {
        const auto keys = detail::morton_order(Y, pairs.n, k, detail::cube_of(Y, pairs.n, k));
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            rows_[i] = keys[i].point;
            place_[static_cast<std::size_t>(keys[i].point)] = static_cast<std::int32_t>(i);
        }
        rename(pairs.ring.order, pairs.n, order_);
        rename(pairs.ring.excluded, 2 * pairs.ring.n_excluded, excluded_);
        pairs_ = {
            take(pairs.near, near_),
            take(pairs.mid, mid_),
            take(pairs.further, further_),
            {order_.data(), pairs.ring.shifts, excluded_.data(), pairs.ring.n_shifts, pairs.ring.n_excluded},
            pairs.n};
    }

    [[nodiscard]] const Pairs& pairs() const { return pairs_; }
    [[nodiscard]] const std::vector<std::int32_t>& rows() const { return rows_; } // that stands at each place

private:
    void rename(const std::int32_t* rows, std::int64_t size, std::vector<std::int32_t>& out) const {
        out.resize(static_cast<std::size_t>(size));
        for (std::size_t e = 0; e < out.size(); ++e)
            out[e] = place_[static_cast<std::size_t>(rows[e])];
    }

    Partners take(const Partners& of, std::vector<std::int32_t>& out) const {
        out.resize(rows_.size() * static_cast<std::size_t>(of.each));
        for (std::size_t i = 0; i < rows_.size(); ++i)
            for (std::int64_t e = 0; e < of.each; ++e)
                out[i * static_cast<std::size_t>(of.each) + static_cast<std::size_t>(e)] =
                    place_[static_cast<std::size_t>(of.rows[rows_[i] * of.each + e])];
        return {out.data(), of.each};
    }

    std::vector<std::int32_t> rows_, place_, near_, mid_, further_, order_, excluded_;
    Pairs pairs_{};
};

// The centred map.
void centre(const float* y, std::int64_t n, int k, float* out) {
    for (int d = 0; d < k; ++d) {
        double mean = 0;
        for (std::int64_t i = 0; i < n; ++i)
            mean += static_cast<double>(y[i * k + d]);
        mean /= static_cast<double>(n);
        for (std::int64_t i = 0; i < n; ++i)
            out[i * k + d] = static_cast<float>(static_cast<double>(y[i * k + d]) - mean);
    }
}

// Gradient of the pairs at a map, in the order of the ring.
class Forces {
public:
    Forces(const Pairs& pairs, const float* Y, int k, int n_threads, Watch& watch)
        : pairs_(pairs), ends_(pairs), k_(k), threads_(n_threads), watch_(watch), stride_(2 * pairs.n + 16),
          y_(Y, Y + pairs.n * k), pull_(y_.size()), places_(k * stride_), push_(k * stride_) {
        for (std::int64_t i = 0; i < stride_; ++i)
            for (int d = 0; d < k; ++d)
                places_[d * stride_ + i] =
                    Y[static_cast<std::int64_t>(pairs.ring.order[i % pairs.n]) * k + d];
    }

    // Calls use(from, to, force) for chunks of the ring, force(i, d) the gradient of the row at position i.
    template <class Use> void at(const Kinds& kinds, double* costs, const Use& use) {
        const auto rows = kernel_of(k_);
        const auto around = ring_kernel_of(k_);
        detail::each_chunk(pairs_.n, chunk, threads_, watch_,
                           [&](std::int64_t, std::int64_t from, std::int64_t to) {
                               rows(ends_.rows(), y_.data(), k_, kinds.data(), from, to, pull_.data(), costs);
                           });
        const Ring ring{places_.data(), pairs_.n, stride_, pairs_.ring.shifts, pairs_.ring.n_shifts};
        std::vector<double> more(costs ? static_cast<std::size_t>(pairs_.n) : 0);
        detail::each_chunk(
            pairs_.n, chunk, threads_, watch_, [&](std::int64_t, std::int64_t from, std::int64_t to) {
                around(ring, k_, kinds[2].factor, from, to, push_.data(), costs ? more.data() : nullptr);
                use(from, to, [&](std::int64_t i, int d) {
                    return pull_[static_cast<std::size_t>(row(i) * k_ + d)] + push_[d * stride_ + i];
                });
            });
        for (std::size_t i = 0; i < more.size(); ++i)
            costs[row(static_cast<std::int64_t>(i))] += more[i];
    }

    [[nodiscard]] std::int64_t row(std::int64_t i) const { return pairs_.ring.order[i]; }

    // Moves the row at position i by `step` in coordinate d; the others see it after `moved`.
    void move(std::int64_t i, int d, float step) {
        push_[d * stride_ + i] = y_[static_cast<std::size_t>(row(i) * k_ + d)] -= step;
    }

    void moved() {
        for (int d = 0; d < k_; ++d) {
            float* column = places_.data() + d * stride_;
            std::copy_n(push_.data() + d * stride_, pairs_.n, column);
            for (std::int64_t i = pairs_.n; i < stride_; ++i)
                column[i] = column[i - pairs_.n];
        }
    }

    // The map, in the rows' order.
    void give_back(float* out) const { std::copy(y_.begin(), y_.end(), out); }

private:
    const Pairs& pairs_;
    BothEnds ends_;
    int k_, threads_;
    Watch& watch_;
    std::int64_t stride_;
    std::vector<float> y_, pull_;          // by rows
    detail::Aligned<float> places_, push_; // columns in the order of the ring
};

} // namespace

std::array<double, 3> pair_weights(std::int64_t done, const PairPlan& plan) {
    const std::int64_t first = plan.phased ? 2 * plan.iterations / 9 : 0;
    const std::int64_t second = plan.phased ? 4 * plan.iterations / 9 : 0;
    if (done < first) {
        const double share = static_cast<double>(done) / static_cast<double>(first);
        return {2, (1 - share) * 1000 + share * 3, 1};
    }
    return done < second ? std::array<double, 3>{3, 3, 1} : std::array<double, 3>{1, 0, 1};
}

std::int64_t lower_pairs(const Pairs& pairs, float* Y, int k, const PairPlan& plan, const Report& report,
                         int n_threads, Watch& watch) {
    const std::int64_t n = pairs.n;
    const int threads = n < small ? 1 : n_threads;
    std::vector<float> first(static_cast<std::size_t>(n * k), 0.0f), second(first), map(Y, Y + n * k);
    std::vector<double> costs(static_cast<std::size_t>(n));
    std::unique_ptr<Arranged> arranged;
    std::unique_ptr<Forces> forces;
    const auto arrange = [&] {
        const bool sorted = k <= 3 && n >= many;
        auto now = sorted ? std::make_unique<Arranged>(pairs, map.data(), k) : nullptr;
        std::vector<float> moved(map);
        for (std::int64_t i = 0; sorted && i < n; ++i)
            std::copy_n(map.data() + static_cast<std::int64_t>(now->rows()[static_cast<std::size_t>(i)]) * k,
                        k, moved.data() + i * k);
        forces.reset();
        arranged = std::move(now);
        forces =
            std::make_unique<Forces>(sorted ? arranged->pairs() : pairs, moved.data(), k, threads, watch);
    };
    const auto fetch = [&] {
        forces->give_back(Y);
        for (std::int64_t i = 0; i < n; ++i)
            std::copy_n(Y + i * k, k,
                        map.data() + (arranged ? arranged->rows()[static_cast<std::size_t>(i)] : i) * k);
    };
    for (std::int64_t done = 0; done < plan.iterations; ++done) {
        if (done == 4 * plan.iterations / 9 && done > 0)
            fetch();
        if (done == 0 || done == 4 * plan.iterations / 9)
            arrange();
        if (done > 0 && done % plan.every == 0) {
            forces->at(kinds_of({1, 0, 1}), costs.data(), [](std::int64_t, std::int64_t, const auto&) {});
            fetch();
            centre(map.data(), n, k, Y);
            if (report(done, std::accumulate(costs.begin(), costs.end(), 0.0), Y))
                return done;
        }
        const auto turn = static_cast<double>(done + 1);
        const auto rate = static_cast<float>(plan.rate * std::sqrt(1 - std::pow(decay_squares, turn)) /
                                             (1 - std::pow(decay, turn)));
        forces->at(kinds_of(pair_weights(done, plan)), nullptr,
                   [&](std::int64_t from, std::int64_t to, const auto& force) {
                       for (std::int64_t i = from; i < to; ++i)
                           for (int d = 0; d < k; ++d) {
                               const auto e = static_cast<std::size_t>(i * k + d);
                               const float g = force(i, d);
                               first[e] += (1 - decay) * (g - first[e]);
                               second[e] += (1 - decay_squares) * (g * g - second[e]);
                               forces->move(i, d, rate * first[e] / (std::sqrt(second[e]) + smallest));
                           }
                   });
        forces->moved();
        if (watch.stopped())
            return done;
        watch.advance(1);
        watch.poll();
    }
    if (plan.iterations > 0)
        fetch();
    centre(map.data(), n, k, Y);
    return plan.iterations;
}

void pair_loss(const Pairs& pairs, const float* Y, int k, const double weights[3], double* points,
               float* gradient, int n_threads, Watch& watch) {
    Forces forces(pairs, Y, k, n_threads, watch);
    forces.at(kinds_of({weights[0], weights[1], weights[2]}), points,
              [&](std::int64_t from, std::int64_t to, const auto& force) {
                  for (std::int64_t i = from; i < to; ++i)
                      for (int d = 0; d < k; ++d)
                          gradient[forces.row(i) * k + d] = force(i, d);
              });
}

void settle_pairs(const Newcomers& newcomers, const float* Y, int k, double further,
                  const std::int32_t* sample, std::int64_t m, std::int64_t iterations, float* out,
                  int n_threads, Watch& watch) {
    const auto push = LOWDIM_PICK(further_from);
    detail::Aligned<float> columns(k * m);
    for (std::int64_t j = 0; j < m; ++j)
        for (int d = 0; d < k; ++d)
            columns[d * m + j] = Y[static_cast<std::int64_t>(sample[j]) * k + d];
    const auto look = [&](const std::int32_t* neighbors, const float* p, const float* y, float* step) {
        std::vector<double> pull(static_cast<std::size_t>(k), 0.0), force(static_cast<std::size_t>(k));
        double loss = 0, stiffness = 0;
        for (std::int64_t j = 0; j < newcomers.near; ++j) {
            if (p[j] == 0)
                continue;
            const float* other = Y + static_cast<std::int64_t>(neighbors[j]) * k;
            double t = near_shift + 1;
            for (int d = 0; d < k; ++d)
                t += (static_cast<double>(y[d]) - other[d]) * (static_cast<double>(y[d]) - other[d]);
            const double factor = p[j] * 2 * near_shift / (t * t);
            loss += p[j] * (1 - near_shift / t);
            stiffness += factor;
            for (int d = 0; d < k; ++d)
                pull[static_cast<std::size_t>(d)] += factor * (static_cast<double>(other[d]) - y[d]);
        }
        const double weight = further / static_cast<double>(m);
        loss += weight * push(y, k, columns.data(), m, force.data());
        for (int d = 0; d < k; ++d)
            step[d] = static_cast<float>(
                (pull[static_cast<std::size_t>(d)] + weight * force[static_cast<std::size_t>(d)]) /
                std::max(stiffness, 1e-30));
        return loss;
    };
    detail::settle(newcomers, Y, k, iterations, look, out, n_threads, watch);
}

} // namespace lowdim
