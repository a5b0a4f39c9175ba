// _native.guttman.
#include "bind.hpp"

#include <lowdim/guttman.hpp>

#include <cstdint>
#include <nanobind/stl/optional.h>

namespace lowdim::bind {

namespace {

nb::object call(const Matrix<float>& D, const std::optional<Matrix<float>>& W, const Matrix<float>& points,
                const Matrix<float>& map, int n_threads, nb::handle tick) {
    const std::int64_t rows = size(D), n = size(D, 1), k = size(points, 1);
    demand(k >= 1 && size(points) == rows && size(map) == k && size(map, 1) == n,
           "guttman: points (rows, k) and a map (k, n) for distances (rows, n) are needed", points, map, D);
    if (W)
        demand(size(*W) == rows && size(*W, 1) == n, "guttman: as many weights as distances are needed", *W,
               D);
    demand_threads(n_threads);
    auto out = empty<double>(rows, k);
    auto sums = empty<double>(rows, 2);
    watched(tick, [&](Watch& watch) {
        guttman(D.data(), W ? W->data() : nullptr, points.data(), map.data(), rows, n, k, out.data(),
                sums.data(), n_threads, watch);
    });
    return nb::make_tuple(out, sums);
}

} // namespace

void bind_guttman(nb::module_& m) {
    m.def("guttman", &call, nb::arg("D").noconvert(), nb::arg("W").none().noconvert(),
          nb::arg("points").noconvert(), nb::arg("map").noconvert(), nb::kw_only(), nb::arg("n_threads") = 1,
          nb::arg("tick") = nb::none(),
          "Guttman's transform (rows, k) of points with distances D (rows, n) to a map (k, n), and for each "
          "the "
          "sums of w (D - d)^2 and w d^2.");
}

} // namespace lowdim::bind
