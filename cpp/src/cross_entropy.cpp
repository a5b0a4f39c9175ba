// Epochs in which all points move at once. Attraction walks the rows of the graph in Morton order of the map;
// repulsion walks points in a random order that never changes, where partners lie a shift apart and are read
// in sequence, 16 at a time.
#include "aligned.hpp"
#include "chunks.hpp"
#include "instructions.hpp"
#include "morton.hpp"
#include "newcomers.hpp"

#include <lowdim/cross_entropy.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace lowdim {
namespace {

constexpr std::int64_t chunk = 1024; // points a thread takes at a time, a multiple of 16
constexpr double soft = 1e-3;        // ε
constexpr double cut = 4;            // longest force between two points in an epoch
// A step is rate/(1 + damping rate stiffness) times the force, since all neighbours move at once; momentum,
// which falls with the rate, lets clusters travel all the same. The rate falls with the square of what is
// left, so that the noise of the pairs has died down at the end.
constexpr float damping = 0.3f, momentum = 0.9f;
constexpr std::int64_t small = 2000; // points below which threads wait for each other more than they work

struct Law {
    float power, log_scale, soft, longest;
};

Law law_of(const Curve& curve, double longest) {
    return {static_cast<float>(curve.b), static_cast<float>(std::log2(curve.a)), static_cast<float>(soft),
            static_cast<float>(longest)};
}

// Rows whose entries come in groups of 8; the last group of a row ends in entries of value 0.
struct Padded {
    const std::int64_t* starts; // (rows + 1), multiples of 8
    const std::int32_t* columns;
    const float* values;
};

// Points in random order, once and once again behind, so that partners never wrap around.
struct Ring {
    const float *places, *degrees; // k columns and one, of `stride`
    std::int64_t n, stride;
};

#define LOWDIM_KERNEL "cross_entropy.inl"
#include "each_isa.inl"

auto pull_kernel(int k) {
    return k == 1   ? LOWDIM_PICK(pull_rows<1>)
           : k == 2 ? LOWDIM_PICK(pull_rows<2>)
           : k == 3 ? LOWDIM_PICK(pull_rows<3>)
                    : LOWDIM_PICK(pull_rows<0>);
}

auto push_kernel(int k) {
    return k == 1   ? LOWDIM_PICK(push_rows<1>)
           : k == 2 ? LOWDIM_PICK(push_rows<2>)
           : k == 3 ? LOWDIM_PICK(push_rows<3>)
                    : LOWDIM_PICK(push_rows<0>);
}

std::int64_t stride_of(std::int64_t n) { return 2 * n + 16; }

// The rows of V in a given order, with their columns renamed, in groups of 8.
class Grouped {
public:
    // Row order[i] of V becomes row i; place[row] is where it stands.
    void assign(const Affinities& V, const std::int32_t* order, const std::int32_t* place, int n_threads,
                Watch& watch) {
        starts_.resize(static_cast<std::size_t>(V.rows) + 1);
        starts_[0] = 0;
        for (std::int64_t i = 0; i < V.rows; ++i)
            starts_[static_cast<std::size_t>(i) + 1] =
                starts_[static_cast<std::size_t>(i)] +
                (V.starts[order[i] + 1] - V.starts[order[i]] + 7) / 8 * 8;
        if (columns_.size() < starts_.back()) {
            columns_ = detail::Aligned<std::int32_t>(starts_.back());
            values_ = detail::Aligned<float>(starts_.back());
        }
        detail::each_chunk(
            V.rows, chunk, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
                for (std::int64_t i = from; i < to; ++i) {
                    std::int64_t at = starts_[static_cast<std::size_t>(i)];
                    for (std::int64_t e = V.starts[order[i]]; e < V.starts[order[i] + 1]; ++e) {
                        columns_[at] = place[V.columns[e]];
                        values_[at++] = V.values[e];
                    }
                    for (; at < starts_[static_cast<std::size_t>(i) + 1]; ++at) {
                        columns_[at] = static_cast<std::int32_t>(i);
                        values_[at] = 0;
                    }
                }
            });
    }
    [[nodiscard]] Padded rows() const { return {starts_.data(), columns_.data(), values_.data()}; }

private:
    std::vector<std::int64_t> starts_;
    detail::Aligned<std::int32_t> columns_;
    detail::Aligned<float> values_;
};

void degrees_of(const Affinities& V, std::vector<float>& degrees) {
    degrees.resize(static_cast<std::size_t>(V.rows));
    for (std::int64_t i = 0; i < V.rows; ++i)
        degrees[static_cast<std::size_t>(i)] =
            static_cast<float>(std::accumulate(V.values + V.starts[i], V.values + V.starts[i + 1], 0.0));
}

// Columns of the ring from rows of a map, and the degrees.
void fill_ring(const float* Y, const std::vector<float>& degrees, std::int64_t n, int k,
               const std::int32_t* order, detail::Aligned<float>& places, detail::Aligned<float>& rings) {
    const std::int64_t stride = stride_of(n);
    places = detail::Aligned<float>(k * stride);
    rings = detail::Aligned<float>(stride);
    for (std::int64_t i = 0; i < stride; ++i) {
        const std::int64_t row = order[i % n];
        for (int d = 0; d < k; ++d)
            places[d * stride + i] = Y[row * k + d];
        rings[i] = degrees[static_cast<std::size_t>(row)];
    }
}

class Epochs {
public:
    Epochs(const Affinities& V, float* Y, int k, const EpochPlan& plan, const Shifts& shifts, int n_threads,
           Watch& watch)
        : n_(V.rows), k_(k), plan_(plan), shifts_(shifts), law_(law_of(plan.curve, cut)),
          threads_(V.rows < small ? 1 : n_threads), watch_(watch), given_(V), out_(Y),
          stride_(stride_of(V.rows)), next_(k * stride_), velocity_(k * stride_), y_(Y, Y + n_ * k),
          pull_(static_cast<std::size_t>(n_ * k)), stiffness_(static_cast<std::size_t>(n_)),
          where_(static_cast<std::size_t>(n_)), order_(static_cast<std::size_t>(n_)) {
        std::vector<float> degrees;
        degrees_of(V, degrees);
        fill_ring(Y, degrees, n_, k, shifts.order, places_, degrees_);
        const float* last = V.values + V.starts[n_];
        const float largest = last > V.values ? *std::max_element(V.values, last) : 0.0f;
        scale_ = largest > 0 ? 1 / static_cast<double>(largest) : 1.0;
        std::iota(order_.begin(), order_.end(), 0);
        std::fill_n(velocity_.data(), k * stride_, 0.0f);
    }

    std::int64_t run(const Report& report) {
        for (std::int64_t epoch = 0; epoch < plan_.epochs; ++epoch) {
            if (epoch == 0 || epoch == 20 || epoch == 100)
                reorder();
            if (epoch > 0 && epoch % plan_.every == 0 && report(epoch, loss(epoch), out_))
                return epoch;
            attract();
            repel_and_step(epoch);
            if (watch_.stopped())
                return epoch;
            watch_.advance(1);
            watch_.poll();
        }
        give_back();
        return plan_.epochs;
    }

private:
    // Rows are put where their neighbours in the map are near in memory.
    void reorder() {
        std::vector<std::int32_t> order(order_.size()), place(order_.size());
        if (k_ <= 3) {
            const auto keys = detail::morton_order(y_.data(), n_, k_, detail::cube_of(y_.data(), n_, k_));
            for (std::size_t i = 0; i < order.size(); ++i)
                order[i] = order_[static_cast<std::size_t>(keys[i].point)];
        } else {
            order = order_;
        }
        order_.swap(order);
        for (std::size_t i = 0; i < place.size(); ++i)
            place[static_cast<std::size_t>(order_[i])] = static_cast<std::int32_t>(i);
        graph_.assign(given_, order_.data(), place.data(), threads_, watch_);
        for (std::int64_t i = 0; i < n_; ++i) {
            const std::int32_t at = place[static_cast<std::size_t>(shifts_.order[i])];
            where_[static_cast<std::size_t>(i)] = at;
            for (int d = 0; d < k_; ++d)
                y_[static_cast<std::size_t>(at) * static_cast<std::size_t>(k_) +
                   static_cast<std::size_t>(d)] = places_[d * stride_ + i];
        }
    }

    void attract() {
        const auto kernel = pull_kernel(k_);
        detail::each_chunk(
            n_, chunk, threads_, watch_, [&](std::int64_t, std::int64_t from, std::int64_t to) {
                kernel(graph_.rows(), y_.data(), k_, law_, from, to, pull_.data(), stiffness_.data());
            });
    }

    void repel_and_step(std::int64_t epoch) {
        const auto kernel = push_kernel(k_);
        const Ring ring{places_.data(), degrees_.data(), n_, stride_};
        const std::int32_t* shifts = shifts_.shifts + epoch * shifts_.each;
        const double share = static_cast<double>(n_ - 1) / static_cast<double>(n_);
        const auto weight =
            static_cast<float>(plan_.negatives * share / (2.0 * static_cast<double>(shifts_.each)));
        const float left = 1 - static_cast<float>(epoch) / static_cast<float>(plan_.epochs);
        const float rate = static_cast<float>(plan_.rate * scale_) * left * left, kept = momentum * left;
        const auto longest =
            static_cast<float>(2 * std::pow(plan_.curve.a, -0.5 / plan_.curve.b)); // twice where w = ½
        detail::each_chunk(
            n_, chunk, threads_, watch_, [&](std::int64_t, std::int64_t from, std::int64_t to) {
                float* next = next_.data();
                kernel(ring, shifts, shifts_.each, k_, law_, from, to, next);
                for (std::int64_t i = from; i < to; ++i) {
                    const std::int64_t at = where_[static_cast<std::size_t>(i)];
                    const float step = rate / (1 + damping * rate * stiffness_[static_cast<std::size_t>(at)]);
                    float length = 0;
                    for (int d = 0; d < k_; ++d) {
                        const std::int64_t e = d * stride_ + i;
                        const float force = pull_[static_cast<std::size_t>(at * k_ + d)] + weight * next[e];
                        velocity_[e] = kept * velocity_[e] + step * force;
                        length += velocity_[e] * velocity_[e];
                    }
                    const float scale = length > longest * longest ? longest / std::sqrt(length) : 1.0f;
                    for (int d = 0; d < k_; ++d) {
                        const std::int64_t e = d * stride_ + i;
                        velocity_[e] *= scale;
                        next[e] = places_[e] + velocity_[e];
                        y_[static_cast<std::size_t>(at * k_ + d)] = next[e];
                    }
                }
            });
        for (int d = 0; d < k_; ++d)
            std::copy_n(next_.data() + d * stride_, n_, places_.data() + d * stride_);
        wrap();
    }

    void wrap() {
        for (int d = 0; d < k_; ++d)
            for (std::int64_t i = n_; i < stride_; ++i)
                places_[d * stride_ + i] = places_[d * stride_ + i - n_];
    }

    double loss(std::int64_t epoch) {
        give_back();
        const auto each = static_cast<std::size_t>(shifts_.each);
        std::vector<double> attraction(static_cast<std::size_t>(n_)), repulsion(each);
        const Shifts some{shifts_.order, shifts_.shifts + epoch * shifts_.each, shifts_.each};
        cross_entropy(given_, out_, k_, plan_.curve, some, attraction.data(), repulsion.data(), threads_,
                      watch_);
        const double mean =
            std::accumulate(repulsion.begin(), repulsion.end(), 0.0) / static_cast<double>(each);
        return std::accumulate(attraction.begin(), attraction.end(), 0.0) +
               plan_.negatives * static_cast<double>(n_ - 1) * mean;
    }

    // The map about its mean, in the rows' order.
    void give_back() {
        for (int d = 0; d < k_; ++d) {
            const float* column = places_.data() + d * stride_;
            const double mean = std::accumulate(column, column + n_, 0.0) / static_cast<double>(n_);
            for (std::int64_t i = 0; i < n_; ++i)
                out_[static_cast<std::int64_t>(shifts_.order[i]) * k_ + d] =
                    static_cast<float>(column[i] - mean);
        }
    }

    std::int64_t n_;
    int k_;
    EpochPlan plan_;
    Shifts shifts_;
    Law law_;
    int threads_;
    Watch& watch_;
    Affinities given_;
    float* out_;
    std::int64_t stride_;
    double scale_ = 1; // of the rate: edges of the largest weight count as 1
    detail::Aligned<float> places_, degrees_, next_, velocity_; // in the ring
    std::vector<float> y_, pull_, stiffness_;                   // in Morton order
    std::vector<std::int32_t> where_; // place in Morton order of each point of the ring
    std::vector<std::int32_t> order_; // row that stands at each place
    Grouped graph_;
};

} // namespace

std::int64_t lower_cross_entropy(const Affinities& V, float* Y, int k, const EpochPlan& plan,
                                 const Shifts& shifts, const Report& report, int n_threads, Watch& watch) {
    return Epochs(V, Y, k, plan, shifts, n_threads, watch).run(report);
}

void cross_entropy(const Affinities& V, const float* Y, int k, const Curve& curve, const Shifts& shifts,
                   double* attraction, double* repulsion, int n_threads, Watch& watch) {
    const Law law = law_of(curve, cut);
    const auto pull = LOWDIM_PICK(pull_costs);
    const auto push = LOWDIM_PICK(push_costs);
    const std::int64_t n = V.rows;
    std::vector<float> degrees;
    degrees_of(V, degrees);
    detail::Aligned<float> places, ringed;
    fill_ring(Y, degrees, n, k, shifts.order, places, ringed);
    const Ring ring{places.data(), ringed.data(), n, stride_of(n)};
    detail::each_chunk(n, chunk, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
        pull(V, Y, k, law, from, to, attraction);
    });
    detail::each_chunk(
        shifts.each, 4, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
            for (std::int64_t s = from; s < to && !watch.stopped(); ++s)
                repulsion[s] = push(ring, shifts.shifts[s], k, law, 0, n) / static_cast<double>(n);
            watch.advance(to - from);
        });
}

void cross_entropy_gradient(const Affinities& V, const float* Y, int k, const Curve& curve, double negatives,
                            const Shifts& shifts, double longest, float* gradient, int n_threads,
                            Watch& watch) {
    const Law law = law_of(curve, longest);
    const std::int64_t n = V.rows, stride = stride_of(n);
    std::vector<float> degrees, stiffness(static_cast<std::size_t>(n));
    degrees_of(V, degrees);
    detail::Aligned<float> places, ringed, forces(k * stride);
    fill_ring(Y, degrees, n, k, shifts.order, places, ringed);
    const Ring ring{places.data(), ringed.data(), n, stride};
    std::vector<std::int32_t> same(static_cast<std::size_t>(n));
    std::iota(same.begin(), same.end(), 0);
    Grouped graph;
    graph.assign(V, same.data(), same.data(), n_threads, watch);
    const auto weight = static_cast<float>(negatives * static_cast<double>(n - 1) / static_cast<double>(n) /
                                           (2.0 * static_cast<double>(shifts.each)));
    detail::each_chunk(n, chunk, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
        pull_kernel(k)(graph.rows(), Y, k, law, from, to, gradient, stiffness.data());
        push_kernel(k)(ring, shifts.shifts, shifts.each, k, law, from, to, forces.data());
    });
    for (std::int64_t i = 0; i < n; ++i)
        for (int d = 0; d < k; ++d) {
            float& at = gradient[static_cast<std::int64_t>(shifts.order[i]) * k + d];
            at = -at - weight * forces[d * stride + i];
        }
}

void settle_cross_entropy(const Newcomers& newcomers, const float* Y, int k, const Curve& curve,
                          double negatives, const std::int32_t* sample, std::int64_t m,
                          std::int64_t iterations, float* out, int n_threads, Watch& watch) {
    const Law law = law_of(curve, cut);
    const auto push = LOWDIM_PICK(push_at);
    const std::int64_t size = (m + 15) / 16 * 16;
    detail::Aligned<float> columns(k * size), counts(size);
    for (std::int64_t j = 0; j < size; ++j) {
        counts[j] = j < m ? 1.0f : 0.0f;
        for (int d = 0; d < k; ++d)
            columns[d * size + j] = Y[static_cast<std::int64_t>(sample[std::min(j, m - 1)]) * k + d];
    }
    const auto look = [&](const std::int32_t* neighbors, const float* v, const float* y, float* step) {
        std::vector<double> pull(static_cast<std::size_t>(k), 0.0), force(static_cast<std::size_t>(k));
        double loss = 0, stiffness = 0, degree = 0;
        for (std::int64_t j = 0; j < newcomers.near; ++j) {
            const float* other = Y + static_cast<std::int64_t>(neighbors[j]) * k;
            double t = soft;
            for (int d = 0; d < k; ++d)
                t += (static_cast<double>(y[d]) - other[d]) * (static_cast<double>(y[d]) - other[d]);
            const double u = curve.a * std::pow(t, curve.b);
            const double factor = v[j] * 2 * curve.b * u / (t * (1 + u));
            loss += v[j] * std::log1p(u);
            degree += v[j];
            stiffness += factor;
            for (int d = 0; d < k; ++d)
                pull[static_cast<std::size_t>(d)] += factor * (static_cast<double>(other[d]) - y[d]);
        }
        const double weight = negatives * degree / (2.0 * static_cast<double>(m));
        loss += weight * push(y, k, columns.data(), counts.data(), size, law, force.data());
        for (int d = 0; d < k; ++d)
            step[d] = static_cast<float>(
                (pull[static_cast<std::size_t>(d)] + weight * force[static_cast<std::size_t>(d)]) /
                std::max(stiffness, 1e-30));
        return loss;
    };
    detail::settle(newcomers, Y, k, iterations, look, out, n_threads, watch);
}

} // namespace lowdim
