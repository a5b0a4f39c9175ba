// _native.smoothest.
#include "bind.hpp"

#include <lowdim/smoothest.hpp>

#include <algorithm>
#include <cstdint>

namespace lowdim::bind {

namespace {

nb::object call(const Vector<std::int64_t>& starts, const Vector<std::int32_t>& columns,
                const Vector<float>& values, std::int64_t k, int n_threads, nb::handle tick) {
    const std::int64_t n = size(starts) - 1, stored = size(columns);
    demand(n >= 1 && k >= 1 && stored == size(values),
           "smoothest: starts of 1 row or more, k of 1 or more, and as many columns as values are needed",
           starts, k, columns, values);
    demand(starts.data()[0] == 0 && starts.data()[n] == stored &&
               std::is_sorted(starts.data(), starts.data() + n + 1),
           "smoothest: starts must rise from 0 to the number of entries", starts.data()[0], starts.data()[n]);
    demand_each(
        columns.data(), stored, [&](std::int32_t c) { return c >= 0 && c < n; },
        "smoothest: columns must be rows of the graph");
    demand_threads(n_threads);
    demand_bounded(values.data(), stored, "smoothest: values", n_threads);
    Smoothest found;
    watched(tick, [&](Watch& watch) {
        found = smoothest(starts.data(), columns.data(), values.data(), n, k, n_threads, watch);
    });
    auto part = empty<std::int32_t>(n);
    auto positions = empty<double>(n, k);
    auto spectrum = empty<double>(static_cast<std::int64_t>(found.values.size()) / k, k);
    std::copy(found.part.begin(), found.part.end(), part.data());
    std::copy(found.positions.begin(), found.positions.end(), positions.data());
    std::copy(found.values.begin(), found.values.end(), spectrum.data());
    return nb::make_tuple(part, positions, spectrum);
}

} // namespace

void bind_smoothest(nb::module_& m) {
    m.def(
        "smoothest", &call, nb::arg("starts").noconvert(), nb::arg("columns").noconvert(),
        nb::arg("values").noconvert(), nb::arg("k"), nb::kw_only(), nb::arg("n_threads") = 1,
        nb::arg("tick") = nb::none(),
        "Component (n,) of each row of a symmetric graph, its smoothest coordinates (n, k) in it, and their "
        "eigenvalues (C, k).");
}

} // namespace lowdim::bind
