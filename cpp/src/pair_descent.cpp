// Iterations of Adam in which all points move at once, by the forces of all pairs.
#include "drawn.hpp"
#include "morton.hpp"
#include "pair_forces.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace lowdim {
namespace {

using namespace detail;

constexpr std::int64_t small = 1000; // points below which threads wait for each other more than they work
constexpr std::int64_t many = 5000;  // points from which their order in memory matters
constexpr float decay = PairPlan::decay, decay_squares = PairPlan::decay_squares;

// Iterations before the last phase.
std::int64_t before_last(const PairPlan& plan) { return plan.phased ? 4 * plan.iterations / 9 : 0; }

// The pairs with their rows in Morton order of a map, so that near ones are near in memory.
class Arranged {
public:
    Arranged(const Pairs& pairs, const float* Y, int k)
        : rows_(static_cast<std::size_t>(pairs.n)), place_(rows_) {
        const auto keys = morton_order(Y, pairs.n, k, cube_of(Y, pairs.n, k));
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

// The map, centred unless anchors say where it is.
void centre(const float* y, std::int64_t n, int k, bool anchored, float* out) {
    for (int d = 0; d < k; ++d) {
        double mean = 0;
        for (std::int64_t i = 0; i < n && !anchored; ++i)
            mean += static_cast<double>(y[i * k + d]);
        mean /= static_cast<double>(n);
        for (std::int64_t i = 0; i < n; ++i)
            out[i * k + d] = static_cast<float>(static_cast<double>(y[i * k + d]) - mean);
    }
}

} // namespace

std::array<double, 3> pair_weights(std::int64_t done, const PairPlan& plan) {
    const std::int64_t first = plan.phased ? 2 * plan.iterations / 9 : 0;
    if (done < first) {
        const double share = static_cast<double>(done) / static_cast<double>(first);
        return {2, (1 - share) * 1000 + share * 3, 1};
    }
    return done < before_last(plan) ? std::array<double, 3>{3, 3, 1} : std::array<double, 3>{1, 0, 1};
}

double pair_rate(std::int64_t done, const PairPlan& plan) {
    const auto turn = static_cast<double>(done + 1);
    const double left = static_cast<double>(plan.iterations - done) / static_cast<double>(plan.iterations);
    return plan.rate * (plan.phased ? 1.0 : left) * std::sqrt(1 - std::pow(decay_squares, turn)) /
           (1 - std::pow(decay, turn));
}

namespace {

// A number below n by its place in a sequence (splitmix64).
std::int64_t below(std::int64_t n, std::uint64_t key, std::uint64_t place) {
    std::uint64_t x = key + (place + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    x ^= x >> 31;
    return static_cast<std::int64_t>(((x >> 32) * static_cast<std::uint64_t>(n)) >> 32);
}

} // namespace

void draw_local(const Partners& near, const Partners& before, const float* Y, std::int64_t n, int k,
                const PairPlan& plan, std::int64_t round, std::int32_t* out, int n_threads, Watch& watch) {
    const std::int64_t each = plan.further;
    const auto reach = static_cast<float>(plan.local * plan.local);
    each_chunk(n, 64, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from; i < to; ++i) {
            const std::int32_t *own = near.rows + i * near.each, *end = own + near.each;
            const auto key = plan.seed + static_cast<std::uint64_t>(round * n + i) * 0xD1342543DE82EF95u;
            const bool rests = std::find(own, end, static_cast<std::int32_t>(i)) != end;
            std::int32_t* drawn = out + i * each;
            for (std::int64_t s = 0; s < each; ++s) {
                drawn[s] = before.each == each ? before.rows[i * each + s] : static_cast<std::int32_t>(i);
                for (std::int64_t t = 0; t < PairPlan::tries && !rests; ++t) {
                    const auto j = static_cast<std::int32_t>(
                        below(n, key, static_cast<std::uint64_t>(s * PairPlan::tries + t)));
                    float square = 0;
                    for (int d = 0; d < k; ++d)
                        square += (Y[i * k + d] - Y[j * k + d]) * (Y[i * k + d] - Y[j * k + d]);
                    if (j == i || square > reach || std::find(drawn, drawn + s, j) != drawn + s ||
                        std::find(own, end, j) != end)
                        continue;
                    drawn[s] = j;
                    break;
                }
            }
        }
    });
}

std::int64_t lower_pairs(const Pairs& pairs, float* Y, int k, const PairPlan& plan, const Report& report,
                         int n_threads, Watch& watch) {
    const std::int64_t n = pairs.n;
    const int threads = n < small ? 1 : n_threads;
    std::vector<float> first(static_cast<std::size_t>(n * k), 0.0f), second(first), map(Y, Y + n * k);
    std::vector<double> costs(static_cast<std::size_t>(n));
    std::unique_ptr<Arranged> arranged;
    std::unique_ptr<Forces> forces;
    Pairs used = pairs; // with the further partners drawn last
    std::vector<std::int32_t> further, drawn;
    const Anchors& to = plan.anchors;
    const auto given = [&](std::int64_t i) { // row at a position of the ring
        const std::int64_t row = forces->row(i);
        return arranged ? static_cast<std::int64_t>(arranged->rows()[static_cast<std::size_t>(row)]) : row;
    };
    const auto arrange = [&] {
        const bool sorted = k <= 3 && n >= many;
        auto now = sorted ? std::make_unique<Arranged>(used, map.data(), k) : nullptr;
        std::vector<float> moved(map);
        for (std::int64_t i = 0; sorted && i < n; ++i)
            std::copy_n(map.data() + static_cast<std::int64_t>(now->rows()[static_cast<std::size_t>(i)]) * k,
                        k, moved.data() + i * k);
        forces.reset();
        arranged = std::move(now);
        forces = std::make_unique<Forces>(sorted ? arranged->pairs() : used, moved.data(), k, threads, watch);
    };
    const auto fetch = [&] {
        forces->give_back(Y);
        for (std::int64_t i = 0; i < n; ++i)
            std::copy_n(Y + i * k, k,
                        map.data() + (arranged ? arranged->rows()[static_cast<std::size_t>(i)] : i) * k);
    };
    for (std::int64_t done = 0; done < plan.iterations; ++done) {
        const bool local = plan.local > 0 && done > before_last(plan);
        const bool draws = local && done % PairPlan::again == 0;
        if ((done == 4 * plan.iterations / 9 || draws) && done > 0)
            fetch();
        if (draws) {
            drawn.resize(static_cast<std::size_t>(n * plan.further));
            draw_local(pairs.near, used.further, map.data(), n, k, plan, done / PairPlan::again, drawn.data(),
                       threads, watch);
            further.swap(drawn);
            used.further = {further.data(), plan.further};
            used.ring = {pairs.ring.order, pairs.ring.shifts, pairs.ring.excluded, 0, 0};
        }
        if (done == 0 || done == 4 * plan.iterations / 9 || draws)
            arrange();
        if (done > 0 && done % plan.every == 0) {
            forces->at(kinds_of({1, 0, 1}, plan.local), costs.data(),
                       [](std::int64_t, std::int64_t, const auto&) {});
            fetch();
            centre(map.data(), n, k, to.places != nullptr, Y);
            if (report(done, std::accumulate(costs.begin(), costs.end(), 0.0), Y))
                return done;
        }
        const auto rate = static_cast<float>(pair_rate(done, plan));
        const Pull drawn = to.scaled
                               ? pull_of(
                                     n, k, true, [&](std::int64_t i, int d) { return forces->place(i, d); },
                                     [&](std::int64_t i, int d) { return to.places[given(i) * k + d]; },
                                     [&](std::int64_t i) { return to.weights[given(i)]; })
                               : Pull{};
        forces->at(kinds_of(pair_weights(done, plan), local ? plan.local : 0), nullptr,
                   [&](std::int64_t from, std::int64_t end, const auto& force) {
                       for (std::int64_t i = from; i < end; ++i) {
                           const float weight = to.places ? to.weights[given(i)] : 0.0f;
                           for (int d = 0; d < k; ++d) {
                               const auto e = static_cast<std::size_t>(i * k + d);
                               if (is_pinned(weight)) {
                                   forces->move(i, d, 0.0f);
                                   continue;
                               }
                               const float g = force(i, d);
                               first[e] += (1 - decay) * (g - first[e]);
                               second[e] += (1 - decay_squares) * (g * g - second[e]);
                               const float root = std::sqrt(second[e]) + PairPlan::least_square_root;
                               float step = rate * first[e] / root;
                               if (weight > 0) { // Adam scales the loss alone, and the anchors as its step
                                   const float c = 2 * drawn.factor * weight * rate / root;
                                   const float anchor = to.places[given(i) * k + d];
                                   step = (step + c * (forces->place(i, d) - drawn.scale * anchor)) / (1 + c);
                               }
                               forces->move(i, d, step);
                           }
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
    centre(map.data(), n, k, to.places != nullptr, Y);
    return plan.iterations;
}

} // namespace lowdim
