// The descent. Its state lives here from the first iteration to the last, in an order of its own.
#include "aligned.hpp"
#include "chunks.hpp"
#include "density_forces.hpp"
#include "drawn.hpp"
#include "morton.hpp"
#include "pinned_field.hpp"

#include <lowdim/descent.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace lowdim {
namespace {

constexpr std::int64_t chunk = 512;
// Steps. Beyond a few widths Gauss's falloff is nothing: points thrown so far no longer feel each other.
constexpr std::int64_t many_affinities = 1 << 20; // whose memory is worth a millisecond or two
constexpr std::int64_t check_every = Pace::check_every, check_early = Pace::check_early;

// Threads for n points: where an iteration is short they wait for each other more than they work.
int threads_for(std::int64_t n, Repel repel, int n_threads) {
    return n < (repel == Repel::by_grid ? 2000 : 1500) ? 1 : n_threads;
}

class Descent {
public:
    Descent(const Affinities& P, float* Y, int k, const DescentPlan& plan, int n_threads, Watch& watch)
        : n_(P.rows), k_(k), plan_(plan), threads_(threads_for(P.rows, plan.repel, n_threads)), watch_(watch),
          given_(P), free_(P, plan.anchors),
          density_(plan.density, free_.rows(), {.falloff = plan.falloff}, k), out_(Y),
          repel_(make_repulsion(plan.repel, k, plan.falloff, plan.angle, plan.spacing)) {
        const auto size = static_cast<std::size_t>(n_ * k);
        y_.assign(Y, Y + size);
        velocity_.assign(size, 0.0f);
        gains_.assign(size, 1.0f);
        pull_.resize(size);
        push_.resize(size);
        costs_.resize(static_cast<std::size_t>(n_));
        order_.resize(static_cast<std::size_t>(n_));
        for (std::size_t i = 0; i < order_.size(); ++i)
            order_[i] = static_cast<std::int32_t>(i);
        if (plan.anchors.places) {
            anchors_.assign(plan.anchors.places, plan.anchors.places + size);
            weights_.assign(plan.anchors.weights, plan.anchors.weights + n_);
            moving_ -= std::count_if(weights_.begin(), weights_.end(), detail::is_pinned);
        }
        if (moving_ < n_ && plan.repel != Repel::by_tree)
            pinned_ = std::make_unique<detail::PinnedField>(plan.repel, k, plan.falloff, plan.spacing);
        entropies(P, costs_.data(), threads_, watch);
        for (double entropy : costs_)
            entropy_ += entropy;
    }

    std::int64_t run(const Report& report) {
        double before = HUGE_VAL, exaggerated_before = HUGE_VAL;
        std::int64_t end = plan_.iterations, gathered_at = -1;
        for (std::int64_t done = 0; done < end; ++done) {
            // Near one point a mode of the layout changes by 1/exaggeration + λ an iteration, λ its
            // eigenvalue of P made stochastic. Where no group of rows keeps to itself, as among few, all of
            // them shrink and exaggeration would draw the map together until nothing is left of its layout.
            if (done % 4 == 0 && done < exaggerated_ && extent() < Pace::smallest_map)
                exaggerated_ = done;
            if (done == exaggerated_) {
                repel_->refine(plan_.fine_spacing);
                if (pinned_)
                    pinned_->refine(plan_.fine_spacing);
                std::fill(velocity_.begin(), velocity_.end(), 0.0f);
                std::fill(gains_.begin(), gains_.end(), 1.0f);
            }
            if (done == 0 || done == 50 || done == exaggerated_ || done == exaggerated_ + 200)
                reorder();
            const double Z = forces();
            if (watch_.stopped())
                return done;
            const bool due = done % plan_.every == 0, check = done % check_every == 0 && plan_.progress > 0;
            if (done > 0 && (due || check)) {
                const Losses now = loss(Z);
                if (due) {
                    give_back();
                    if (report(done, now.divergence, out_))
                        return done;
                }
                if (check && done >= exaggerated_ + check_every && extent() > Pace::grown_map &&
                    before - now.lowered < plan_.progress * std::abs(now.lowered) && !dense(done, end)) {
                    if (!density_.any() || plan_.density.share == 0) {
                        give_back();
                        return done;
                    }
                    dense_from_ = done; // without further progress density is considered
                    end = done + static_cast<std::int64_t>(plan_.density.share * static_cast<double>(end));
                }
                if (check)
                    before = now.lowered;
            }
            if (done > 0 && done % check_early == 0 && done < exaggerated_ && plan_.progress > 0) {
                const double now = loss(Z).exaggerated;
                const double gain = (exaggerated_before - now) / plan_.exaggeration;
                if (gain < Pace::gathered && extent() > Pace::grown_map) {
                    gathered_at = gathered_at < 0 ? done : gathered_at;
                    const std::int64_t waited = done - gathered_at;
                    if (gain < Pace::settled || waited >= Pace::longest_wait) {
                        end -= exaggerated_ - (done + 1) + waited / 2; // the others give half of the wait
                        exaggerated_ = done + 1;
                        end = std::max(end, exaggerated_);
                    }
                }
                exaggerated_before = now;
            }
            if (dense(done, end))
                densities();
            step(done, Z);
            watch_.advance(1);
            watch_.poll();
        }
        give_back();
        return end;
    }

private:
    [[nodiscard]] Affinities affinities() const {
        return {starts_.data(), columns_.get(), values_.get(), n_};
    }

    double forces() {
        if (k_ <= 2)
            packed_.attract(y_.data(), k_, plan_.falloff, pull_.data(), threads_, watch_);
        else
            attract(affinities(), y_.data(), k_, plan_.falloff, pull_.data(), threads_, watch_);
        if (!pinned_)
            return (*repel_)(y_.data(), n_, push_.data(), nullptr, threads_, watch_);
        return (*pinned_)(*repel_, y_.data(), moving_, n_, push_.data(), threads_, watch_);
    }

    // KL(P‖Q), and what the phases lower: the same with the attraction times `late` and `exaggeration`.
    struct Losses {
        double divergence, lowered, exaggerated;
    };

    Losses loss(double Z) {
        if (free_.pinned()) { // their rows count, too
            std::vector<float> map(y_.size());
            for (std::size_t i = 0, k = static_cast<std::size_t>(k_); i < order_.size(); ++i)
                std::copy_n(y_.data() + i * k, k, map.data() + static_cast<std::size_t>(order_[i]) * k);
            attraction_costs(given_, map.data(), k_, plan_.falloff, costs_.data(), threads_, watch_);
        } else if (k_ <= 2)
            packed_.costs(y_.data(), k_, plan_.falloff, costs_.data(), threads_, watch_);
        else
            attraction_costs(affinities(), y_.data(), k_, plan_.falloff, costs_.data(), threads_, watch_);
        double sum = entropy_ + std::log(std::max(Z, 1e-300)), attraction = entropy_;
        for (double cost : costs_) {
            sum += cost;
            attraction += cost;
        }
        const double drawn = anchor_pull().cost;
        return {sum, sum + (plan_.late - 1) * attraction + drawn,
                sum + (plan_.exaggeration - 1) * attraction + drawn};
    }

    [[nodiscard]] detail::Pull anchor_pull() const {
        if (weights_.empty())
            return {};
        const auto k = static_cast<std::size_t>(k_);
        const auto at = [k](std::int64_t i, int d) {
            return static_cast<std::size_t>(i) * k + static_cast<std::size_t>(d);
        };
        return detail::pull_of(
            n_, k_, plan_.anchors.scaled, [&](std::int64_t i, int d) { return y_[at(i, d)]; },
            [&](std::int64_t i, int d) { return anchors_[at(i, d)]; },
            [&](std::int64_t i) { return weights_[static_cast<std::size_t>(i)]; });
    }

    // Whether density is considered: in the last iterations, of which none is exaggerated.
    [[nodiscard]] bool dense(std::int64_t done, std::int64_t end) const {
        return done >= exaggerated_ && (density_.on(done, end) || (dense_from_ >= 0 && done >= dense_from_));
    }

    // Takes a quarter of the gradient of W corr from that of the attraction. Where radii are small it is so
    // stiff that whole steps would overshoot.
    void densities() {
        if (!ordered_) {
            std::vector<std::int32_t> place(order_.size());
            for (std::size_t i = 0; i < order_.size(); ++i)
                place[static_cast<std::size_t>(order_[i])] = static_cast<std::int32_t>(i);
            graph_.assign(free_.rows(), density_.group(), order_.data(), place.data(), threads_, watch_);
            density_.reorder(order_.data());
            ordered_ = true;
        }
        const std::int64_t stride = detail::pull_stride(k_);
        drive_.assign(static_cast<std::size_t>(n_ * stride), 0.0f);
        density_.add(graph_.rows(), y_.data(), 0.25f, 0.25f * Density::damping, drive_.data(), threads_,
                     watch_);
        const auto late = static_cast<float>(plan_.late);
        const float rate = static_cast<float>(rate_at(false));
        for (std::int64_t i = 0; i < moving_; ++i) {
            const float* force = drive_.data() + i * stride;
            const float share = 1 / (late * (1 + rate * force[k_]));
            for (int d = 0; d < k_; ++d)
                pull_[static_cast<std::size_t>(i * k_ + d)] -= share * force[d];
        }
    }

    [[nodiscard]] double rate_at(bool early) const {
        const double by = early ? plan_.exaggeration : plan_.late;
        return plan_.rate > 0 ? plan_.rate
                              : Pace::at(plan_.falloff.kind, early, 0).share * static_cast<double>(n_) / by;
    }

    [[nodiscard]] float extent() const {
        float widest = 0;
        for (std::size_t d = 0, k = static_cast<std::size_t>(k_); d < k; ++d) {
            float low = y_[d], high = y_[d];
            for (std::size_t e = d; e < y_.size(); e += k) {
                low = std::min(low, y_[e]);
                high = std::max(high, y_[e]);
            }
            widest = std::max(widest, high - low);
        }
        return widest;
    }

    // Gains grow where the gradient keeps its direction and shrink where it turns (Jacobs 1988).
    void step(std::int64_t done, double Z) {
        const bool early = done < exaggerated_;
        const double by = early ? plan_.exaggeration : plan_.late;
        const auto pull = static_cast<float>(by), push = static_cast<float>(1 / std::max(Z, 1e-30));
        const auto [momentum, _, longest_step] = Pace::at(plan_.falloff.kind, early, done - exaggerated_);
        const auto rate = static_cast<float>(rate_at(early));
        const detail::Pull anchored = plan_.anchors.scaled ? anchor_pull() : detail::Pull{};
        std::atomic<bool> finite{true};
        detail::each_chunk(
            moving_, chunk, threads_, watch_, [&](std::int64_t, std::int64_t from, std::int64_t to) {
                const std::int64_t first = from * k_, last = to * k_;
                // Vectors need to know that these do not overlap.
                float* __restrict v = velocity_.data(), * __restrict gains = gains_.data();
                const float* __restrict pulls = pull_.data(), * __restrict pushes = push_.data();
                if (!weights_.empty())
                    drive(from, to, {pull, push, momentum, rate, anchored});
                for (std::int64_t e = first; e < last && weights_.empty(); ++e) {
                    const float g = pull * pulls[e] - push * pushes[e];
                    const float gain =
                        (g > 0) != (v[e] > 0) ? gains[e] + Pace::gain_up : gains[e] * Pace::gain_down;
                    gains[e] = gain > Pace::least_gain ? gain : Pace::least_gain;
                    v[e] = momentum * v[e] - rate * gains[e] * g;
                }
                for (std::int64_t e = first; e < last; e += k_) {
                    float length = 0;
                    for (int d = 0; d < k_; ++d)
                        length += v[e + d] * v[e + d];
                    if (length <= longest_step * longest_step)
                        continue;
                    if (!(length <= std::numeric_limits<float>::max()))
                        finite.store(false, std::memory_order_relaxed);
                    const float scale = longest_step / std::sqrt(length);
                    for (int d = 0; d < k_; ++d)
                        v[e + d] *= scale;
                }
                for (std::int64_t e = first; e < last; ++e)
                    y_[static_cast<std::size_t>(e)] += v[e];
            });
        if (!finite) // before it is taken for a place on the grid
            throw std::range_error("descent: steps must be finite; iteration " + std::to_string(done) +
                                   " overflowed. Lower learning_rate and exaggeration, or scale init.");
    }

    // Velocities and gains of the points from … to with anchors; the forces are a quarter of the gradients.
    struct Drive {
        float pull, push, momentum, rate;
        detail::Pull to;
    };

    void drive(std::int64_t from, std::int64_t to, const Drive& by) {
        for (std::int64_t i = from; i < to; ++i) {
            const float weight = weights_[static_cast<std::size_t>(i)], c = 0.5f * by.to.factor * weight;
            for (auto e = static_cast<std::size_t>(i * k_); e < static_cast<std::size_t>((i + 1) * k_); ++e) {
                if (detail::is_pinned(weight)) {
                    velocity_[e] = 0;
                    continue;
                }
                const float g =
                    by.pull * pull_[e] - by.push * push_[e] + c * (y_[e] - by.to.scale * anchors_[e]);
                const float gain =
                    (g > 0) != (velocity_[e] > 0) ? gains_[e] + Pace::gain_up : gains_[e] * Pace::gain_down;
                gains_[e] = std::max(gain, Pace::least_gain);
                const float h = by.rate * gains_[e];
                velocity_[e] = (by.momentum * velocity_[e] - h * g) / (1 + h * c);
            }
        }
    }

    // Puts points and rows of P in Morton order, those that move before those that are pinned.
    void reorder() {
        std::vector<std::int32_t> to_old(static_cast<std::size_t>(n_));
        for (std::size_t i = 0; i < to_old.size(); ++i)
            to_old[i] = static_cast<std::int32_t>(i);
        if (k_ <= 3) {
            const auto keys = detail::morton_order(y_.data(), n_, k_, detail::cube_of(y_.data(), n_, k_));
            for (std::size_t i = 0; i < to_old.size(); ++i)
                to_old[i] = keys[i].point;
        }
        if (moving_ < n_)
            std::stable_partition(to_old.begin(), to_old.end(), [&](std::int32_t i) {
                return !detail::is_pinned(weights_[static_cast<std::size_t>(i)]);
            });
        for (auto* values : {&y_, &velocity_, &gains_})
            permute(*values, to_old, k_);
        if (!weights_.empty()) {
            permute(anchors_, to_old, k_);
            permute(weights_, to_old, 1);
        }
        std::vector<std::int32_t> order(order_.size()), place(order_.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            order[i] = order_[static_cast<std::size_t>(to_old[i])];
            place[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
        }
        order_.swap(order);
        ordered_ = false;
        if (k_ <= 2)
            packed_.assign(free_.rows(), order_.data(), place.data(), threads_, watch_);
        else
            copy_rows(place);
    }

    static void permute(std::vector<float>& values, const std::vector<std::int32_t>& to_old, int each) {
        std::vector<float> moved(values.size());
        const auto k = static_cast<std::size_t>(each);
        for (std::size_t i = 0; i < to_old.size(); ++i)
            std::copy_n(values.data() + static_cast<std::size_t>(to_old[i]) * k, k, moved.data() + i * k);
        values.swap(moved);
    }

    // Rows of the given P in the order of now; place[row] is where a row stands.
    void copy_rows(const std::vector<std::int32_t>& place) {
        const Affinities& given = free_.rows();
        starts_.assign(static_cast<std::size_t>(n_) + 1, 0);
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const std::int64_t row = order_[i];
            starts_[i + 1] = starts_[i] + given.starts[row + 1] - given.starts[row];
        }
        if (!columns_) {
            columns_.reset(new std::int32_t[static_cast<std::size_t>(starts_.back())]);
            values_.reset(new float[static_cast<std::size_t>(starts_.back())]);
        }
        detail::each_chunk(n_, 512, threads_, watch_, [&](std::int64_t, std::int64_t from, std::int64_t to) {
            for (std::int64_t i = from; i < to; ++i) {
                const std::int64_t row = order_[static_cast<std::size_t>(i)];
                std::int64_t at = starts_[static_cast<std::size_t>(i)];
                for (std::int64_t e = given.starts[row]; e < given.starts[row + 1]; ++e, ++at) {
                    columns_[static_cast<std::size_t>(at)] =
                        place[static_cast<std::size_t>(given.columns[e])];
                    values_[static_cast<std::size_t>(at)] = given.values[e];
                }
            }
        });
    }

    // The map in the order of the rows, centred unless anchors say where it is.
    void give_back() {
        std::vector<double> mean(static_cast<std::size_t>(k_), 0.0);
        for (std::int64_t i = 0; i < n_ && weights_.empty(); ++i)
            for (std::int64_t d = 0; d < k_; ++d)
                mean[static_cast<std::size_t>(d)] += y_[static_cast<std::size_t>(i * k_ + d)];
        for (std::int64_t i = 0; i < n_; ++i)
            for (std::int64_t d = 0; d < k_; ++d)
                out_[static_cast<std::int64_t>(order_[static_cast<std::size_t>(i)]) * k_ + d] =
                    static_cast<float>(y_[static_cast<std::size_t>(i * k_ + d)] -
                                       mean[static_cast<std::size_t>(d)] / static_cast<double>(n_));
    }

    std::int64_t n_, moving_ = n_; // points, and those that are not pinned
    int k_;
    DescentPlan plan_;
    int threads_;
    Watch& watch_;
    Affinities given_;
    detail::FreeRows free_;
    detail::DensityForces density_;
    float* out_;
    std::unique_ptr<Repulsion> repel_;
    std::unique_ptr<detail::PinnedField> pinned_;  // where some points are pinned, but for a tree
    double entropy_ = 0;                           // Σ p log p
    std::int64_t exaggerated_ = plan_.exaggerated; // fewer where the map collapses
    std::vector<float> y_, velocity_, gains_, pull_, push_;
    std::vector<float> anchors_, weights_; // in the same order; empty without anchors
    std::vector<double> costs_;
    std::vector<std::int32_t> order_; // row that stands at each place
    detail::GroupedGraph graph_;      // by which density is, once it is, and whether in that order
    bool ordered_ = false;
    std::int64_t dense_from_ = -1; // iteration, if earlier than planned
    std::vector<float> drive_;     // its forces
    PackedAffinities packed_;      // what a line or a plane is drawn by; other maps by the rows below
    std::vector<std::int64_t> starts_;
    std::unique_ptr<std::int32_t[]> columns_;
    std::unique_ptr<float[]> values_;
};

} // namespace

Pace Pace::at(Falloff::Kind kind, bool exaggerated, std::int64_t since) {
    if (kind == Falloff::Kind::gauss)
        return exaggerated ? Pace{0.5f, 1.0f, 0.5f} : Pace{0.8f, 1.0f, 0.5f};
    if (exaggerated)
        return {0.8f, 0.3f, 5.0f};
    return {0.8f + 1e-3f * static_cast<float>(std::min<std::int64_t>(since, 100)), 0.5f, 5.0f};
}

std::int64_t descend(const Affinities& P, float* Y, int k, const DescentPlan& plan, const Report& report,
                     int n_threads, Watch& watch) {
    const std::int64_t done = Descent(P, Y, k, plan, n_threads, watch).run(report);
    if (P.starts[P.rows] >= many_affinities)
        detail::release_freed();
    return done;
}

} // namespace lowdim
