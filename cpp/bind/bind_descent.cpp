// _native.attraction, _native.repulsion, _native.repulsion_at, _native.descend, _native.place and
// _native.pace.
#include "density_arguments.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace lowdim::bind {

namespace {

Falloff falloff_of(const std::string& name, double dof) {
    demand(dof > 0, "dof must be positive", dof);
    if (name == "gauss")
        return {Falloff::Kind::gauss, dof};
    demand(name == "student", "falloff must be 'student' or 'gauss'", name);
    return {dof == 1 ? Falloff::Kind::cauchy : Falloff::Kind::student, dof};
}

Repel repel_of(const std::string& name, int k) {
    if (name == "barnes_hut") {
        demand(k <= 3, "a tree needs 1 to 3 dimensions", k);
        return Repel::by_tree;
    }
    if (name == "fft") {
        demand(k <= 2, "a grid needs 1 or 2 dimensions", k);
        return Repel::by_grid;
    }
    demand(name == "exact", "how must be 'exact', 'barnes_hut' or 'fft'", name);
    return Repel::exactly;
}

template <class T>
nb::tuple call_attraction(const Starts& starts, const Columns& columns, const Vector<float>& values,
                          const Matrix<T>& Y, const std::string& falloff, double dof, bool packed,
                          int n_threads) {
    const int k = dimensions(Y, n_threads);
    demand(!packed || (k <= 2 && sizeof(T) == sizeof(float)),
           "packed must come with a map of float32 in one or two dimensions", Y);
    const Affinities P = affinities_of(starts, columns, values, Y.shape(0), n_threads);
    const Falloff of = falloff_of(falloff, dof);
    auto forces = empty<T>(Y.shape(0), Y.shape(1));
    auto costs = empty<double>(Y.shape(0));
    watched(nb::none(), [&](Watch& watch) {
        if (packed) {
            std::vector<std::int32_t> same(Y.shape(0));
            std::iota(same.begin(), same.end(), 0);
            PackedAffinities rows;
            rows.assign(P, same.data(), same.data(), n_threads, watch);
            if constexpr (sizeof(T) == sizeof(float))
                rows.attract(Y.data(), k, of, forces.data(), n_threads, watch);
        } else {
            attract(P, Y.data(), k, of, forces.data(), n_threads, watch);
        }
        attraction_costs(P, Y.data(), k, of, costs.data(), n_threads, watch);
        std::vector<double> entropy(Y.shape(0));
        entropies(P, entropy.data(), n_threads, watch);
        std::transform(entropy.begin(), entropy.end(), costs.data(), costs.data(), std::plus<>());
    });
    return nb::make_tuple(forces, costs);
}

template <class T>
nb::tuple call_repulsion_at(const Matrix<T>& Q, const Matrix<T>& Y, const std::string& falloff, double dof,
                            int n_threads, nb::handle tick) {
    const int k = dimensions(Y, n_threads);
    demand(Q.shape(1) == Y.shape(1), "Q and Y must have as many columns", Q, Y);
    demand_bounded(Q.data(), static_cast<std::int64_t>(Q.size()), "Q", n_threads, T(1e15));
    const Falloff of = falloff_of(falloff, dof);
    auto forces = empty<T>(Q.shape(0), Q.shape(1));
    auto phi = empty<double>(Q.shape(0));
    watched(tick, [&](Watch& watch) {
        repel_exactly(Q.data(), size(Q), Y.data(), size(Y), k, of, forces.data(), phi.data(), n_threads,
                      watch);
    });
    return nb::make_tuple(forces, phi);
}

nb::tuple call_repulsion(const Matrix<float>& Y, const std::string& how, const std::string& falloff,
                         double dof, double angle, double spacing, int n_threads, nb::handle tick) {
    const int k = dimensions(Y, n_threads);
    demand(angle >= 0 && spacing > 0, "angle must be 0 or more, and spacing positive", angle, spacing);
    auto repel = make_repulsion(repel_of(how, k), k, falloff_of(falloff, dof), angle, spacing);
    auto forces = empty<float>(Y.shape(0), Y.shape(1));
    auto phi = empty<float>(Y.shape(0));
    double Z = 0;
    watched(tick, [&](Watch& watch) {
        Z = (*repel)(Y.data(), size(Y), forces.data(), phi.data(), n_threads, watch);
    });
    return nb::make_tuple(forces, phi, Z);
}

std::int64_t call_descend(const Starts& starts, const Columns& columns, const Vector<float>& values,
                          const Output<float>& Y, const std::string& how, const std::string& falloff,
                          double dof, double angle, double spacing, double fine_spacing,
                          std::int64_t iterations, std::int64_t exaggerated, double exaggeration, double late,
                          double rate, std::int64_t every, double progress, nb::handle report,
                          const MaybeMatrix& anchors, const MaybeVector& weights, bool scaled,
                          const MaybeVector& radii, const Wanted& density, int n_threads, nb::handle tick) {
    const int k = dimensions(Y, n_threads);
    demand(every >= 1 && iterations >= 0 && exaggerated >= 0 && exaggeration > 0 && late > 0 && rate >= 0 &&
               angle >= 0 && spacing > 0 && fine_spacing > 0,
           "iterations and rates must be 0 or more; every, exaggeration and spacing positive", iterations,
           exaggerated, rate, angle, every, exaggeration, late, spacing, fine_spacing);
    const Affinities P = affinities_of(starts, columns, values, Y.shape(0), n_threads);
    const DescentPlan plan{.falloff = falloff_of(falloff, dof),
                           .repel = repel_of(how, k),
                           .angle = angle,
                           .spacing = spacing,
                           .fine_spacing = fine_spacing,
                           .iterations = iterations,
                           .exaggerated = exaggerated,
                           .exaggeration = exaggeration,
                           .late = late,
                           .rate = rate,
                           .every = every,
                           .progress = progress,
                           .anchors = anchors_of(anchors, weights, scaled, Y.shape(0), k, n_threads),
                           .density = density_of(radii, density, Y.shape(0))};
    demand(!radii || plan.falloff.kind != Falloff::Kind::gauss, "density needs Student's falloff", falloff);
    std::int64_t done = 0;
    reporting(report, [&](const Report& ask) {
        watched(tick, [&](Watch& watch) { done = descend(P, Y.data(), k, plan, ask, n_threads, watch); });
    });
    return done;
}

Made<float> call_place(const Matrix<std::int32_t>& neighbors, const Matrix<float>& p, const Matrix<float>& Y,
                       const std::string& falloff, double dof, double spacing, const MaybeVector& radii,
                       const Wanted& density, std::int64_t iterations, int n_threads, nb::handle tick) {
    const int k = dimensions(Y, n_threads);
    const std::int64_t n = size(Y);
    demand(spacing > 0 && iterations >= 0, "spacing must be positive and iterations 0 or more", spacing,
           iterations);
    const NewPoints new_points = new_points_of(neighbors, p, n, n_threads);
    const Falloff of = falloff_of(falloff, dof);
    const Density plan = density_of(radii, density, p.shape(0));
    auto out = empty<float>(p.shape(0), Y.shape(1));
    watched(tick, [&](Watch& watch) {
        place(new_points, Y.data(), n, k, of, plan, spacing, iterations, out.data(), n_threads, watch);
    });
    return out;
}

template <class T> void define(nb::module_& m) {
    m.def("attraction", &call_attraction<T>, nb::arg("starts").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("values").noconvert(), nb::arg("Y").noconvert(), nb::kw_only(),
          nb::arg("falloff") = "student", nb::arg("dof") = 1.0, nb::arg("packed") = false,
          nb::arg("n_threads") = 1,
          "Forces (n, k) of sparse affinities on a map, as the descent of a line or a plane has them where "
          "`packed` is true, and Σ_j p log(p / f) of each point (n,).");
    m.def("repulsion_at", &call_repulsion_at<T>, nb::arg("Q").noconvert(), nb::arg("Y").noconvert(),
          nb::kw_only(), nb::arg("falloff") = "student", nb::arg("dof") = 1.0, nb::arg("n_threads") = 1,
          nb::arg("tick") = nb::none(),
          "Exact forces (m, k) at the points Q by the points Y, and the field (m,) there.");
}

} // namespace

void bind_descent(nb::module_& m) {
    define<float>(m);
    define<double>(m);
    m.def("repulsion", &call_repulsion, nb::arg("Y").noconvert(), nb::kw_only(), nb::arg("how"),
          nb::arg("falloff") = "student", nb::arg("dof") = 1.0, nb::arg("angle") = 0.5,
          nb::arg("spacing") = 0.4, nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(),
          "Forces (n, k) of the points of a map on each other, the field (n,) at them, and the normaliser.");
    m.def("descend", &call_descend, nb::arg("starts").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("values").noconvert(), nb::arg("Y").noconvert(), nb::kw_only(), nb::arg("how"),
          nb::arg("falloff"), nb::arg("dof"), nb::arg("angle"), nb::arg("spacing"),
          nb::arg("fine_spacing") = 0.4, nb::arg("iterations"), nb::arg("exaggerated"),
          nb::arg("exaggeration"), nb::arg("late") = 1.0, nb::arg("rate"), nb::arg("every"),
          nb::arg("progress"), nb::arg("report"), nb::arg("anchors").noconvert() = nb::none(),
          nb::arg("weights").noconvert() = nb::none(), nb::arg("scaled") = false,
          nb::arg("radii").noconvert() = nb::none(), nb::arg("density") = Wanted{}, nb::arg("n_threads") = 1,
          nb::arg("tick") = nb::none(),
          "Move the map Y down the gradient, in place; returns the iterations done.");
    m.def(
        "pace",
        [](const std::string& falloff, double dof, bool exaggerated, std::int64_t since) {
            const Pace now = Pace::at(falloff_of(falloff, dof).kind, exaggerated, since);
            return nb::make_tuple(now.momentum, now.share, now.longest);
        },
        nb::kw_only(), nb::arg("falloff"), nb::arg("dof"), nb::arg("exaggerated"), nb::arg("since"),
        "Momentum, the step as a share of n / exaggeration, and the longest step, so many iterations after "
        "it.");
    m.attr("CHECK_EVERY") = Pace::check_every;
    m.attr("CHECK_EARLY") = Pace::check_early;
    m.attr("GATHERED") = Pace::gathered;
    m.attr("SETTLED") = Pace::settled;
    m.attr("LONGEST_WAIT") = Pace::longest_wait;
    m.attr("GROWN_MAP") = Pace::grown_map;
    m.attr("SMALLEST_MAP") = Pace::smallest_map;
    m.attr("GAIN_UP") = Pace::gain_up;
    m.attr("GAIN_DOWN") = Pace::gain_down;
    m.attr("LEAST_GAIN") = Pace::least_gain;
    m.attr("PLACING_STILL") = Placing::still;
    m.attr("PLACING_STARTS") = Placing::starts;
    m.attr("PLACING_APART") = Placing::apart;
    m.def("place", &call_place, nb::arg("neighbors").noconvert(), nb::arg("p").noconvert(),
          nb::arg("Y").noconvert(), nb::kw_only(), nb::arg("falloff") = "student", nb::arg("dof") = 1.0,
          nb::arg("spacing") = 0.4, nb::arg("radii").noconvert() = nb::none(), nb::arg("density") = Wanted{},
          nb::arg("iterations") = 100, nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(),
          "Places (m, k) of new points by their neighbours in the map Y (n, k).");
}

} // namespace lowdim::bind
