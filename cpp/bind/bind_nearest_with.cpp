// _native.nearest_with.
#include "bind.hpp"

#include <lowdim/nearest_with.hpp>

#include <algorithm>
#include <string>

namespace lowdim::bind {

namespace {

template <class T> using Matrix = nb::ndarray<nb::ro, const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<nb::ro, const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

[[noreturn]] void refuse(const std::string& message) {
    throw nb::value_error(("nearest_with: " + message).c_str());
}

template <class T>
nb::tuple call(const Matrix<T>& base, const Matrix<T>& queries, const Matrix<T>& points,
               const Integers& members, const Integers& offsets, std::int64_t k, bool joining, int n_threads,
               nb::handle tick) {
    const auto q = static_cast<std::int64_t>(base.shape(0)), n = static_cast<std::int64_t>(base.shape(1));
    const auto d = static_cast<std::int64_t>(queries.shape(0));
    if (static_cast<std::int64_t>(queries.shape(1)) != q || static_cast<std::int64_t>(points.shape(1)) != n ||
        static_cast<std::int64_t>(points.shape(0)) != d)
        refuse(
            "queries and points must be (d, q) and (d, n) for base of shape (q, n); got others. Match them.");
    if (k < 1 || k > n)
        refuse("k must be between 1 and the " + std::to_string(n) + " points; got " + std::to_string(k) +
               ". Lower it.");
    if (n_threads < 1)
        refuse("n_threads must be 1 or more; got " + std::to_string(n_threads) +
               ". Pass 1 for a single thread.");
    const auto units = static_cast<std::int64_t>(offsets.shape(0)) - 1;
    const std::int32_t *member = members.data(), *offset = offsets.data();
    const auto size = static_cast<std::int64_t>(members.shape(0));
    bool sound = units >= 0 && offset[0] == 0 && offset[units] == size;
    for (std::int64_t u = 0; sound && u < units; ++u)
        sound = offset[u] < offset[u + 1];
    if (!sound || std::any_of(member, member + size, [d](std::int32_t f) { return f < 0 || f >= d; }))
        refuse("offsets must rise from 0 to len(members), and members lie below " + std::to_string(d) +
               "; got others. Check the units.");

    auto numpy = nb::module_::import_("numpy");
    auto shape = nb::make_tuple(units, q, k);
    auto indices = nb::cast<nb::ndarray<nb::numpy, std::int32_t, nb::ndim<3>, nb::c_contig>>(
        numpy.attr("empty")(shape, "int32"));
    auto distances = nb::cast<nb::ndarray<nb::numpy, T, nb::ndim<3>, nb::c_contig>>(
        numpy.attr("empty")(shape, sizeof(T) == 4 ? "float32" : "float64"));
    const Distances<T> given{base.data(), queries.data(), points.data(), q,      n,
                             member,      offset,         units,         joining};
    watched(tick, [&](Watch& watch) {
        nearest_with(given, k, indices.data(), distances.data(), n_threads, watch);
    });
    return nb::make_tuple(indices, distances);
}

template <class T> void define(nb::module_& m) {
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
