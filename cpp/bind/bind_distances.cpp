// _native.euclidean and _native.class_distances.
#include "bind.hpp"

#include <lowdim/distances.hpp>

#include <cstdint>
#include <string>

namespace lowdim::bind {

namespace {

template <class T> void demand_like(const std::string& name, const RowMajor<T>& Q, const RowMajor<T>& X) {
    demand(Q.cols == X.cols, name + ": Q must have the " + std::to_string(X.cols) + " columns of X", Q.cols);
}

void demand_shape(const std::string& name, const RowMajor<double>& out, std::int64_t rows,
                  std::int64_t cols) {
    demand(out.rows == rows, name + ": " + std::to_string(rows) + " rows are needed, one for each of Q",
           out.rows);
    demand(out.cols == cols, name + ": " + std::to_string(cols) + " columns are needed", out.cols);
}

template <class T>
void call_euclidean(const Matrix<T>& Q, const Matrix<T>& X, const Output<double>& D, bool root,
                    int n_threads) {
    const auto q = view(Q), x = view(X);
    demand_like("euclidean", q, x);
    demand_shape("euclidean: D", view(D), q.rows, x.rows);
    demand_threads(n_threads);
    watched(nb::none(), [&](Watch& watch) { euclidean(q, x, root, view(D), n_threads, watch); });
}

template <class T>
void call_class_distances(const Matrix<T>& Q, const Matrix<T>& X, const Vector<std::int64_t>& starts,
                          const Output<double>& out, bool root, int n_threads, nb::object tick) {
    const auto q = view(Q), x = view(X);
    const std::int64_t classes = size(starts) - 1;
    demand_like("class_distances", q, x);
    demand(classes >= 1, "class_distances: starts must have one entry more than there are classes",
           classes + 1);
    demand(starts.data()[0] == 0, "class_distances: starts must begin with 0", starts.data()[0]);
    for (std::int64_t c = 0; c < classes; ++c)
        demand(starts.data()[c] <= starts.data()[c + 1], "class_distances: starts must not fall",
               starts.data()[c + 1]);
    demand(starts.data()[classes] == x.rows, "class_distances: starts must end with the rows of X",
           starts.data()[classes]);
    demand_shape("class_distances: out", view(out), q.rows, classes);
    demand_threads(n_threads);
    watched(tick, [&](Watch& watch) {
        class_distances(q, x, starts.data(), classes, root, out.data(), n_threads, watch);
    });
}

template <class T> void define(nb::module_& m) {
    m.def("euclidean", &call_euclidean<T>, nb::arg("Q").noconvert(), nb::arg("X").noconvert(),
          nb::arg("D").noconvert(), nb::kw_only(), nb::arg("root") = true, nb::arg("n_threads") = 1,
          "Fill D (m, n) with the distances of the rows of Q and X, or their squares.");
    m.def("class_distances", &call_class_distances<T>, nb::arg("Q").noconvert(), nb::arg("X").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("out").noconvert(), nb::kw_only(), nb::arg("root") = true,
          nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(),
          "Fill out (m, C) with the sums of those distances over the rows of each class.");
}

} // namespace

void bind_distances(nb::module_& m) {
    define<float>(m);
    define<double>(m);
}

} // namespace lowdim::bind
