// The work of one task of a search for neighbours: some queries of a group visit the groups of points,
// nearest first, and gather candidates. What becomes of these is left to the caller.
#pragma once

#include "chunks.hpp"
#include "nearest_plan.hpp"

#include <lowdim/watch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace lowdim::detail {

// Queries first … last − 1 of a group.
struct QueryTask {
    std::int64_t group, first, last;
};

// The queries of a task, some rows at a time side by side, with what each has found and how far it looks.
template <class T> class QueryChunk {
public:
    // The keeper polls the watch.
    QueryChunk(const SearchPlan<T>& plan, bool keeper)
        : plan_(plan), rows_(plan.with.rows), keeper_(keeper) {}

    std::int64_t size() const { return last_ - first_; }
    std::int64_t query(std::int64_t i) const { return plan_.search.queries.order[first_ + i]; }
    std::int32_t count(std::int64_t i) const { return counts_[i]; }
    float* scores(std::int64_t i) { return scores_.data() + i * capacity_; }
    std::int32_t* points(std::int64_t i) { return points_.data() + i * capacity_; }
    void keep(std::int64_t i, std::int64_t count) { counts_[i] = static_cast<std::int32_t>(count); }

    // Takes the queries of a task, with room for `capacity` candidates each.
    void take(const QueryTask& task, std::int64_t capacity) {
        const auto& s = plan_.search;
        group_ = task.group, first_ = task.first, last_ = task.last, capacity_ = capacity;
        const std::int64_t n = (size() + rows_ - 1) / rows_ * rows_;
        values_.assign(n * s.d, 0.0f);
        squares_.assign(n * s.n_stages, 0.0);
        reject_.assign(n * s.n_stages, -Packing<float>::nowhere);
        reach_.assign(n, -1.0f);
        scores_.resize(n * capacity);
        points_.resize(n * capacity);
        counts_.assign(n, 0);
        for (std::int64_t i = 0; i < size(); ++i) {
            const float* q = s.queries.values + query(i) * s.d;
            float* to = values_.data() + i / rows_ * rows_ * s.d + i % rows_;
            double sum = 0;
            int stage = 0;
            for (std::int64_t a = 0; a < s.d; ++a) {
                const float v = plan_.rounded(q[a]);
                to[a * rows_] = v;
                sum += static_cast<double>(v) * v;
                if (a + 1 == s.stages[stage])
                    squares_[stage++ * n + i] = sum;
            }
            for (int t = 0; t < s.n_stages; ++t)
                reject_[t * n + i] = Packing<float>::anywhere;
            reach_[i] = std::numeric_limits<float>::max();
        }
        measure_centres();
        if (plan_.unit > 0)
            take_integers();
    }

    double square(std::int64_t i) const { return squares_[squares_.size() - reach_.size() + i]; }

    // From now on query i looks for squared distances (of values) up to `limit` and the error of such;
    // padding is beyond any. Both the limit and what is held against it may be blurred.
    void look(std::int64_t i, double limit) {
        const double reach = std::sqrt(std::max(limit, 0.0)) + plan_.blur, norm = std::sqrt(square(i)),
                     all = reach * reach + plan_.error(norm, norm + reach);
        const auto n = static_cast<std::int64_t>(reach_.size());
        for (int s = 0; s < plan_.search.n_stages; ++s) {
            const double least = (squares_[s * n + i] - all) / 2;
            reject_[s * n + i] = std::max(static_cast<float>(least), Packing<float>::anywhere);
            if (plan_.unit > 0) // halves of odd sums were cut, one a stage
                integer_reject_[s * n + i] = static_cast<std::int32_t>(
                    std::max(std::floor(least / (plan_.unit * plan_.unit)) - most_stages,
                             static_cast<double>(Packing<std::int16_t>::anywhere)));
        }
        reach_[i] = static_cast<float>(std::sqrt(all) * (1 + 1e-6));
    }

    float lowest_score(std::int64_t i) const { return reject_[reject_.size() - reach_.size() + i]; }

    double exact(std::int64_t i, std::int32_t point) const {
        const auto& s = plan_.search;
        return plan_.squared(s.queries.exact + query(i) * s.wide,
                             s.points.exact + s.points.order[point] * s.wide, s.wide);
    }

    void fetch(std::int32_t point) const {
        const auto& s = plan_.search;
        const auto* row = reinterpret_cast<const char*>(s.points.exact + s.points.order[point] * s.wide);
        for (std::size_t byte = 0; byte < std::min<std::size_t>(256, s.wide * sizeof(T)); byte += 64)
            __builtin_prefetch(row + byte);
    }

    // Visits groups, nearest first. relieve(i) makes room; between groups, settle(visited) may narrow.
    template <class Relieve, class Settle>
    void visit(const Relieve& relieve, const Settle& settle, Watch& watch) {
        const auto& s = plan_.search;
        const std::int64_t fronts = static_cast<std::int64_t>(reach_.size()) / rows_;
        for (std::int64_t o = 0; o < s.groups; ++o) {
            const std::int64_t g = order_[o];
            if (s.points.starts[g + 1] == s.points.starts[g])
                continue;
            if (watch.stopped())
                break;
            settle(o);
            for (std::int64_t f = 0; f < fronts; ++f)
                scan(f, g, relieve);
            if (keeper_)
                watch.poll();
        }
    }

private:
    // The queries as whole numbers, in the steps of the tiles.
    void take_integers() {
        const auto& s = plan_.search;
        const auto n = static_cast<std::int64_t>(reach_.size());
        const std::int64_t* steps = plan_.whole.tiles.steps;
        integer_steps_ = std::accumulate(steps, steps + s.n_stages, std::int64_t{0});
        integers_.assign(n * integer_steps_ * 2, 0);
        integer_reject_.assign(n * s.n_stages, -Packing<std::int16_t>::nowhere);
        for (std::int64_t i = 0; i < size(); ++i) {
            const float* from = values_.data() + i / rows_ * rows_ * s.d + i % rows_;
            std::int16_t* to = integers_.data() + (i / rows_ * rows_ * integer_steps_ + i % rows_) * 2;
            for (int t = 0; t < s.n_stages; to += steps[t++] * rows_ * 2) {
                const std::int64_t first = t == 0 ? 0 : s.stages[t - 1];
                for (std::int64_t a = first; a < s.stages[t]; ++a)
                    to[(a - first) / 2 * rows_ * 2 + (a - first) % 2] = plan_.number(from[a * rows_]);
                integer_reject_[t * n + i] = Packing<std::int16_t>::anywhere;
            }
        }
    }

    // Squared distances of the queries from all centres, and the order to visit their groups in.
    void measure_centres() {
        const auto& s = plan_.search;
        const auto n = static_cast<std::int64_t>(reach_.size());
        const std::int64_t tiles = (s.groups + tile_width - 1) / tile_width;
        there_.resize(n * s.groups);
        std::vector<float> scores(rows_ * tile_width);
        for (std::int64_t f = 0; f < n; f += rows_)
            for (std::int64_t t = 0; t < tiles; ++t) {
                plan_.with.score(plan_.centres.tiles, values_.data() + f * s.d, t, scores.data());
                for (std::int64_t g = t * tile_width; g < std::min(s.groups, (t + 1) * tile_width); ++g)
                    for (std::int64_t r = 0; r < rows_; ++r)
                        there_[g * n + f + r] = static_cast<float>(
                            std::max(0.0, square(f + r) - 2.0 * scores[r * tile_width + g % tile_width]));
            }
        longest_ = 0;
        for (std::int64_t i = 0; i < size(); ++i)
            longest_ = std::max(longest_, std::sqrt(square(i)));
        apart_.resize(s.groups);
        for (std::int64_t g = 0; g < s.groups; ++g)
            apart_[g] = static_cast<float>(
                std::sqrt(plan_.with.squared_float(s.centres + group_ * s.d, s.centres + g * s.d, s.d)));
        apart_[group_] = -1; // first, whatever the others
        order_.resize(s.groups);
        std::iota(order_.begin(), order_.end(), 0);
        std::sort(order_.begin(), order_.end(),
                  [&](auto a, auto b) { return apart_[a] < apart_[b] || (apart_[a] == apart_[b] && a < b); });
    }

    template <class Relieve> void scan(std::int64_t f, std::int64_t g, const Relieve& relieve) {
        const auto& s = plan_.search;
        const std::int64_t from = f * rows_, to = std::min(size(), from + rows_);
        const auto n = static_cast<std::int64_t>(reach_.size());
        Range range{plan_.starts()[g], plan_.starts()[g + 1], 0, std::numeric_limits<float>::max(),
                    static_cast<std::int32_t>(s.points.starts[g])};
        const double own = plan_.centre_norms[group_], its = plan_.centre_norms[g],
                     member = plan_.group_norms[g];
        const double slack = plan_.error(longest_, its);
        const double unsure =
            slack + plan_.error(longest_, own) + plan_.error(member, its) + plan_.error(member, own);
        const Lie lie{there_.data() + g * n + from,
                      there_.data() + group_ * n + from,
                      reach_.data() + from,
                      static_cast<int>(to - from),
                      g == group_ ? std::numeric_limits<float>::max() : 2 * apart_[g] * (1 + 1e-5f),
                      static_cast<float>(unsure),
                      static_cast<float>(slack)};
        if (!plan_.with.reaches(lie, range))
            return;
        if (plan_.unit > 0)
            scan(plan_.whole.tiles, plan_.with.scan_integers, integers_.data() + from * integer_steps_ * 2,
                 integer_reject_.data() + from, range, from, to, relieve);
        else
            scan(plan_.points.tiles, plan_.with.scan, values_.data() + from * s.d, reject_.data() + from,
                 range, from, to, relieve);
    }

    // Scans a range for queries from … to − 1, and makes room where it runs out.
    template <class V, class Relieve>
    void scan(const Tiles<V>& tiles, std::int64_t (*kernel)(const Tiles<V>&, const Front<V>&, const Range&),
              const V* values, const Sum<V>* reject, Range& range, std::int64_t from, std::int64_t to,
              const Relieve& relieve) {
        Front<V> front;
        front.values = values;
        for (int t = 0; t < tiles.n_stages; ++t)
            front.reject[t] = reject + t * static_cast<std::int64_t>(reach_.size());
        front.scores = scores(from);
        front.points = points(from);
        front.counts = counts_.data() + from;
        front.capacity = capacity_;
        front.unit = static_cast<float>(plan_.unit * plan_.unit);
        while (range.first < range.last) {
            const std::int64_t next = kernel(tiles, front, range);
            range.point += static_cast<std::int32_t>((next - range.first) * tile_width);
            range.first = next;
            for (std::int64_t i = from; i < to; ++i)
                if (counts_[i] > capacity_ - tile_width)
                    relieve(i);
        }
    }

    const SearchPlan<T>& plan_;
    const std::int64_t rows_;
    const bool keeper_;
    std::int64_t group_ = 0, first_ = 0, last_ = 0, capacity_ = 0;
    std::vector<float> values_;          // [front][dimension][row]
    std::vector<double> squares_;        // [stage][query]: ‖q‖² up to the end of the stage
    std::vector<float> reject_, reach_;  // [stage][query]: least score; [query]: farthest distance
    std::vector<std::int16_t> integers_; // [front][step][row][2]: values in units, where there are any
    std::vector<std::int32_t> integer_reject_;
    std::int64_t integer_steps_ = 0;
    std::vector<float> there_, apart_; // [group][query]: squared distance from the centre; [group]: from ours
    double longest_ = 0;               // ‖q‖
    std::vector<std::int64_t> order_;
    std::vector<float> scores_;                 // [query][capacity]
    std::vector<std::int32_t> points_, counts_; // [query][capacity] and [query]
};

// A point that was found, by (distance, index).
struct Hit {
    double square;
    std::int32_t point;
    bool operator<(const Hit& other) const {
        return square < other.square || (square == other.square && point < other.point);
    }
};

// Calls work(chunk, task) for all queries, task by task, with the chunk of the thread that runs it. Tasks are
// not so long that their buffers leave the cache.
template <class T, class Work>
void each_task(const SearchPlan<T>& plan, int n_threads, Watch& watch, const Work& work) {
    const std::int64_t most = plan.with.rows * std::max<std::int64_t>(1, 240 / plan.with.rows);
    const auto& s = plan.search;
    std::vector<QueryTask> tasks;
    for (std::int64_t g = 0; g < s.groups; ++g)
        for (std::int64_t i = s.queries.starts[g]; i < s.queries.starts[g + 1]; i += most)
            tasks.push_back({g, i, std::min(i + most, s.queries.starts[g + 1])});
    Workspaces<QueryChunk<T>> chunks(n_threads);
    each_piece(static_cast<std::int64_t>(tasks.size()), n_threads, watch, [&](std::int64_t t, int place) {
        work(chunks.at(place, plan, place == 0), tasks[t]);
        watch.advance(tasks[t].last - tasks[t].first);
    });
}

} // namespace lowdim::detail
