// _native.local_radii, _native.map_radii and _native.density_gradient.
#include "density_arguments.hpp"

namespace lowdim::bind {

namespace {

template <class T>
Made<double> call_local(const Starts& starts, const Columns& columns, const Vector<float>& values,
                        const Matrix<std::int32_t>& neighbors, const Matrix<T>& distances, int n_threads,
                        nb::handle tick) {
    demand(starts.shape(0) >= 2, "starts must be those of a row or more", starts);
    const std::size_t n = starts.shape(0) - 1;
    demand_threads(n_threads);
    const Affinities V = affinities_of(starts, columns, values, n, n_threads);
    demand(neighbors.shape(0) == distances.shape(0) && neighbors.shape(1) == distances.shape(1) &&
               neighbors.shape(0) <= n && neighbors.shape(1) >= 1,
           "neighbors and distances must have the same shape, of the last rows of the graph", neighbors,
           distances);
    auto out = empty<double>(neighbors.shape(0));
    watched(tick, [&](Watch& watch) {
        local_radii(V, neighbors.data(), distances.data(), size(neighbors, 1), V.rows - size(neighbors),
                    out.data(), n_threads, watch);
    });
    return out;
}

Made<float> call_map(const Starts& starts, const Columns& columns, const Vector<float>& values,
                     const Matrix<float>& Y, double a, double b, double dof, int n_threads, nb::handle tick) {
    const int k = dimensions(Y, n_threads);
    const Affinities V = affinities_of(starts, columns, values, Y.shape(0), n_threads);
    const Similarity of = similarity_of(a, b, dof);
    auto out = empty<float>(Y.shape(0));
    watched(tick, [&](Watch& watch) { map_radii(V, Y.data(), k, of, out.data(), n_threads, watch); });
    return out;
}

Made<float> call_gradient(const Starts& starts, const Columns& columns, const Vector<float>& values,
                          const Matrix<float>& Y, double a, double b, double dof, const Vector<float>& radii,
                          const Wanted& density, int n_threads) {
    const int k = dimensions(Y, n_threads);
    const Affinities V = affinities_of(starts, columns, values, Y.shape(0), n_threads);
    const Similarity of = similarity_of(a, b, dof);
    const Density plan = density_of(radii, density, Y.shape(0));
    auto out = empty<float>(Y.shape(0), Y.shape(1));
    watched(nb::none(),
            [&](Watch& watch) { density_gradient(V, Y.data(), k, of, plan, out.data(), n_threads, watch); });
    return out;
}

template <class T> void define(nb::module_& m) {
    m.def("local_radii", &call_local<T>, nb::arg("starts").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("values").noconvert(), nb::arg("neighbors").noconvert(), nb::arg("distances").noconvert(),
          nb::kw_only(), nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(),
          "Squared local radii (m,) of the last m rows of a graph, whose lists of neighbours (m, k) have "
          "these distances.");
}

} // namespace

void bind_density(nb::module_& m) {
    define<float>(m);
    define<double>(m);
    m.attr("DENSITY_FLOOR") = Density::floor;
    m.attr("DENSITY_DAMPING") = Density::damping;
    m.def("map_radii", &call_map, nb::arg("starts").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("values").noconvert(), nb::arg("Y").noconvert(), nb::kw_only(), nb::arg("a") = 0.0,
          nb::arg("b") = 0.0, nb::arg("dof") = 1.0, nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(),
          "Logarithms (n,) of the squared local radii of a map.");
    m.def("density_gradient", &call_gradient, nb::arg("starts").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("values").noconvert(), nb::arg("Y").noconvert(), nb::kw_only(), nb::arg("a") = 0.0,
          nb::arg("b") = 0.0, nb::arg("dof") = 1.0, nb::arg("radii").noconvert(), nb::arg("density"),
          nb::arg("n_threads") = 1, "Gradient (n, k) of the weighted correlation of radii in a map.");
}

} // namespace lowdim::bind
