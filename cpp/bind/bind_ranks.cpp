// _native.squared_distances, _native.ranks, _native.ranks_in and _native.common_neighbors.
#include "bind.hpp"

#include <lowdim/coranking.hpp>
#include <lowdim/ranks.hpp>

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace lowdim::bind {

namespace {

using Indices = Matrix<std::int32_t>;
using Rows = std::optional<Vector<std::int64_t>>;
using Totals = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>; // added to

template <class I>
void demand_rows(const std::string& what, const I* values, std::size_t count, std::int64_t n) {
    demand_each(
        values, static_cast<std::int64_t>(count), [n](I value) { return value >= 0 && value < n; },
        what + " must be rows from 0 to " + std::to_string(n - 1));
}

template <class T>
Asking asking(const std::string& name, const Matrix<T>& X, const Indices& others, const Rows& rows) {
    const std::int64_t n = size(X);
    const Asking found = rows ? Asking{rows->data(), size(*rows)} : Asking{nullptr, n};
    demand(size(others) == found.count,
           name + ": one row of indices is needed for each of " + std::to_string(found.count) + " rows",
           size(others));
    demand_rows(name + ": indices", others.data(), others.size(), n);
    if (rows)
        demand_rows(name + ": rows", rows->data(), rows->shape(0), n);
    return found;
}

template <class T>
Made<double> call_squared_distances(const Matrix<T>& X, const Indices& others, const Rows& rows,
                                    int n_threads) {
    const Asking who = asking("squared_distances", X, others, rows);
    demand_threads(n_threads);
    auto out = empty<double>(others.shape(0), others.shape(1));
    watched(nb::none(), [&](Watch& watch) {
        squared_distances(view(X), who, others.data(), size(others, 1), out.data(), n_threads, watch);
    });
    return out;
}

template <class T>
Made<std::int32_t> call_ranks(const Matrix<T>& X, const Indices& targets, const Rows& rows, int n_threads,
                              nb::object tick) {
    const Asking who = asking("ranks", X, targets, rows);
    demand_threads(n_threads);
    auto out = empty<std::int32_t>(targets.shape(0), targets.shape(1));
    watched(tick, [&](Watch& watch) {
        ranks(view(X), who, targets.data(), size(targets, 1), out.data(), n_threads, watch);
    });
    return out;
}

Made<std::int32_t> call_ranks_in(const Matrix<double>& D, const Indices& targets, int n_threads) {
    demand(targets.shape(0) == D.shape(0), "ranks_in: targets must have one row for each row of D",
           size(targets));
    demand_rows("ranks_in: targets", targets.data(), targets.size(), size(D, 1));
    demand_threads(n_threads);
    auto out = empty<std::int32_t>(targets.shape(0), targets.shape(1));
    watched(nb::none(), [&](Watch& watch) {
        ranks_in(view(D), targets.data(), size(targets, 1), out.data(), n_threads, watch);
    });
    return out;
}

Made<double> call_common(const Matrix<double>& A, const Matrix<double>& B, const Vector<double>& weights,
                         const Totals& total, const Totals& squares, int n_threads) {
    demand(A.shape(1) >= 3, "common_neighbors: at least 3 columns are needed", size(A, 1));
    demand(B.shape(0) == A.shape(0) && B.shape(1) == A.shape(1),
           "common_neighbors: B must have the shape of A", B, A);
    for (const std::int64_t given : {size(weights), size(total), size(squares)})
        demand(given == size(A, 1) - 2,
               "common_neighbors: weights, total and squares must have two entries fewer than A has columns",
               given);
    demand_threads(n_threads);
    auto scores = empty<double>(A.shape(0));
    watched(nb::none(), [&](Watch& watch) {
        common_neighbors(view(A), view(B), weights.data(), total.data(), squares.data(), scores.data(),
                         n_threads, watch);
    });
    return scores;
}

template <class T> void define(nb::module_& m) {
    m.def("squared_distances", &call_squared_distances<T>, nb::arg("X").noconvert(),
          nb::arg("others").noconvert(), nb::kw_only(), nb::arg("rows").noconvert() = nb::none(),
          nb::arg("n_threads") = 1,
          "Squared distances (m, k) of rows of X (all without rows) from their own others (m, k).");
    m.def("ranks", &call_ranks<T>, nb::arg("X").noconvert(), nb::arg("targets").noconvert(), nb::kw_only(),
          nb::arg("rows").noconvert() = nb::none(), nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(),
          "How many other rows come before each target (m, k) by (distance, index).");
}

} // namespace

void bind_ranks(nb::module_& m) {
    define<float>(m);
    define<double>(m);
    m.def("ranks_in", &call_ranks_in, nb::arg("D").noconvert(), nb::arg("targets").noconvert(), nb::kw_only(),
          nb::arg("n_threads") = 1,
          "How many columns of D (m, n) come before each target by (distance, index).");
    m.def("common_neighbors", &call_common, nb::arg("A").noconvert(), nb::arg("B").noconvert(),
          nb::arg("weights").noconvert(), nb::arg("total").noconvert(), nb::arg("squares").noconvert(),
          nb::kw_only(), nb::arg("n_threads") = 1,
          "Add sums over rows of the neighbours that A and B share, by size of neighbourhood.");
}

} // namespace lowdim::bind
