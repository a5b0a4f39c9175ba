// _native.observed and _native.posteriors.
#include "bind.hpp"

#include <lowdim/gaps.hpp>

namespace lowdim::bind {

namespace {

template <class T>
nb::tuple call_observed(const Matrix<T>& X, const Vector<T>& shift, const Vector<T>& rate, bool zeros,
                        const Output<T>& Z, const Output<T>& M, int n_threads) {
    const RowMajor<const T> x = view(X);
    const RowMajor<T> z = view(Z), m = view(M);
    demand(size(shift) == x.cols && size(rate) == x.cols,
           "observed: shift and rate must have the columns of X", shift, rate);
    demand(z.rows == x.rows && z.cols == x.cols && m.rows == x.rows && m.cols == x.cols,
           "observed: Z and M must have the shape of X", Z, M);
    demand_threads(n_threads);
    Made<double> counts = empty<double>(x.rows), squares = empty<double>(x.rows);
    watched(nb::none(), [&](Watch& watch) {
        observed(x, shift.data(), rate.data(), zeros, z, m, counts.data(), squares.data(), n_threads, watch);
    });
    return nb::make_tuple(counts, squares);
}

template <class T>
nb::tuple call_posteriors(const Matrix<T>& A, const Matrix<T>& B, double noise, const Vector<double>& weights,
                          int n_threads) {
    const RowMajor<const T> a = view(A), b = view(B);
    const std::int64_t k = b.cols, n = b.rows;
    demand(a.rows == n && a.cols == k * (k + 1) / 2,
           "posteriors: A must have k (k + 1) / 2 columns for k of B", A, B);
    demand(size(weights) == n, "posteriors: weights must have the rows of A", size(weights));
    demand(noise > 0, "posteriors: noise must be positive", noise);
    demand_threads(n_threads);
    Made<T> means = empty<T>(n, k + 1), products = empty<T>(n, (k + 1) * (k + 2) / 2);
    Made<double> logs = empty<double>(n), fits = empty<double>(n);
    const RowMajor<T> m{means.data(), n, k + 1, static_cast<std::ptrdiff_t>(k + 1)};
    const std::int64_t wide = (k + 1) * (k + 2) / 2;
    const RowMajor<T> p{products.data(), n, wide, static_cast<std::ptrdiff_t>(wide)};
    watched(nb::none(), [&](Watch& watch) {
        posteriors(a, b, noise, weights.data(), m, p, logs.data(), fits.data(), n_threads, watch);
    });
    return nb::make_tuple(means, products, logs, fits);
}

template <class T> void define(nb::module_& m) {
    m.def("observed", &call_observed<T>, nb::arg("X").noconvert(), nb::arg("shift").noconvert(),
          nb::arg("rate").noconvert(), nb::arg("zeros"), nb::arg("Z").noconvert(), nb::arg("M").noconvert(),
          nb::kw_only(), nb::arg("n_threads") = 1,
          "Fill Z with the values of X, shifted and scaled, 0 in gaps, and M with a mask; counts and Σ Z² of "
          "rows.");
    m.def("posteriors", &call_posteriors<T>, nb::arg("A").noconvert(), nb::arg("B").noconvert(),
          nb::arg("noise"), nb::arg("weights").noconvert(), nb::kw_only(), nb::arg("n_threads") = 1,
          "Means, packed second moments, log det and fits of small Gaussian posteriors, one for each row.");
}

} // namespace

void bind_gaps(nb::module_& m) {
    define<float>(m);
    define<double>(m);
}

} // namespace lowdim::bind
