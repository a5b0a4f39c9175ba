// Random rows as centres split better than random planes do, and cost the same where products come in panels.
#include "forest.hpp"

#include "chunks.hpp"

#include <algorithm>
#include <utility>

namespace lowdim::detail {
namespace {

constexpr std::int64_t piece_rows = 2048, alone = 16384; // rows of a piece of work; of a node for one thread
constexpr int deepest = 24; // splits, after which rows that stay together are cut as they lie

// Rows from … to − 1, the points among them before the queries.
struct Node {
    std::int64_t from, middle, to;
    int depth;
};

struct Leaf {
    std::int64_t from, points;
    bool operator<(const Leaf& other) const { return from < other.from; }
};

struct Piece {
    std::int64_t node, from, to;
};

std::uint64_t mixed(std::uint64_t x) { // splitmix64
    x += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

class Tree {
public:
    Tree(const ByteRows& rows, std::vector<std::int32_t> order, std::int64_t points, std::int64_t leaf,
         std::uint64_t seed)
        : rows_(rows), points_(points), leaf_(leaf), seed_(seed), with_(byte_kernels()),
          order_(std::move(order)), next_(order_.size()), child_(order_.size()) {}

    Leaves grow(int n_threads, Watch& watch) {
        std::vector<Node> large;
        keep({0, points_, static_cast<std::int64_t>(order_.size()), 0}, large, small_, leaves_);
        while (!large.empty() && !watch.stopped())
            large = split(large, n_threads, watch);
        std::vector<std::vector<Leaf>> found(small_.size());
        each_piece(static_cast<std::int64_t>(small_.size()), n_threads, watch,
                   [&](std::int64_t i) { finish(small_[i], found[i]); });
        for (const auto& some : found)
            leaves_.insert(leaves_.end(), some.begin(), some.end());
        std::sort(leaves_.begin(), leaves_.end());
        std::vector<std::int64_t> starts = merged();
        return {std::move(order_), std::move(starts)};
    }

private:
    // What becomes of a node: a leaf, leaves cut as they lie, or a node to split, by all threads or by one.
    void keep(const Node& node, std::vector<Node>& large, std::vector<Node>& small,
              std::vector<Leaf>& leaves) const {
        const std::int64_t points = node.middle - node.from;
        if (points <= leaf_)
            leaves.push_back({node.from, points});
        else if (node.depth == deepest) // the queries stay with the last of the points
            for (std::int64_t from = node.from; from < node.middle; from += leaf_)
                leaves.push_back({from, std::min(leaf_, node.middle - from)});
        else
            (node.to - node.from > alone ? large : small).push_back(node);
    }

    void keep_children(const Node& node, const std::vector<Node>& children, std::vector<Node>& large,
                       std::vector<Node>& small, std::vector<Leaf>& leaves) const {
        for (Node child : children) {
            if (child.middle - child.from == node.middle - node.from) // equal rows, for all we know
                child.depth = deepest;
            if (child.from < child.to)
                keep(child, large, small, leaves);
        }
    }

    std::vector<Node> split(const std::vector<Node>& nodes, int n_threads, Watch& watch) {
        const auto count = static_cast<std::int64_t>(nodes.size());
        std::vector<Panel> centres;
        std::vector<Piece> pieces;
        centres.reserve(nodes.size());
        for (std::int64_t i = 0; i < count; ++i) {
            centres.emplace_back(rows_.steps());
            for (std::int64_t from = nodes[i].from; from < nodes[i].to; from += piece_rows)
                pieces.push_back({i, from, std::min(from + piece_rows, nodes[i].to)});
        }
        each_piece(count, n_threads, watch, [&](std::int64_t i) { draw(nodes[i], centres[i]); });
        each_piece(static_cast<std::int64_t>(pieces.size()), n_threads, watch,
                   [&](std::int64_t p) { assign(pieces[p].from, pieces[p].to, centres[pieces[p].node]); });
        std::vector<std::vector<Node>> children(nodes.size());
        each_piece(count, n_threads, watch,
                   [&](std::int64_t i) { children[i] = sort(nodes[i], centres[i].count); });
        std::vector<Node> found;
        for (std::int64_t i = 0; i < count && !watch.stopped(); ++i)
            keep_children(nodes[i], children[i], found, small_, leaves_);
        return found;
    }

    // All of a node that one thread splits.
    void finish(const Node& whole, std::vector<Leaf>& leaves) {
        Panel centres(rows_.steps());
        std::vector<Node> nodes{whole};
        while (!nodes.empty()) {
            const Node node = nodes.back();
            nodes.pop_back();
            draw(node, centres);
            assign(node.from, node.to, centres);
            keep_children(node, sort(node, centres.count), nodes, nodes, leaves);
        }
    }

    // One point from each of equal shares of the node.
    void draw(const Node& node, Panel& centres) const {
        const std::int64_t members = node.middle - node.from,
                           count = std::clamp<std::int64_t>(2 * members / leaf_ + 1, 2, wide);
        std::int32_t drawn[wide];
        for (std::int64_t c = 0; c < count; ++c) {
            const std::int64_t first = members * c / count, last = members * (c + 1) / count;
            const std::uint64_t number =
                mixed(seed_ ^ mixed(static_cast<std::uint64_t>(node.from * wide + c) ^
                                    static_cast<std::uint64_t>(node.depth) << 56));
            drawn[c] = order_[node.from + first +
                              static_cast<std::int64_t>(number % static_cast<std::uint64_t>(last - first))];
        }
        fill(centres, with_, rows_, drawn, static_cast<int>(count));
    }

    // The first of the nearest centres of each row.
    void assign(std::int64_t first, std::int64_t last, const Panel& centres) {
        const float limits[tall] = {};
        const std::int8_t* rows[tall];
        ByteScale scales[tall];
        float keys[tall * wide];
        std::uint64_t within[tall];
        for (std::int64_t from = first; from < last; from += tall) {
            for (int r = 0; r < tall; ++r) {
                const std::int32_t row = order_[std::min(from + r, last - 1)];
                rows[r] = rows_.at(row);
                scales[r] = rows_.scale(row);
                if (from + tall + r < last)
                    fetch(order_[from + tall + r]);
            }
            with_.keys(rows, scales, limits, centres, rows_.steps(), keys, within);
            for (int r = 0; r < tall && from + r < last; ++r) {
                const float* own = keys + r * wide;
                child_[from + r] =
                    static_cast<std::uint8_t>(std::min_element(own, own + centres.count) - own);
            }
        }
    }

    void fetch(std::int32_t row) const {
        const std::int8_t* at = rows_.at(row);
        for (std::int64_t byte = 0; byte < rows_.stride(); byte += 64)
            __builtin_prefetch(at + byte);
    }

    // Brings the rows of each centre together, in their order.
    std::vector<Node> sort(const Node& node, int count) {
        std::vector<Node> children(static_cast<std::size_t>(count), {0, 0, 0, node.depth + 1});
        for (std::int64_t i = node.from; i < node.middle; ++i)
            ++children[child_[i]].middle;
        for (std::int64_t i = node.from; i < node.to; ++i)
            ++children[child_[i]].to;
        std::int64_t from = node.from;
        std::vector<std::int64_t> next;
        for (Node& child : children) {
            child.from = from;
            child.middle += from;
            from = child.to += from;
            next.push_back(child.from);
        }
        for (std::int64_t i = node.from; i < node.to; ++i)
            next_[next[child_[i]]++] = order_[i];
        std::copy(next_.begin() + node.from, next_.begin() + node.to, order_.begin() + node.from);
        return children;
    }

    // Where leaves begin, those with few points joined with others, and the end.
    std::vector<std::int64_t> merged() const {
        std::vector<std::int64_t> starts;
        std::int64_t points = 0;
        for (const Leaf& leaf : leaves_) {
            if (starts.empty() || points + leaf.points > leaf_) {
                starts.push_back(leaf.from);
                points = 0;
            }
            points += leaf.points;
        }
        starts.push_back(static_cast<std::int64_t>(order_.size()));
        return starts;
    }

    const ByteRows& rows_;
    const std::int64_t points_, leaf_;
    const std::uint64_t seed_;
    const ByteKernels with_;
    std::vector<std::int32_t> order_, next_;
    std::vector<std::uint8_t> child_;
    std::vector<Node> small_;
    std::vector<Leaf> leaves_;
};

} // namespace

Leaves grow(const ByteRows& rows, std::vector<std::int32_t> order, std::int64_t points, std::int64_t leaf,
            std::uint64_t seed, int n_threads, Watch& watch) {
    return Tree(rows, std::move(order), points, leaf, seed).grow(n_threads, watch);
}

} // namespace lowdim::detail
