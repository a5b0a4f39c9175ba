// _native.near_graph and _native.rank_candidates.
#include "bind.hpp"

#include <lowdim/near_graph.hpp>

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace lowdim::bind {

namespace {

using Any = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

RawRows::Kind kind_of(const Any& values) {
    const nb::dlpack::dtype type = values.dtype();
    const auto code = static_cast<nb::dlpack::dtype_code>(type.code);
    if (code == nb::dlpack::dtype_code::Float && type.bits == 16)
        return RawRows::Kind::half;
    if (code == nb::dlpack::dtype_code::Float && type.bits == 32)
        return RawRows::Kind::single;
    if (code == nb::dlpack::dtype_code::Float && type.bits == 64)
        return RawRows::Kind::twice;
    if (code == nb::dlpack::dtype_code::UInt && type.bits == 8)
        return RawRows::Kind::byte;
    refuse("near_graph: rows must be float16, float32, float64 or uint8; got another type. Convert them.");
}

// (values, means or None, norms or None), kept alive while a kernel reads them.
struct Held {
    Any values;
    std::optional<Vector<double>> means, norms;
    RawRows rows;

    explicit Held(nb::handle of) {
        if (!nb::isinstance<nb::tuple>(of) || nb::len(of) != 3)
            refuse("near_graph: rows must be (values, means, norms); got something else. Pass these three.");
        values = nb::cast<Any>(of[0], false);
        demand(size(values) <= std::numeric_limits<std::int32_t>::max() / 2 && size(values, 1) >= 1,
               "near_graph: rows must be at most 2³⁰, with a column", values);
        rows = {values.data(), kind_of(values), size(values), size(values, 1), nullptr, nullptr};
        rows.means = each(of[1], means);
        rows.norms = each(of[2], norms);
    }

private:
    const double* each(nb::handle from, std::optional<Vector<double>>& to) const {
        if (from.is_none())
            return nullptr;
        to = nb::cast<Vector<double>>(from, false);
        demand(size(*to) == rows.count, "near_graph: means and norms must be as many as rows", values, *to);
        return to->data();
    }
};

void check(const Held& points, const std::optional<Held>& queries, std::int64_t k, int n_threads) {
    const std::int64_t most = points.rows.count - (queries ? 0 : 1);
    if (k < 1 || k > most)
        refuse("near_graph: k must be 1 to " + std::to_string(most) + "; got " + std::to_string(k) +
               ". Lower it.");
    const auto twice = [](const Held& held) { return held.rows.kind == RawRows::Kind::twice; };
    demand(!queries || (queries->rows.d == points.rows.d && twice(*queries) == twice(points)),
           "near_graph: points and queries must have the same columns, and both or neither be float64",
           points.values, (queries ? *queries : points).values);
    demand_threads(n_threads);
}

nb::tuple call_graph(nb::handle points, nb::handle queries, std::int64_t k, std::int64_t trees,
                     std::int64_t leaf, std::int64_t rounds, std::int64_t keep, double by_trees,
                     double target, std::uint64_t seed, int n_threads, nb::handle tick) {
    const Held of(points);
    std::optional<Held> from;
    if (!queries.is_none())
        from.emplace(queries);
    check(of, from, k, n_threads);
    demand(trees >= 1 && leaf >= 2 && rounds >= 0 && keep >= k,
           "near_graph: there must be a tree, two rows in a leaf, and room for k", trees, leaf, rounds, keep);
    auto indices = empty<std::int32_t>((from ? *from : of).rows.count, k);
    auto distances = empty<float>((from ? *from : of).rows.count, k);
    GraphSample sample;
    watched(tick, [&](Watch& watch) {
        sample = near_graph(of.rows, from ? &from->rows : nullptr, k,
                            {trees, leaf, rounds, keep, by_trees, target, seed}, indices.data(),
                            distances.data(), n_threads, watch);
    });
    auto rows = empty<std::int32_t>(static_cast<std::int64_t>(sample.rows.size()));
    auto farthest = empty<float>(static_cast<std::int64_t>(sample.rows.size()));
    std::copy(sample.rows.begin(), sample.rows.end(), rows.data());
    std::copy(sample.farthest.begin(), sample.farthest.end(), farthest.data());
    return nb::make_tuple(indices, distances, rows, farthest);
}

nb::tuple call_rank(nb::handle points, nb::handle queries, const Matrix<std::int32_t>& candidates,
                    std::int64_t k, int n_threads) {
    const Held of(points);
    const std::optional<Held> from(std::in_place, queries);
    check(of, from, k, n_threads);
    demand(size(candidates) == from->rows.count && size(candidates, 1) >= k,
           "rank_candidates: there must be k candidates for each query", candidates);
    demand_each(
        candidates.data(), size(candidates) * size(candidates, 1),
        [&](std::int32_t c) { return 0 <= c && c < of.rows.count; },
        "rank_candidates: candidates must be rows of the points");
    auto indices = empty<std::int32_t>(from->rows.count, k);
    auto distances = empty<float>(from->rows.count, k);
    watched(nb::none(), [&](Watch& watch) {
        rank_candidates(of.rows, from->rows, candidates.data(), size(candidates, 1), k, indices.data(),
                        distances.data(), n_threads, watch);
    });
    return nb::make_tuple(indices, distances);
}

} // namespace

void bind_near_graph(nb::module_& m) {
    m.def("near_graph", &call_graph, nb::arg("points"), nb::arg("queries").none(), nb::kw_only(),
          nb::arg("k"), nb::arg("trees"), nb::arg("leaf"), nb::arg("rounds"), nb::arg("keep"),
          nb::arg("by_trees"), nb::arg("target"), nb::arg("seed"), nb::arg("n_threads"),
          nb::arg("tick") = nb::none(),
          "Indices (m, k) and distances of neighbours found by a forest and rounds of neighbours of "
          "neighbours, some of the rows, and how far the true last of their neighbours is, or NaN; rows are "
          "(values, means or None, norms or None).");
    m.def("rank_candidates", &call_rank, nb::arg("points"), nb::arg("queries"), nb::arg("candidates"),
          nb::kw_only(), nb::arg("k"), nb::arg("n_threads"),
          "Indices (m, k) and distances of the nearest of some candidates (m, c) of each query.");
}

} // namespace lowdim::bind
