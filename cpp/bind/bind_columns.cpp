// _native.column_sums and _native.centre_columns.
#include "bind.hpp"

#include <lowdim/columns.hpp>

namespace lowdim::bind {

namespace {

template <class T>
nb::tuple call_sums(const Matrix<T>& X, const Vector<double>& shift, const Vector<double>& weights,
                    int n_threads) {
    const RowMajor<const T> x = view(X);
    demand(size(shift) == x.cols, "column_sums: shift must have the columns of X", size(shift));
    demand(size(weights) == x.rows, "column_sums: weights must have the rows of X", size(weights));
    demand_threads(n_threads);
    Made<double> sums = empty<double>(x.cols), squares = empty<double>(x.cols);
    watched(nb::none(), [&](Watch& watch) {
        column_sums(x, shift.data(), weights.data(), sums.data(), squares.data(), n_threads, watch);
    });
    return nb::make_tuple(sums, squares);
}

template <class T, class U> void call_centre(const Matrix<T>& X, const Output<U>& out, int n_threads) {
    const RowMajor<const T> x = view(X);
    const RowMajor<U> y = view(out);
    demand(x.rows == y.rows && x.cols == y.cols && x.rows > 0,
           "centre_columns: out must have the shape of X, which has rows", out, X);
    demand_threads(n_threads);
    watched(nb::none(), [&](Watch& watch) { centre_columns(x, y, n_threads, watch); });
}

template <class T> void define_sums(nb::module_& m) {
    m.def("column_sums", &call_sums<T>, nb::arg("X").noconvert(), nb::arg("shift").noconvert(),
          nb::arg("weights").noconvert(), nb::kw_only(), nb::arg("n_threads") = 1,
          "Weighted sums, and sums of squares, of each column of X less shift.");
}

template <class T, class U> void define_centre(nb::module_& m) {
    m.def("centre_columns", &call_centre<T, U>, nb::arg("X").noconvert(), nb::arg("out").noconvert(),
          nb::kw_only(), nb::arg("n_threads") = 1, "Fill out with X less the mean of each column.");
}

} // namespace

void bind_columns(nb::module_& m) {
    define_sums<float>(m);
    define_sums<double>(m);
    define_centre<float, float>(m);
    define_centre<float, double>(m);
    define_centre<double, float>(m);
    define_centre<double, double>(m);
}

} // namespace lowdim::bind
