// _native.fitted_curve, _native.lower_cross_entropy, _native.cross_entropy, _native.cross_entropy_gradient
// and _native.place_new_cross_entropy.
#include "density_arguments.hpp"

#include <lowdim/cross_entropy.hpp>

#include <algorithm>

namespace lowdim::bind {

namespace {

Curve curve_of(double a, double b) {
    demand(a > 0 && b > 0 && b <= 4, "a and b must be positive, and b at most 4", a, b);
    return {a, b};
}

nb::tuple call_curve(double min_dist) {
    demand(min_dist >= 0 && min_dist <= 1, "min_dist must be from 0 to 1", min_dist);
    const auto [a, b] = fitted_curve(min_dist);
    return nb::make_tuple(a, b);
}

Shifts shifts_of(const Vector<std::int32_t>& order, const Matrix<std::int32_t>& shifts, std::size_t n) {
    const auto rows = static_cast<std::int32_t>(n);
    const auto point = [rows](std::int32_t j) { return j >= 0 && j < rows; };
    demand(n >= 2 && order.shape(0) == n, "order must hold every row once, of two or more", order);
    demand_each(order.data(), rows, point, "order must hold every row once");
    demand(shifts.shape(1) >= 1, "shifts must have columns", shifts);
    demand_each(
        shifts.data(), static_cast<std::int64_t>(shifts.size()),
        [rows](std::int32_t r) { return r >= 1 && r < rows; },
        "shifts must lie between 1 and the number of rows less 1");
    return {order.data(), shifts.data(), size(shifts, 1)};
}

std::int64_t call_lower(const Starts& starts, const Columns& columns, const Vector<float>& values,
                        const Output<float>& Y, const Vector<std::int32_t>& order,
                        const Matrix<std::int32_t>& shifts, double a, double b, double negatives, double rate,
                        std::int64_t every, nb::handle report, const MaybeMatrix& anchors,
                        const MaybeVector& weights, bool scaled, const MaybeVector& radii,
                        const Wanted& density, int n_threads, nb::handle tick) {
    const int k = dimensions(Y, n_threads);
    demand(every >= 1 && negatives >= 0 && rate > 0, "every and rate must be positive, negatives 0 or more",
           every, rate, negatives);
    const Affinities V = affinities_of(starts, columns, values, Y.shape(0), n_threads);
    const EpochPlan plan{.curve = curve_of(a, b),
                         .negatives = negatives,
                         .rate = rate,
                         .epochs = size(shifts),
                         .every = every,
                         .anchors = anchors_of(anchors, weights, scaled, Y.shape(0), k, n_threads),
                         .density = density_of(radii, density, Y.shape(0))};
    const Shifts by = shifts_of(order, shifts, Y.shape(0));
    std::int64_t done = 0;
    reporting(report, [&](const Report& ask) {
        watched(tick, [&](Watch& watch) {
            done = lower_cross_entropy(V, Y.data(), k, plan, by, ask, n_threads, watch);
        });
    });
    return done;
}

nb::tuple call_value(const Starts& starts, const Columns& columns, const Vector<float>& values,
                     const Matrix<float>& Y, const Vector<std::int32_t>& order,
                     const Matrix<std::int32_t>& shifts, double a, double b, int n_threads, nb::handle tick) {
    const int k = dimensions(Y, n_threads);
    const Affinities V = affinities_of(starts, columns, values, Y.shape(0), n_threads);
    const Shifts by = shifts_of(order, shifts, Y.shape(0));
    auto attraction = empty<double>(Y.shape(0)), repulsion = empty<double>(shifts.shape(1));
    watched(tick, [&](Watch& watch) {
        cross_entropy(V, Y.data(), k, curve_of(a, b), by, attraction.data(), repulsion.data(), n_threads,
                      watch);
    });
    return nb::make_tuple(attraction, repulsion);
}

Made<float> call_gradient(const Starts& starts, const Columns& columns, const Vector<float>& values,
                          const Matrix<float>& Y, const Vector<std::int32_t>& order,
                          const Matrix<std::int32_t>& shifts, double a, double b, double negatives,
                          double longest, int n_threads) {
    const int k = dimensions(Y, n_threads);
    const Affinities V = affinities_of(starts, columns, values, Y.shape(0), n_threads);
    const Shifts by = shifts_of(order, shifts, Y.shape(0));
    auto gradient = empty<float>(Y.shape(0), Y.shape(1));
    watched(nb::none(), [&](Watch& watch) {
        cross_entropy_gradient(V, Y.data(), k, curve_of(a, b), negatives, by, longest, gradient.data(),
                               n_threads, watch);
    });
    return gradient;
}

Made<float> call_place_new(const Matrix<std::int32_t>& neighbors, const Matrix<float>& v,
                           const Matrix<float>& Y, const Vector<std::int32_t>& sample, double a, double b,
                           double negatives, const MaybeVector& radii, const Wanted& density,
                           std::int64_t iterations, int n_threads, nb::handle tick) {
    const int k = dimensions(Y, n_threads);
    const std::int64_t n = size(Y);
    demand_sample(sample, n);
    demand(negatives >= 0 && iterations >= 0, "negatives and iterations must be 0 or more", negatives,
           iterations);
    const NewPoints new_points = new_points_of(neighbors, v, n, n_threads);
    const Curve curve = curve_of(a, b);
    const Density plan = density_of(radii, density, v.shape(0));
    auto out = empty<float>(v.shape(0), Y.shape(1));
    watched(tick, [&](Watch& watch) {
        place_new_cross_entropy(new_points, Y.data(), size(Y), k, curve, negatives, plan, sample.data(),
                                size(sample), iterations, out.data(), n_threads, watch);
    });
    return out;
}

} // namespace

void bind_cross_entropy(nb::module_& m) {
    m.attr("EPOCH_SOFT") = EpochPlan::soft;
    m.attr("EPOCH_CROWD_SOFT") = EpochPlan::crowd_soft;
    m.attr("EPOCH_CUT") = EpochPlan::cut;
    m.attr("EPOCH_MOMENTUM") = EpochPlan::momentum;
    m.attr("EPOCH_DAMPING") = EpochPlan::damping;
    m.def("fitted_curve", &call_curve, nb::arg("min_dist"),
          "a and b of 1/(1 + a d^2b) nearest to 1 up to min_dist and exp(min_dist − d) beyond.");
    m.def(
        "lower_cross_entropy", &call_lower, nb::arg("starts").noconvert(), nb::arg("columns").noconvert(),
        nb::arg("values").noconvert(), nb::arg("Y").noconvert(), nb::arg("order").noconvert(),
        nb::arg("shifts").noconvert(), nb::kw_only(), nb::arg("a"), nb::arg("b"), nb::arg("negatives"),
        nb::arg("rate"), nb::arg("every"), nb::arg("report"), nb::arg("anchors").noconvert() = nb::none(),
        nb::arg("weights").noconvert() = nb::none(), nb::arg("scaled") = false,
        nb::arg("radii").noconvert() = nb::none(), nb::arg("density") = Wanted{}, nb::arg("n_threads") = 1,
        nb::arg("tick") = nb::none(),
        "Move the map Y down the gradient of UMAP's loss, in place, an epoch for each row of shifts; returns "
        "the epochs done.");
    m.def("cross_entropy", &call_value, nb::arg("starts").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("values").noconvert(), nb::arg("Y").noconvert(), nb::arg("order").noconvert(),
          nb::arg("shifts").noconvert(), nb::kw_only(), nb::arg("a"), nb::arg("b"), nb::arg("n_threads") = 1,
          nb::arg("tick") = nb::none(),
          "Attraction (n,) of each point, and the repulsion of each shift in the one row of shifts.");
    m.def("cross_entropy_gradient", &call_gradient, nb::arg("starts").noconvert(),
          nb::arg("columns").noconvert(), nb::arg("values").noconvert(), nb::arg("Y").noconvert(),
          nb::arg("order").noconvert(), nb::arg("shifts").noconvert(), nb::kw_only(), nb::arg("a"),
          nb::arg("b"), nb::arg("negatives"), nb::arg("longest"), nb::arg("n_threads") = 1,
          "Gradient (n, k) by the pairs of the one row of shifts, forces of pairs cut at `longest`.");
    m.def("place_new_cross_entropy", &call_place_new, nb::arg("neighbors").noconvert(),
          nb::arg("v").noconvert(), nb::arg("Y").noconvert(), nb::arg("sample").noconvert(), nb::kw_only(),
          nb::arg("a"), nb::arg("b"), nb::arg("negatives"), nb::arg("radii").noconvert() = nb::none(),
          nb::arg("density") = Wanted{}, nb::arg("iterations") = 100, nb::arg("n_threads") = 1,
          nb::arg("tick") = nb::none(),
          "Places (m, k) of new points by their neighbours in the map Y (n, k), with repulsion by a sample.");
}

} // namespace lowdim::bind
