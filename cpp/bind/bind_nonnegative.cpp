// _native.nonnegative_sweeps and _native.nonnegative_ratios.
#include "bind.hpp"

#include <lowdim/nonnegative.hpp>

#include <cstdint>

namespace lowdim::bind {

namespace {

template <class T>
void call_sweeps(const Matrix<T>& G, const Matrix<T>& B, const Output<T>& W, std::int64_t most, double tol,
                 int n_threads, nb::handle tick) {
    const std::int64_t rows = size(B), k = size(B, 1);
    demand(k >= 1 && size(G) == k && size(G, 1) == k && size(W) == rows && size(W, 1) == k,
           "nonnegative_sweeps: G (k, k), B (rows, k) and W (rows, k) are needed", G, B, W);
    demand(most >= 1 && tol >= 0, "nonnegative_sweeps: at least one sweep and tol of 0 or more are needed",
           most, tol);
    demand_threads(n_threads);
    watched(tick, [&](Watch& watch) {
        nonnegative_sweeps(G.data(), B.data(), W.data(), rows, k, most, tol, n_threads, watch);
    });
}

template <class T>
nb::object call_ratios(const Vector<std::int32_t>& starts, const Vector<std::int32_t>& columns,
                       const Vector<T>& values, const Matrix<T>& W, const Matrix<T>& H, double least,
                       bool loss, int n_threads, nb::handle tick) {
    demand(size(starts) > 0 && size(columns) == size(values) && size(starts) - 1 == size(W) &&
               size(W, 1) == size(H, 1) && size(W, 1) >= 1,
           "nonnegative_ratios: sparse rows, W with one row for each of them and H with as many columns are "
           "needed",
           starts, columns, values, W, H);
    demand_threads(n_threads);
    const std::int64_t rows = size(W), k = size(W, 1);
    const CsrOf<T> X{starts.data(), columns.data(), values.data(), rows, size(H)};
    check({X.starts, X.columns, nullptr, X.rows, X.cols}, size(values));
    auto out = empty<T>(rows, k);
    auto losses = empty<double>(loss ? rows : 0);
    watched(tick, [&](Watch& watch) {
        nonnegative_ratios(X, W.data(), H.data(), k, static_cast<T>(least), out.data(),
                           loss ? losses.data() : nullptr, n_threads, watch);
    });
    return nb::make_tuple(out, losses);
}

template <class T> void define(nb::module_& m) {
    m.def("nonnegative_sweeps", &call_sweeps<T>, nb::arg("G").noconvert(), nb::arg("B").noconvert(),
          nb::arg("W").noconvert(), nb::arg("most"), nb::arg("tol"), nb::kw_only(), nb::arg("n_threads") = 1,
          nb::arg("tick") = nb::none(),
          "Lower w G w / 2 - b w with w >= 0 for each row of W by coordinate descent, in place.");
    m.def(
        "nonnegative_ratios", &call_ratios<T>, nb::arg("starts").noconvert(), nb::arg("columns").noconvert(),
        nb::arg("values").noconvert(), nb::arg("W").noconvert(), nb::arg("H").noconvert(), nb::arg("least"),
        nb::kw_only(), nb::arg("loss") = true, nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(),
        "The sums of x / (w h) h over the stored entries of each sparse row, and those of x log(x / (w h)).");
}

} // namespace

void bind_nonnegative(nb::module_& m) {
    define<float>(m);
    define<double>(m);
}

} // namespace lowdim::bind
