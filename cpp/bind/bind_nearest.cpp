// _native.nearest, _native.within and _native.smallest.
#include "bind.hpp"

#include <lowdim/nearest.hpp>

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

namespace lowdim::bind {

namespace {

void check(bool right, const std::string& message) {
    if (!right)
        refuse("nearest: " + message);
}

// Rows with their groups, as Python holds them: (values, exact, order, starts).
template <class T> struct Rows {
    Matrix<float> values;
    Matrix<T> exact;
    Vector<std::int32_t> order;
    Vector<std::int64_t> starts;

    Grouped<T> checked(std::int64_t d, std::int64_t wide, std::int64_t groups, int n_threads) const {
        const std::int64_t n = size(values);
        demand(size(values, 1) == d && size(exact, 1) == wide,
               "nearest: values and exact of points and of queries must have the same columns", values,
               exact);
        demand(size(exact) == n && size(order) == n, "nearest: values, exact and order must have a row each",
               values, exact, order);
        demand(size(starts) == groups + 1 && starts.data()[0] == 0 && starts.data()[groups] == n &&
                   std::is_sorted(starts.data(), starts.data() + groups + 1),
               "nearest: starts must rise from 0 to the number of rows, one more than groups", starts);
        check(std::all_of(order.data(), order.data() + n, [n](std::int32_t i) { return 0 <= i && i < n; }),
              "order must hold rows; got a number out of range. Pass a permutation.");
        demand_bounded(values.data(), n * d, "nearest: rows", n_threads, 1e10f);
        demand_bounded(exact.data(), n * wide, "nearest: rows", n_threads);
        return {values.data(), exact.data(), n, order.data(), starts.data()};
    }
};

template <class T> Rows<T> rows_of(nb::handle of) {
    if (nb::len(of) != 4)
        refuse("nearest: rows must be (values, exact, order, starts); got another tuple. Pass these four.");
    return {nb::cast<Matrix<float>>(of[0], false), nb::cast<Matrix<T>>(of[1], false),
            nb::cast<Vector<std::int32_t>>(of[2], false), nb::cast<Vector<std::int64_t>>(of[3], false)};
}

// All that a search reads, kept alive while it runs.
template <class T> struct Given {
    Rows<T> points;
    std::optional<Rows<T>> queries;
    Search<T> search;

    Given(nb::handle of, nb::handle from, const Matrix<float>& centres, const Vector<std::int64_t>& stages,
          double scale, bool itself, int n_threads)
        : points(rows_of<T>(of)) {
        if (!from.is_none())
            queries = rows_of<T>(from);
        const std::int64_t groups = size(centres), d = size(centres, 1), wide = size(points.exact, 1);
        const std::int64_t n_stages = size(stages);
        check(groups >= 1 && d >= 1,
              "there must be a group and a dimension; got none. Pass one centre at least.");
        demand(1 <= n_stages && n_stages <= 8 && stages.data()[0] >= 1 && stages.data()[n_stages - 1] == d &&
                   std::is_sorted(stages.data(), stages.data() + n_stages, std::less_equal<>()),
               "nearest: stages must rise to the " + std::to_string(d) + " dimensions in 1 to 8 steps",
               stages);
        demand_threads(n_threads);
        demand_bounded(centres.data(), groups * d, "nearest: centres", n_threads, 1e10f);
        const auto p = points.checked(d, wide, groups, n_threads);
        const auto q = queries ? queries->checked(d, wide, groups, n_threads) : p;
        search = {p,
                  q,
                  d,
                  wide,
                  centres.data(),
                  groups,
                  stages.data(),
                  static_cast<int>(n_stages),
                  scale,
                  itself && !queries};
    }
};

template <class T>
nb::tuple call_nearest(const Given<T>& given, std::int64_t k, int n_threads, nb::handle tick) {
    const std::int64_t most = given.search.points.count - (given.search.itself ? 1 : 0);
    check(1 <= k && k <= most,
          "k must be 1 to " + std::to_string(most) + "; got " + std::to_string(k) + ". Lower it.");
    auto indices = empty<std::int32_t>(given.search.queries.count, k);
    auto distances = empty<float>(given.search.queries.count, k);
    watched(tick, [&](Watch& watch) {
        nearest(given.search, k, indices.data(), distances.data(), n_threads, watch);
    });
    return nb::make_tuple(indices, distances);
}

template <class T>
nb::object call_within(const Given<T>& given, double radius, std::int64_t most, int n_threads,
                       nb::handle tick) {
    check(radius >= 0, "radius must be 0 or more; got " + std::to_string(radius) + ". Raise it.");
    Reached found;
    try {
        watched(tick, [&](Watch& watch) { found = within(given.search, radius, most, n_threads, watch); });
    } catch (const TooMany&) {
        return nb::none();
    }
    auto counts = empty<std::int64_t>(found.counts.size());
    auto indices = empty<std::int32_t>(found.indices.size());
    auto distances = empty<float>(found.distances.size());
    std::copy(found.counts.begin(), found.counts.end(), counts.data());
    std::copy(found.indices.begin(), found.indices.end(), indices.data());
    std::copy(found.distances.begin(), found.distances.end(), distances.data());
    return nb::make_tuple(counts, indices, distances);
}

// Calls with the type of the exact rows.
template <class Call> nb::object typed(nb::handle points, const Call& call) {
    nb::object dtype = nb::handle(points[1]).attr("dtype");
    if (std::strcmp(nb::str(dtype).c_str(), "float32") == 0)
        return call(float{});
    return call(double{});
}

template <class T>
nb::tuple call_smallest(const nb::ndarray<nb::ro, const T, nb::ndim<2>, nb::device::cpu>& D, std::int64_t k,
                        const std::optional<Vector<std::int32_t>>& skip, int n_threads) {
    const std::int64_t rows = size(D), cols = size(D, 1);
    if ((cols > 1 && D.stride(1) != 1) || (rows > 1 && D.stride(0) < cols))
        refuse("smallest: D must have contiguous rows; got another layout. Pass a C-ordered array.");
    if (skip && size(*skip) != rows)
        refuse("smallest: skip must have one entry a row; got another length. Match them.");
    const std::int64_t most = cols - (skip ? 1 : 0);
    if (k < 1 || k > most)
        refuse("smallest: k must be 1 to " + std::to_string(most) + "; got " + std::to_string(k) +
               ". Lower it.");
    demand_threads(n_threads);
    for (std::int64_t i = 0; i < (rows > 1 && D.stride(0) != cols ? rows : 1); ++i)
        demand_bounded(D.data() + i * D.stride(0), rows > 1 && D.stride(0) != cols ? cols : rows * cols,
                       "smallest: distances", n_threads);
    auto indices = empty<std::int32_t>(rows, k);
    auto values = empty<T>(rows, k);
    watched(nb::none(), [&](Watch& watch) {
        smallest(D.data(), rows, cols, static_cast<std::ptrdiff_t>(D.stride(0)),
                 skip ? skip->data() : nullptr, k, indices.data(), values.data(), n_threads, watch);
    });
    return nb::make_tuple(indices, values);
}

} // namespace

void bind_nearest(nb::module_& m) {
    m.def(
        "nearest",
        [](nb::handle points, const Matrix<float>& centres, const Vector<std::int64_t>& stages,
           std::int64_t k, nb::handle queries, bool itself, int n_threads, nb::handle tick) {
            return typed(points, [&](auto type) -> nb::object {
                const Given<decltype(type)> given(points, queries, centres, stages, 1.0, itself, n_threads);
                return call_nearest(given, k, n_threads, tick);
            });
        },
        nb::arg("points"), nb::arg("centres").noconvert(), nb::arg("stages").noconvert(), nb::kw_only(),
        nb::arg("k"), nb::arg("queries") = nb::none(), nb::arg("itself") = true, nb::arg("n_threads") = 1,
        nb::arg("tick") = nb::none(),
        "Indices and distances (m, k) of the nearest points, for rows given as (values, exact, order, "
        "starts).");
    m.def(
        "within",
        [](nb::handle points, const Matrix<float>& centres, const Vector<std::int64_t>& stages, double radius,
           double scale, std::int64_t most, nb::handle queries, bool itself, int n_threads, nb::handle tick) {
            return typed(points, [&](auto type) -> nb::object {
                const Given<decltype(type)> given(points, queries, centres, stages, scale, itself, n_threads);
                return call_within(given, radius, most, n_threads, tick);
            });
        },
        nb::arg("points"), nb::arg("centres").noconvert(), nb::arg("stages").noconvert(), nb::kw_only(),
        nb::arg("radius"), nb::arg("scale"), nb::arg("most"), nb::arg("queries") = nb::none(),
        nb::arg("itself") = true, nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(),
        "Counts (m), indices and distances of the points within a radius, for rows as nearest takes them; "
        "values "
        "are exact times scale, turned and moved. None where there are more than `most` in all.");
    m.def("smallest", &call_smallest<float>, nb::arg("D").noconvert(), nb::arg("k"), nb::kw_only(),
          nb::arg("skip") = nb::none(), nb::arg("n_threads") = 1,
          "Columns and values (rows, k) of the smallest entries of each row, without column skip[row].");
    m.def("smallest", &call_smallest<double>, nb::arg("D").noconvert(), nb::arg("k"), nb::kw_only(),
          nb::arg("skip") = nb::none(), nb::arg("n_threads") = 1);
}

} // namespace lowdim::bind
