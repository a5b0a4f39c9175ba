// _native.information_with_labels and _native.information_with_numbers.
#include "bind.hpp"

#include <lowdim/information.hpp>

namespace lowdim::bind {

namespace {

template <class T>
void demand_fit(const Matrix<double>& X, const Matrix<T>& targets, std::int64_t k, int n_threads) {
    demand(size(targets, 1) == size(X, 1) && size(X, 1) > 1 && size(targets) > 0,
           "information: targets must have the columns of X, two at least", targets, X);
    demand(size(X, 1) < std::numeric_limits<std::int32_t>::max(),
           "information: fewer than 2^31 rows are needed", X);
    demand(k >= 1, "information: n_neighbors must be 1 or more", k);
    demand_threads(n_threads);
}

Made<double> call_labels(const Matrix<double>& X, const Matrix<std::int32_t>& labels, std::int64_t n_classes,
                         std::int64_t k, int n_threads, nb::handle tick) {
    demand_fit(X, labels, k, n_threads);
    demand_each(
        labels.data(), size(labels) * size(labels, 1),
        [&](std::int32_t label) { return label >= 0 && label < n_classes; },
        "information: labels must be 0 to n_classes - 1");
    Made<double> out = empty<double>(size(X), size(labels));
    watched(tick, [&](Watch& watch) {
        information_with_labels(view(X), view(labels), n_classes, k, out.data(), n_threads, watch);
    });
    return out;
}

Made<double> call_numbers(const Matrix<double>& X, const Matrix<double>& targets, std::int64_t k,
                          int n_threads, nb::handle tick) {
    demand_fit(X, targets, k, n_threads);
    Made<double> out = empty<double>(size(X), size(targets));
    watched(tick, [&](Watch& watch) {
        information_with_numbers(view(X), view(targets), k, out.data(), n_threads, watch);
    });
    return out;
}

} // namespace

void bind_information(nb::module_& m) {
    m.def("information_with_labels", &call_labels, nb::arg("X").noconvert(), nb::arg("labels").noconvert(),
          nb::arg("n_classes"), nb::arg("k"), nb::kw_only(), nb::arg("n_threads") = 1,
          nb::arg("tick") = nb::none(), "Mutual information of each row of X with each row of labels.");
    m.def("information_with_numbers", &call_numbers, nb::arg("X").noconvert(), nb::arg("targets").noconvert(),
          nb::arg("k"), nb::kw_only(), nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(),
          "Mutual information of each row of X with each row of targets, which are orders of the first.");
}

} // namespace lowdim::bind
