// Epochs in which all points move at once. Attraction traverses the rows of the graph in Morton order of the
// map; repulsion traverses points in a fixed random order, where partners are a shift apart and are read
// sequentially, 16 at a time.
#include "density_forces.hpp"
#include "drawn.hpp"
#include "morton.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace lowdim {
namespace {

using namespace detail;

constexpr std::int64_t small = 2000; // points below which threads wait for each other more than they work

class Epochs {
public:
    Epochs(const Affinities& V, float* Y, int k, const EpochPlan& plan, const Shifts& shifts, int n_threads,
           Watch& watch)
        : n_(V.rows), k_(k), plan_(plan), shifts_(shifts), law_(law_of(plan.curve, cut)),
          kernels_(cross_entropy_kernels(k)), threads_(V.rows < small ? 1 : n_threads), watch_(watch),
          given_(V), free_(V, plan.anchors),
          density_(plan.density, free_.rows(), {.a = plan.curve.a, .b = plan.curve.b}, k), out_(Y),
          now_(V, Y, k, shifts.order), next_(k * stride()), velocity_(k * stride()), pushes_(k * stride()),
          y_(Y, Y + n_ * k), pulls_(n_ * pull_stride(k)), where_(static_cast<std::size_t>(n_)),
          order_(static_cast<std::size_t>(n_)) {
        const float* last = V.values + V.starts[n_];
        const float largest = last > V.values ? *std::max_element(V.values, last) : 0.0f;
        scale_ = largest > 0 ? 1 / static_cast<double>(largest) : 1.0;
        std::iota(order_.begin(), order_.end(), 0);
        std::fill_n(velocity_.data(), k * stride(), 0.0f);
        if (plan.anchors.places)
            take_anchors();
    }

    std::int64_t run(const Report& report) {
        for (std::int64_t epoch = 0; epoch < plan_.epochs; ++epoch) {
            if (epoch == 0 || epoch == 20 || epoch == 100)
                reorder();
            if (epoch > 0 && epoch % plan_.every == 0 && report(epoch, loss(epoch), out_))
                return epoch;
            attract(epoch);
            repel_and_move(epoch);
            if (watch_.stopped())
                return epoch;
            watch_.advance(1);
            watch_.poll();
        }
        give_back();
        return plan_.epochs;
    }

private:
    [[nodiscard]] std::int64_t stride() const { return stride_of(n_); }

    // Anchors in the ring; lanes beyond it are free.
    void take_anchors() {
        const auto each = static_cast<std::size_t>(n_ + 16), k = static_cast<std::size_t>(k_);
        anchors_.assign(each * k, 0.0f);
        weights_.assign(each, 0.0f);
        movable_.assign(each, 1.0f);
        for (std::size_t i = 0; i < static_cast<std::size_t>(n_); ++i) {
            const auto row = static_cast<std::size_t>(shifts_.order[i]);
            for (std::size_t d = 0; d < k; ++d)
                anchors_[d * each + i] = plan_.anchors.places[row * k + d];
            const float weight = plan_.anchors.weights[row];
            movable_[i] = is_pinned(weight) ? 0.0f : 1.0f;
            weights_[i] = is_pinned(weight) ? 0.0f : weight;
        }
        scaled_ = anchors_;
        drawn_ = weights_;
        for (float& c : drawn_)
            c *= 2;
        while (moving_ > 0 && movable_[static_cast<std::size_t>(moving_ - 1)] == 0.0f)
            --moving_;
        std::copy_n(now_.places.data(), k_ * stride(), next_.data()); // where pinned points stay
    }

    // The anchors and their weights at the map of now.
    void fit_anchors() {
        const auto each = static_cast<std::size_t>(n_ + 16);
        const Pull to = pull_of(
            n_, k_, true, [&](std::int64_t i, int d) { return now_.places[d * stride() + i]; },
            [&](std::int64_t i, int d) {
                return anchors_[static_cast<std::size_t>(d) * each + static_cast<std::size_t>(i)];
            },
            [&](std::int64_t i) { return weights_[static_cast<std::size_t>(i)]; });
        std::transform(anchors_.begin(), anchors_.end(), scaled_.begin(),
                       [&](float a) { return to.scale * a; });
        std::transform(weights_.begin(), weights_.end(), drawn_.begin(),
                       [&](float w) { return 2 * to.factor * w; });
    }

    // Rows are sorted so that neighbours in the map are near in memory.
    void reorder() {
        std::vector<std::int32_t> order(order_.size()), place(order_.size());
        if (k_ <= 3) {
            const auto keys = morton_order(y_.data(), n_, k_, cube_of(y_.data(), n_, k_));
            for (std::size_t i = 0; i < order.size(); ++i)
                order[i] = order_[static_cast<std::size_t>(keys[i].point)];
        } else {
            order = order_;
        }
        order_.swap(order);
        for (std::size_t i = 0; i < place.size(); ++i)
            place[static_cast<std::size_t>(order_[i])] = static_cast<std::int32_t>(i);
        graph_.assign(free_.rows(), kernels_.group, order_.data(), place.data(), threads_, watch_);
        density_.reorder(order_.data());
        for (std::int64_t i = 0; i < n_; ++i) {
            const std::int32_t at = place[static_cast<std::size_t>(shifts_.order[i])];
            where_[static_cast<std::size_t>(i)] = at;
            for (int d = 0; d < k_; ++d)
                y_[static_cast<std::size_t>(at) * static_cast<std::size_t>(k_) +
                   static_cast<std::size_t>(d)] = now_.places[d * stride() + i];
        }
    }

    void attract(std::int64_t epoch) {
        each_chunk(n_, ring_chunk, threads_, watch_, [&](std::int64_t, std::int64_t from, std::int64_t to) {
            kernels_.pull(graph_.rows(), y_.data(), k_, law_, from, to, pulls_.data());
        });
        if (density_.on(epoch, plan_.epochs))
            density_.add(graph_.rows(), y_.data(), 1, Density::damping, pulls_.data(), threads_, watch_);
    }

    void repel_and_move(std::int64_t epoch) {
        const Ring ring = now_.ring();
        const std::int32_t* shifts = shifts_.shifts + epoch * shifts_.each;
        const double share = static_cast<double>(n_ - 1) / static_cast<double>(n_);
        const float left = 1 - static_cast<float>(epoch) / static_cast<float>(plan_.epochs);
        const bool anchored = !drawn_.empty();
        if (plan_.anchors.scaled)
            fit_anchors();
        const auto move = anchored ? kernels_.move_drawn : kernels_.move;
        const Move by{
            pulls_.data(),
            pushes_.data(),
            where_.data(),
            velocity_.data(),
            next_.data(),
            y_.data(),
            static_cast<float>(plan_.rate * scale_) * left * left,
            EpochPlan::momentum * left,
            static_cast<float>(plan_.negatives * share / (2.0 * static_cast<double>(shifts_.each))),
            static_cast<float>(2 * std::pow(plan_.curve.a, -0.5 / plan_.curve.b)), // twice where w = ½
            scaled_.data(),
            drawn_.data(),
            movable_.data()};
        each_chunk(moving_, ring_chunk, threads_, watch_,
                   [&](std::int64_t, std::int64_t from, std::int64_t to) {
                       kernels_.push(ring, shifts, shifts_.each, k_, law_, from, to, pushes_.data());
                       move(ring, by, k_, from, to);
                   });
        std::swap(now_.places, next_);
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

    // The map in the order of the rows, centred unless anchors say where it is.
    void give_back() {
        for (int d = 0; d < k_; ++d) {
            const float* column = now_.places.data() + d * stride();
            const double mean =
                drawn_.empty() ? std::accumulate(column, column + n_, 0.0) / static_cast<double>(n_) : 0.0;
            for (std::int64_t i = 0; i < n_; ++i)
                out_[static_cast<std::int64_t>(shifts_.order[i]) * k_ + d] =
                    static_cast<float>(column[i] - mean);
        }
    }

    std::int64_t n_, moving_ = n_; // points, and those in the ring before the pinned ones at its end
    int k_;
    EpochPlan plan_;
    Shifts shifts_;
    Law law_;
    CrossEntropyKernels kernels_;
    int threads_;
    Watch& watch_;
    Affinities given_;
    FreeRows free_;
    DensityForces density_;
    float* out_;
    double scale_ = 1; // of the rate: edges of the largest weight count as 1
    FilledRing now_;
    Aligned<float> next_, velocity_, pushes_; // in the ring
    std::vector<float> y_;                    // in Morton order
    Aligned<float> pulls_;
    std::vector<std::int32_t> where_; // place in Morton order of each point of the ring
    std::vector<std::int32_t> order_; // row that stands at each place
    GroupedGraph graph_;
    std::vector<float> anchors_, weights_, scaled_, drawn_,
        movable_; // as Move has them; empty without anchors
};

} // namespace

std::int64_t lower_cross_entropy(const Affinities& V, float* Y, int k, const EpochPlan& plan,
                                 const Shifts& shifts, const Report& report, int n_threads, Watch& watch) {
    return Epochs(V, Y, k, plan, shifts, n_threads, watch).run(report);
}

} // namespace lowdim
