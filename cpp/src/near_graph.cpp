// Each row has a list of the nearest that it has met. Trees fill the lists: rows of a leaf meet each other.
// Then rounds: a row meets the neighbours of its neighbours, in lists that stay as they were until the round
// ends, so that no result depends on the order of threads. Lists are kept by keys of bytes; the exact
// distances of what is left give the order and the answer.
#include <lowdim/near_graph.hpp>

#include "candidate_ranking.hpp"
#include "chunks.hpp"
#include "forest.hpp"
#include "near_lists.hpp"
#include "raw_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace lowdim {
namespace {

using namespace detail;

constexpr std::int64_t chunk = 256;    // rows of a piece of work
constexpr std::int64_t most_met = 768; // candidates of a row in a round
constexpr std::int64_t sampled = 128;  // rows by which a search is continued or ended
constexpr std::int64_t measured = 200; // others, by which its result is judged
constexpr std::int64_t surely = 4;     // times the candidates of a row that are ranked for these

// Points and queries in one sequence, which the first tree puts into the order of its leaves.
class Graph {
public:
    Graph(const RawRows& points, const RawRows* queries, std::int64_t k, const GraphPlan& plan, int n_threads,
          Watch& watch)
        : points_(points), queries_(queries), k_(k), plan_(plan), n_threads_(n_threads), watch_(watch),
          with_(byte_kernels()), n_(points.count), all_(n_ + (queries ? queries->count : 0)),
          rows_(all_, points.d), original_(all_), lists_(all_, plan.keep),
          steps_(plan.trees + plan.rounds + 2) {}

    GraphSample find(std::int32_t* indices, float* distances) {
        const bool twice = points_.kind == RawRows::Kind::twice;
        twice ? quantise<double>() : quantise<float>();
        for (std::int64_t tree = 0; tree < plan_.trees && !watch_.stopped(); ++tree) {
            meet_in_leaves(tree);
            if (tree == 0)
                choose_sample();
            if (recall() >= plan_.by_trees)
                break;
        }
        for (std::int64_t round = 0; round < plan_.rounds && !watch_.stopped() && recall() < plan_.target;
             ++round)
            meet_neighbors();
        if (watch_.stopped())
            return {};
        twice ? rank<double>(indices, distances) : rank<float>(indices, distances);
        return twice ? judge<double>() : judge<float>();
    }

private:
    const RawRows& raw(std::int64_t o) const { return o < n_ ? points_ : *queries_; }
    std::int64_t in_raw(std::int64_t o) const { return o < n_ ? o : o - n_; }
    bool is_point(std::int64_t i) const { return original_[i] < n_; }
    std::int64_t asked() const { return queries_ ? queries_->count : n_; }

    // Runs piece(first, last, place) over all rows, as one of the steps that progress consists of.
    template <class Piece> void each(const Piece& piece) {
        const std::int64_t pieces = (all_ + chunk - 1) / chunk;
        share(pieces, asked() / steps_, n_threads_, watch_,
              [&](std::int64_t c, int place) { piece(c * chunk, std::min(all_, (c + 1) * chunk), place); });
    }

    // Less the median of some, which takes nothing from their distances, leaves finer steps, and does not
    // follow a few that lie far out.
    template <class T> void quantise() {
        const std::int64_t d = points_.d, some = std::min<std::int64_t>(n_, 511);
        std::vector<T> middle(static_cast<std::size_t>(d)), row(middle),
            values(static_cast<std::size_t>(some * d));
        for (std::int64_t i = 0; i < some; ++i) {
            read_row(points_, n_ * i / some, row.data());
            for (std::int64_t j = 0; j < d; ++j)
                values[j * some + i] = row[j];
        }
        for (std::int64_t j = 0; j < d; ++j) {
            const auto from = values.begin() + j * some;
            std::nth_element(from, from + some / 2, from + some);
            middle[j] = from[some / 2];
        }
        Workspaces<std::vector<T>> workspaces(n_threads_);
        each([&](std::int64_t from, std::int64_t to, int place) {
            std::vector<T>& x = workspaces.at(place, d);
            for (std::int64_t o = from; o < to; ++o) {
                read_row(raw(o), in_raw(o), x.data());
                for (std::int64_t j = 0; j < d; ++j)
                    x[j] -= middle[j];
                rows_.set(o, x.data());
            }
            std::fill(lists_.of(from), lists_.of(to), no_entry);
        });
        rows_.settle(all_);
        std::iota(original_.begin(), original_.end(), 0);
    }

    // Leaves of one tree: their rows meet each other.
    void meet_in_leaves(std::int64_t tree) {
        std::vector<std::int32_t> order(static_cast<std::size_t>(all_));
        std::iota(order.begin(), order.end(), 0);
        if (queries_)
            std::stable_partition(order.begin(), order.end(), [&](std::int32_t i) { return is_point(i); });
        const Leaves leaves =
            grow(rows_, std::move(order), n_, plan_.leaf,
                 plan_.seed * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(tree), n_threads_, watch_);
        if (watch_.stopped())
            return;
        if (tree == 0)
            reorder(leaves);
        Workspaces<LeafSpace> workspaces(n_threads_);
        share(leaves.count(), asked() / steps_, n_threads_, watch_, [&](std::int64_t l, int place) {
            LeafSpace& w = workspaces.at(place, rows_.steps());
            const std::int64_t from = leaves.starts[l], to = leaves.starts[l + 1];
            w.members.resize(static_cast<std::size_t>(to - from));
            if (tree == 0)
                std::iota(w.members.begin(), w.members.end(), static_cast<std::int32_t>(from));
            else
                std::copy(leaves.order.begin() + from, leaves.order.begin() + to, w.members.begin());
            w.points.clear();
            std::copy_if(w.members.begin(), w.members.end(), std::back_inserter(w.points),
                         [&](std::int32_t i) { return is_point(i); });
            for (std::int64_t first = 0; first < to - from; first += chunk)
                meet(w, first, std::min(first + chunk, to - from));
        });
    }

    struct LeafSpace {
        explicit LeafSpace(std::int64_t steps) : panel(steps) {}
        Panel panel;
        std::vector<std::int32_t> members, points;
        std::vector<Entry> found, met, room;
        std::vector<std::int64_t> counts;
    };

    // Some members of a leaf meet its points, a panel at a time. Lists change once all of them are met.
    void meet(LeafSpace& w, std::int64_t first, std::int64_t last) {
        const auto count = static_cast<std::int64_t>(w.points.size());
        const std::int32_t* members = w.members.data() + first;
        w.found.resize(static_cast<std::size_t>((last - first) * count));
        w.counts.assign(static_cast<std::size_t>(last - first), 0);
        for (std::int64_t p = 0; p < count; p += wide)
            compare(
                w, w.points.data() + p, static_cast<int>(std::min<std::int64_t>(wide, count - p)), members,
                last - first, [&](std::int64_t i) { return lists_.limit(members[i]); },
                [&](std::int64_t i, const std::vector<Entry>& met) {
                    std::copy(met.begin(), met.end(), w.found.begin() + i * count + w.counts[i]);
                    w.counts[i] += static_cast<std::int64_t>(met.size());
                });
        for (std::int64_t i = 0; i < last - first; ++i) {
            const Entry* found = w.found.data() + i * count;
            w.met.assign(found, found + w.counts[i]);
            if (!w.met.empty())
                join(lists_.of(members[i]), lists_.keep(), w.met, w.room);
        }
    }

    // Calls meet(i, entries) for those of `count` rows that have some of the points, a panel of them, within
    // their limit(i).
    template <class Limit, class Meet>
    void compare(LeafSpace& w, const std::int32_t* points, int some, const std::int32_t* asking,
                 std::int64_t count, const Limit& limit, const Meet& meet) {
        float keys[tall * wide], limits[tall];
        std::uint64_t within[tall];
        const std::int8_t* rows[tall];
        ByteScale scales[tall];
        fill(w.panel, with_, rows_, points, some);
        for (std::int64_t i = 0; i < count; i += tall) {
            for (int r = 0; r < tall; ++r) {
                const std::int64_t at = std::min(i + r, count - 1);
                rows[r] = rows_.at(asking[at]);
                scales[r] = rows_.scale(asking[at]);
                limits[r] = limit(at);
            }
            with_.keys(rows, scales, limits, w.panel, rows_.steps(), keys, within);
            for (int r = 0; r < tall && i + r < count; ++r) {
                w.met.clear();
                for (std::uint64_t bits = within[r]; bits != 0; bits &= bits - 1) {
                    const int at = std::countr_zero(bits);
                    if (at < some && points[at] != asking[i + r])
                        w.met.push_back(entry(keys[r * wide + at], points[at], true));
                }
                if (!w.met.empty())
                    meet(i + r, w.met);
            }
        }
    }

    // Some rows whose neighbours, in keys of bytes, are found among all points: by the first of these the
    // search goes on or ends, by the others it is judged.
    void choose_sample() {
        std::vector<std::int32_t> asking, points;
        for (std::int64_t i = 0; i < all_; ++i) {
            if (is_point(i))
                points.push_back(static_cast<std::int32_t>(i));
            if (!queries_ || !is_point(i))
                asking.push_back(static_cast<std::int32_t>(i));
        }
        const auto whole = static_cast<std::int64_t>(asking.size());
        const std::int64_t ruling = std::min(sampled, whole), judging = std::min(measured, whole),
                           count = ruling + judging, wide_k = surely * lists_.keep();
        for (std::int64_t s = 0; s < ruling; ++s)
            sample_.push_back(asking[whole * s / ruling]);
        for (std::int64_t s = 0; s < judging; ++s)
            sample_.push_back(asking[whole * (2 * s + 1) / (2 * judging)]);
        constexpr std::int64_t pieces = 64;
        std::vector<std::vector<Entry>> nearest(pieces, std::vector<Entry>(count * wide_k, no_entry));
        each_piece(pieces, n_threads_, watch_, [&](std::int64_t piece) {
            LeafSpace w(rows_.steps());
            const auto from = n_ * piece / pieces, to = n_ * (piece + 1) / pieces;
            for (std::int64_t p = from; p < to; p += wide)
                compare(
                    w, points.data() + p, static_cast<int>(std::min<std::int64_t>(wide, to - p)),
                    sample_.data(), count,
                    [&](std::int64_t s) { return limit_of(nearest[piece][(s + 1) * wide_k - 1]); },
                    [&](std::int64_t s, std::vector<Entry>& met) {
                        join(nearest[piece].data() + s * wide_k, wide_k, met, w.room);
                    });
        });
        LeafSpace w(1);
        for (std::int64_t s = 0; s < count; ++s) {
            for (std::int64_t piece = 1; piece < pieces; ++piece) {
                const Entry* own = nearest[piece].data() + s * wide_k;
                w.met.assign(own, std::find(own, own + wide_k, no_entry));
                join(nearest[0].data() + s * wide_k, wide_k, w.met, w.room);
            }
            if (s < ruling)
                farthest_.push_back(limit_of(nearest[0][s * wide_k + k_ - 1]));
        }
        judging_.assign(sample_.begin() + ruling, sample_.end());
        sample_.resize(static_cast<std::size_t>(ruling));
        true_.assign(nearest[0].begin() + ruling * wide_k, nearest[0].end());
    }

    // Share of the neighbours of the sample that its lists have.
    double recall() const {
        std::int64_t found = 0;
        for (std::size_t s = 0; s < sample_.size(); ++s)
            for (std::int64_t j = 0; j < k_; ++j) {
                const Entry e = lists_.of(sample_[s])[j];
                found += e != no_entry && key_of(e) <= farthest_[s];
            }
        return static_cast<double>(found) /
               static_cast<double>(sample_.size() * static_cast<std::size_t>(k_));
    }

    // Rows move to where the leaves of the first tree have them: near rows lie side by side from now on.
    void reorder(const Leaves& leaves) {
        original_ = leaves.order;
        std::vector<bool> moved(static_cast<std::size_t>(all_), false);
        std::vector<std::int8_t> first(static_cast<std::size_t>(rows_.stride()));
        for (std::int64_t i = 0; i < all_; ++i) {
            if (moved[i])
                continue;
            std::copy_n(rows_.at(i), rows_.stride(), first.data());
            std::int64_t to = i;
            for (std::int64_t from = original_[to]; from != i; to = from, from = original_[to]) {
                std::copy_n(rows_.at(from), rows_.stride(), rows_.at(to));
                moved[to] = true;
            }
            std::copy_n(first.data(), rows_.stride(), rows_.at(to));
            moved[to] = true;
        }
    }

    // A row that has another as neighbour is met by it, as far as there is room; bit 0 as in Entry.
    void reverse() {
        met_by_.resize(static_cast<std::size_t>(all_ * k_near()));
        counts_.assign(static_cast<std::size_t>(all_), 0);
        for (std::int64_t rank = 0; rank < k_near(); ++rank)
            for (std::int64_t i = 0; i < all_; ++i) {
                const Entry e = lists_.of(i)[rank];
                if (e == no_entry)
                    continue;
                const std::int32_t to = row_of(e);
                if (counts_[to] < k_near())
                    met_by_[to * k_near() + counts_[to]++] =
                        static_cast<std::uint32_t>(i) << 1 | (is_fresh(e) ? 1U : 0U);
            }
    }

    std::int64_t k_near() const { return std::min<std::int64_t>(k_, 24); } // neighbours to go by

    // One round.
    void meet_neighbors() {
        reverse();
        Lists next(all_, lists_.keep());
        struct Workspace {
            explicit Workspace(std::int64_t stride) : row(stride) {}
            Aligned<std::uint8_t> row;
            Seen seen;
            std::vector<std::int32_t> candidates, dots;
            std::vector<Entry> met, room;
        };
        Workspaces<Workspace> workspaces(n_threads_);
        each([&](std::int64_t from, std::int64_t to, int place) {
            Workspace& w = workspaces.at(place, rows_.stride());
            for (std::int64_t i = from; i < to; ++i) {
                Entry* list = next.of(i);
                for (std::int64_t j = 0; j < next.keep(); ++j) {
                    const Entry e = lists_.of(i)[j];
                    list[j] = e == no_entry ? e : e & ~Entry{1};
                }
                gather(i, w.candidates, w.seen);
                if (w.candidates.empty())
                    continue;
                const auto count = static_cast<int>(w.candidates.size());
                w.dots.resize(w.candidates.size());
                with_.prepare(rows_.at(i), rows_.d(), rows_.stride(), w.row.data());
                with_.dots(w.row.data(), rows_.at(0), rows_.stride(), w.candidates.data(), count,
                           w.dots.data());
                const ByteScale own = rows_.scale(i);
                const float limit = lists_.limit(i);
                w.met.clear();
                for (int c = 0; c < count; ++c) {
                    const float key = detail::key_of(w.dots[c], own, rows_.scale(w.candidates[c]));
                    if (key <= limit)
                        w.met.push_back(entry(key, w.candidates[c], true));
                }
                if (!w.met.empty())
                    join(list, next.keep(), w.met, w.room);
            }
        });
        std::swap(lists_, next);
    }

    // Points that row i has not met by these ways before.
    void gather(std::int64_t i, std::vector<std::int32_t>& out, Seen& seen) const {
        out.clear();
        seen.add(static_cast<std::int32_t>(i));
        const Entry* own = lists_.of(i);
        for (std::int64_t j = 0; j < lists_.keep() && own[j] != no_entry; ++j)
            seen.add(row_of(own[j]));
        const auto by_way_of = [&](std::int32_t j, bool fresh) {
            const Entry* its = lists_.of(j);
            for (std::int64_t l = 0; l < k_near() && its[l] != no_entry; ++l)
                if ((fresh || is_fresh(its[l])) && static_cast<std::int64_t>(out.size()) < most_met &&
                    seen.add(row_of(its[l])))
                    out.push_back(row_of(its[l]));
        };
        for (std::int64_t j = 0; j < k_near() && own[j] != no_entry; ++j)
            by_way_of(row_of(own[j]), is_fresh(own[j]));
        for (std::int64_t j = 0; j < counts_[i]; ++j) {
            const std::uint32_t way = met_by_[i * k_near() + j];
            const auto from = static_cast<std::int32_t>(way >> 1);
            if ((way & 1) && is_point(from) && static_cast<std::int64_t>(out.size()) < most_met &&
                seen.add(from))
                out.push_back(from);
            by_way_of(from, way & 1);
        }
        seen.clear();
    }

    // What the lists hold, in exact distances, row after row as they lie: those of near rows are in the
    // cache.
    template <class T> void rank(std::int32_t* indices, float* distances) {
        struct Workspace {
            explicit Workspace(std::int64_t d) : ranking(d) {}
            Ranking<T> ranking;
            std::vector<std::int32_t> candidates;
        };
        Workspaces<Workspace> workspaces(n_threads_);
        each([&](std::int64_t from, std::int64_t to, int place) {
            Workspace& w = workspaces.at(place, points_.d);
            for (std::int64_t i = from; i < to; ++i) {
                if (queries_ && is_point(i))
                    continue;
                w.candidates.clear();
                for (std::int64_t j = 0; j < lists_.keep() && lists_.of(i)[j] != no_entry; ++j)
                    w.candidates.push_back(original_[row_of(lists_.of(i)[j])]);
                if (static_cast<std::int64_t>(w.candidates.size()) < k_) { // it met too few: all
                    w.candidates.resize(static_cast<std::size_t>(n_));
                    std::iota(w.candidates.begin(), w.candidates.end(), 0);
                    if (!queries_)
                        w.candidates.erase(w.candidates.begin() + original_[i]);
                }
                const std::int64_t q = in_raw(original_[i]);
                w.ranking.write(points_, raw(original_[i]), q, w.candidates.data(),
                                static_cast<std::int64_t>(w.candidates.size()), k_, indices + q * k_,
                                distances + q * k_);
            }
        });
    }

    // Distances to the true last neighbours of the rows by which the search is judged. Points that are not
    // among a row's candidates are farther, in bytes, than all of these, and so by no more than the blur
    // nearer.
    template <class T> GraphSample judge() const {
        GraphSample out;
        Ranking<T> ranking(points_.d);
        const std::int64_t wide_k = surely * lists_.keep();
        std::vector<std::int32_t> candidates, indices(static_cast<std::size_t>(k_));
        std::vector<float> distances(static_cast<std::size_t>(k_));
        for (std::size_t s = 0; s < judging_.size(); ++s) {
            const std::int32_t i = judging_[s];
            const Entry* own = true_.data() + static_cast<std::int64_t>(s) * wide_k;
            candidates.clear();
            for (std::int64_t j = 0; j < wide_k && own[j] != no_entry; ++j)
                candidates.push_back(original_[row_of(own[j])]);
            const std::int64_t q = in_raw(original_[i]), among = static_cast<std::int64_t>(candidates.size());
            ranking.write(points_, raw(original_[i]), q, candidates.data(), among, k_, indices.data(),
                          distances.data());
            const double square = 2 * (static_cast<double>(limit_of(own[wide_k - 1])) + rows_.scale(i).half);
            const double least =
                rows_.from_scale(std::sqrt(std::max(square, 0.0)) * (1 - 1e-3) - rows_.blur(i));
            const bool sure = among < wide_k || distances.back() <= least;
            out.rows.push_back(static_cast<std::int32_t>(q));
            out.farthest.push_back(sure ? distances.back() : std::numeric_limits<float>::quiet_NaN());
        }
        return out;
    }

    const RawRows& points_;
    const RawRows* queries_;
    const std::int64_t k_;
    const GraphPlan plan_;
    const int n_threads_;
    Watch& watch_;
    const ByteKernels with_;
    const std::int64_t n_, all_;
    ByteRows rows_;
    std::vector<std::int32_t> original_; // by place in the order of the first tree
    Lists lists_;
    std::vector<std::uint32_t> met_by_;
    std::vector<std::int32_t> counts_, sample_, judging_;
    std::vector<Entry> true_;     // candidates of those by which the search is judged
    std::vector<float> farthest_; // key of the last neighbour of each of the sample
    const std::int64_t steps_;
};

template <class T>
void rank_as(const RawRows& points, const RawRows& queries, const std::int32_t* candidates,
             std::int64_t among, std::int64_t k, std::int32_t* indices, float* distances, int n_threads,
             Watch& watch) {
    Workspaces<Ranking<T>> workspaces(n_threads);
    each_chunk(queries.count, chunk, n_threads, watch,
               [&](std::int64_t, std::int64_t from, std::int64_t to, int place) {
                   Ranking<T>& ranking = workspaces.at(place, points.d);
                   for (std::int64_t q = from; q < to; ++q)
                       ranking.write(points, queries, q, candidates + q * among, among, k, indices + q * k,
                                     distances + q * k);
               });
}

} // namespace

void rank_candidates(const RawRows& points, const RawRows& queries, const std::int32_t* candidates,
                     std::int64_t among, std::int64_t k, std::int32_t* indices, float* distances,
                     int n_threads, Watch& watch) {
    (points.kind == RawRows::Kind::twice ? rank_as<double> : rank_as<float>)(points, queries, candidates,
                                                                             among, k, indices, distances,
                                                                             n_threads, watch);
}

GraphSample near_graph(const RawRows& points, const RawRows* queries, std::int64_t k, const GraphPlan& plan,
                       std::int32_t* indices, float* distances, int n_threads, Watch& watch) {
    return Graph(points, queries, k, plan, n_threads, watch).find(indices, distances);
}

} // namespace lowdim
