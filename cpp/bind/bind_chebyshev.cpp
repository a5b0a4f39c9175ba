// _native.chebyshev and _native.chebyshev_symmetric.
#include "bind.hpp"

#include <lowdim/chebyshev.hpp>

#include <cstdint>

namespace lowdim::bind {

namespace {

template <class T>
using Block = nb::ndarray<T, nb::shape<-1, chebyshev_width>, nb::c_contig, nb::device::cpu>;

template <class T>
CsrOf<T> csr_of(const Vector<std::int32_t>& starts, const Vector<std::int32_t>& columns,
                const Vector<T>& values, std::int64_t n) {
    demand(size(starts) == n + 1 && size(columns) == size(values),
           "chebyshev: square matrices with one row a row of V (" + std::to_string(n) +
               "), and as many columns as values, are needed",
           starts, columns, values);
    check({starts.data(), columns.data(), nullptr, n, n}, size(values));
    return {starts.data(), columns.data(), values.data(), n, n};
}

void demand_interval(double low, double high, std::int64_t degree) {
    demand(low < high && degree >= 0, "chebyshev: low below high and a degree of 0 or more are needed", low,
           high, degree);
}

void call(const Vector<std::int32_t>& starts, const Vector<std::int32_t>& columns,
          const Vector<double>& values, const Vector<std::int32_t>& t_starts,
          const Vector<std::int32_t>& t_columns, const Vector<double>& t_values, const Block<double>& V,
          double low, double high, std::int64_t degree, int n_threads, nb::handle tick) {
    const std::int64_t n = size(V);
    const Csr B = csr_of(starts, columns, values, n), Bt = csr_of(t_starts, t_columns, t_values, n);
    demand_interval(low, high, degree);
    demand_threads(n_threads);
    watched(tick,
            [&](Watch& watch) { chebyshev<double>(&B, Bt, V.data(), low, high, degree, n_threads, watch); });
}

template <class T>
void call_symmetric(const Vector<std::int32_t>& starts, const Vector<std::int32_t>& columns,
                    const Vector<T>& values, const Block<T>& V, double low, double high, std::int64_t degree,
                    int n_threads, nb::handle tick) {
    const std::int64_t n = size(V);
    const CsrOf<T> A = csr_of(starts, columns, values, n);
    demand_interval(low, high, degree);
    demand_threads(n_threads);
    watched(tick,
            [&](Watch& watch) { chebyshev<T>(nullptr, A, V.data(), low, high, degree, n_threads, watch); });
}

template <class T> void bind_symmetric(nb::module_& m) {
    m.def("chebyshev_symmetric", &call_symmetric<T>, nb::arg("starts").noconvert(),
          nb::arg("columns").noconvert(), nb::arg("values").noconvert(), nb::arg("V").noconvert(),
          nb::arg("low"), nb::arg("high"), nb::arg("degree"), nb::kw_only(), nb::arg("n_threads") = 1,
          nb::arg("tick") = nb::none(), "The same of the symmetric matrix A.");
}

} // namespace

void bind_chebyshev(nb::module_& m) {
    m.def("chebyshev", &call, nb::arg("starts").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("values").noconvert(), nb::arg("t_starts").noconvert(), nb::arg("t_columns").noconvert(),
          nb::arg("t_values").noconvert(), nb::arg("V").noconvert(), nb::arg("low"), nb::arg("high"),
          nb::arg("degree"), nb::kw_only(), nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(),
          "Apply Chebyshev's polynomial of BᵀB, small from low to high, to V (n, 8) in place.");
    bind_symmetric<double>(m);
    bind_symmetric<float>(m);
}

} // namespace lowdim::bind
