// _native.nearest_with.
#include "bind.hpp"

#include <lowdim/nearest_with.hpp>

#include <algorithm>
#include <string>

namespace lowdim::bind {

namespace {

using Integers = Vector<std::int32_t>;

template <class T>
nb::tuple call(const Matrix<T>& base, const Matrix<T>& queries, const Matrix<T>& points,
               const Integers& members, const Integers& offsets, std::int64_t k, bool joining, int n_threads,
               nb::handle tick) {
    const std::int64_t q = size(base), n = size(base, 1), d = size(queries);
    demand(size(queries, 1) == q && size(points, 1) == n && size(points) == d,
           "nearest_with: queries and points must be (d, q) and (d, n) for base (q, n)", queries, points,
           base);
    if (k < 1 || k > n)
        refuse("nearest_with: k must be between 1 and the " + std::to_string(n) + " points; got " +
               std::to_string(k) + ". Lower it.");
    demand_threads(n_threads);
    const std::int64_t units = size(offsets) - 1, listed = size(members);
    const std::int32_t *member = members.data(), *offset = offsets.data();
    bool sound = units >= 0 && offset[0] == 0 && offset[units] == listed;
    for (std::int64_t u = 0; sound && u < units; ++u)
        sound = offset[u] < offset[u + 1];
    demand(sound, "nearest_with: offsets must rise from 0 to len(members)", offsets, members);
    demand_each(
        member, listed, [d](std::int32_t f) { return 0 <= f && f < d; },
        "nearest_with: members must lie below " + std::to_string(d));

    auto indices = empty<std::int32_t>(units, q, k);
    auto distances = empty<T>(units, q, k);
    const Distances<T> given{base.data(), queries.data(), points.data(), q,      n,
                             member,      offset,         units,         joining};
    watched(tick, [&](Watch& watch) {
        nearest_with(given, k, indices.data(), distances.data(), n_threads, watch);
    });
    return nb::make_tuple(indices, distances);
}

template <class T>
void call_move(const Output<T>& base, const Vector<T>& queries, const Vector<T>& points, bool joining,
               int n_threads) {
    demand(size(queries) == size(base) && size(points) == size(base, 1),
           "move_distances: queries and points must be (q,) and (n,) for base (q, n)", queries, points, base);
    demand_threads(n_threads);
    watched(nb::none(), [&](Watch& watch) {
        move_distances(base.data(), queries.data(), points.data(), size(base), size(base, 1), joining,
                       n_threads, watch);
    });
}

template <class T> void define(nb::module_& m) {
    m.def("move_distances", &call_move<T>, nb::arg("base").noconvert(), nb::arg("queries").noconvert(),
          nb::arg("points").noconvert(), nb::kw_only(), nb::arg("joining") = true, nb::arg("n_threads") = 1,
          "Add a feature to squared distances (q, n), or remove it, in place.");
    m.def("nearest_with", &call<T>, nb::arg("base").noconvert(), nb::arg("queries").noconvert(),
          nb::arg("points").noconvert(), nb::arg("members").noconvert(), nb::arg("offsets").noconvert(),
          nb::kw_only(), nb::arg("k"), nb::arg("joining") = true, nb::arg("n_threads") = 1,
          nb::arg("tick") = nb::none(),
          "Indices and squared distances (units, q, k) of the nearest points once a unit of features joins "
          "or leaves.");
}

} // namespace

void bind_nearest_with(nb::module_& m) {
    define<float>(m);
    define<double>(m);
}

} // namespace lowdim::bind
