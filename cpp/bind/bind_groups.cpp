// _native.stages, _native.centres and _native.group.
#include "bind.hpp"

#include <lowdim/groups.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace lowdim::bind {

namespace {

Dense<float> rows_of(const Matrix<float>& A) {
    return {const_cast<float*>(A.data()), size(A), size(A, 1), size(A, 1), false};
}

Made<std::int64_t> call_stages(const Vector<double>& variances) {
    const auto found = stages_of(variances.data(), size(variances));
    auto out = empty<std::int64_t>(found.size());
    std::copy(found.begin(), found.end(), out.data());
    return out;
}

Made<float> call_centres(std::uintptr_t gemm, const Matrix<float>& sample, std::int64_t count,
                         int n_threads) {
    demand(size(sample, 1) > 0 && count >= 1 && count <= size(sample) &&
               count <= std::numeric_limits<std::int32_t>::max() / 128,
           "centres: as many rows as centres are needed at least", count, sample);
    demand_threads(n_threads);
    auto out = empty<float>(count, size(sample, 1));
    watched(nb::none(), [&](Watch& watch) {
        centres_of(reinterpret_cast<Gemm<float>>(gemm), rows_of(sample), count, out.data(), n_threads, watch);
    });
    return out;
}

nb::tuple call_group(std::uintptr_t gemm, const Matrix<float>& Z, const Matrix<float>& centres,
                     int n_threads) {
    demand(size(Z, 1) > 0 && size(Z, 1) == size(centres, 1) && size(centres) >= 1 &&
               size(centres) <= std::numeric_limits<std::int32_t>::max() / 128 &&
               size(Z) <= std::numeric_limits<std::int32_t>::max(),
           "group: rows and centres must have as many columns", Z, centres);
    demand_threads(n_threads);
    auto order = empty<std::int32_t>(Z.shape(0));
    auto starts = empty<std::int64_t>(centres.shape(0) + 1);
    watched(nb::none(), [&](Watch& watch) {
        group(reinterpret_cast<Gemm<float>>(gemm), rows_of(Z), centres.data(), size(centres), order.data(),
              starts.data(), n_threads, watch);
    });
    return nb::make_tuple(order, starts);
}

} // namespace

void bind_groups(nb::module_& m) {
    m.attr("GROUPS_PLAIN") = Grouping::plain;
    m.attr("GROUPS_LEAST") = Grouping::least;
    m.attr("GROUPS_AXES") = Grouping::axes;
    m.attr("GROUPS_EACH") = Grouping::each;
    m.def("groups", &Grouping::count, nb::arg("n"), "Number of groups of n rows.");
    m.def("stages", &call_stages, nb::arg("variances").noconvert(),
          "Numbers of coordinates after which a partial distance is checked.");
    m.def("centres", &call_centres, nb::arg("gemm"), nb::arg("sample").noconvert(), nb::arg("count"),
          nb::kw_only(), nb::arg("n_threads") = 1,
          "Centres of some steps of k-means, by BLAS at the address `gemm`; the first rows are its start.");
    m.def("group", &call_group, nb::arg("gemm"), nb::arg("Z").noconvert(), nb::arg("centres").noconvert(),
          nb::kw_only(), nb::arg("n_threads") = 1,
          "Order of the rows by groups, the nearest to the centre first, and where each group starts.");
}

} // namespace lowdim::bind
