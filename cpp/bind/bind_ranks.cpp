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

template <class T> using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T> using Vector = nb::ndarray<T, nb::shape<-1>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Rows = std::optional<Vector<const std::int64_t>>;

void demand(bool right, const std::string& needed, std::int64_t got) {
    if (!right)
        throw nb::value_error((needed + "; got " + std::to_string(got) + ". Pass arrays that fit.").c_str());
}

std::int64_t length(std::size_t size) { return static_cast<std::int64_t>(size); }

template <class T> RowMajor<const T> view(const Matrix<T>& A) {
    return {A.data(), length(A.shape(0)), length(A.shape(1)), static_cast<std::ptrdiff_t>(A.shape(1))};
}

template <class I>
void demand_rows(const std::string& what, const I* values, std::size_t count, std::int64_t n) {
    const I* bad = std::find_if(values, values + count, [n](I value) { return value < 0 || value >= n; });
    if (bad != values + count)
        demand(false, what + " must be rows from 0 to " + std::to_string(n - 1), *bad);
}

template <class T>
Asking asking(const std::string& name, const Matrix<T>& X, const Indices& others, const Rows& rows) {
    const std::int64_t n = length(X.shape(0));
    const Asking found = rows ? Asking{rows->data(), length(rows->shape(0))} : Asking{nullptr, n};
    demand(length(others.shape(0)) == found.count,
           name + ": one row of indices is needed for each of " + std::to_string(found.count) + " rows",
           length(others.shape(0)));
    demand_rows(name + ": indices", others.data(), others.size(), n);
    if (rows)
        demand_rows(name + ": rows", rows->data(), rows->shape(0), n);
    return found;
}

template <class T> auto empty(std::size_t m, std::size_t k, const char* dtype) {
    return nb::cast<nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::c_contig>>(
        nb::module_::import_("numpy").attr("empty")(nb::make_tuple(m, k), dtype));
}

void demand_threads(int n_threads) { demand(n_threads >= 1, "n_threads must be 1 or more", n_threads); }

template <class T>
nb::object call_squared_distances(const Matrix<T>& X, const Indices& others, const Rows& rows,
                                  int n_threads) {
    const Asking who = asking("squared_distances", X, others, rows);
    demand_threads(n_threads);
    auto out = empty<double>(others.shape(0), others.shape(1), "float64");
    watched(nb::none(), [&](Watch& watch) {
        squared_distances(view(X), who, others.data(), length(others.shape(1)), out.data(), n_threads, watch);
    });
    return nb::cast(out);
}

template <class T>
nb::object call_ranks(const Matrix<T>& X, const Indices& targets, const Rows& rows, int n_threads,
                      nb::object tick) {
    const Asking who = asking("ranks", X, targets, rows);
    demand_threads(n_threads);
    auto out = empty<std::int32_t>(targets.shape(0), targets.shape(1), "int32");
    watched(tick, [&](Watch& watch) {
        ranks(view(X), who, targets.data(), length(targets.shape(1)), out.data(), n_threads, watch);
    });
    return nb::cast(out);
}

nb::object call_ranks_in(const Matrix<double>& D, const Indices& targets, int n_threads) {
    demand(targets.shape(0) == D.shape(0), "ranks_in: targets must have one row for each row of D",
           length(targets.shape(0)));
    demand_rows("ranks_in: targets", targets.data(), targets.size(), length(D.shape(1)));
    demand_threads(n_threads);
    auto out = empty<std::int32_t>(targets.shape(0), targets.shape(1), "int32");
    watched(nb::none(), [&](Watch& watch) {
        ranks_in(view(D), targets.data(), length(targets.shape(1)), out.data(), n_threads, watch);
    });
    return nb::cast(out);
}

nb::object call_common(const Matrix<double>& A, const Matrix<double>& B, const Vector<const double>& weights,
                       const Vector<std::int64_t>& total, const Vector<std::int64_t>& squares,
                       int n_threads) {
    demand(A.shape(1) >= 3, "common_neighbors: at least 3 columns are needed", length(A.shape(1)));
    demand(B.shape(0) == A.shape(0) && B.shape(1) == A.shape(1),
           "common_neighbors: B must have the shape of A", length(B.shape(0)));
    const std::size_t sizes = A.shape(1) - 2;
    for (const std::size_t given : {weights.shape(0), total.shape(0), squares.shape(0)})
        demand(given == sizes,
               "common_neighbors: weights, total and squares must have two entries fewer than A has columns",
               length(given));
    demand_threads(n_threads);
    auto scores = nb::cast<nb::ndarray<nb::numpy, double, nb::ndim<1>, nb::c_contig>>(
        nb::module_::import_("numpy").attr("empty")(A.shape(0), "float64"));
    watched(nb::none(), [&](Watch& watch) {
        common_neighbors(view(A), view(B), weights.data(), total.data(), squares.data(), scores.data(),
                         n_threads, watch);
    });
    return nb::cast(scores);
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
