// _native.contrast_sums.
#include "bind.hpp"

#include <lowdim/contrast.hpp>

#include <cstdint>

namespace lowdim::bind {

namespace {

template <class T>
nb::object call(const Matrix<T>& Z, const Matrix<T>& W, int contrast, double alpha, int n_threads,
                nb::handle tick) {
    const std::int64_t rows = size(Z), k = size(Z, 1), p = size(W);
    demand(rows >= 1 && k >= 1 && p >= 1 && size(W, 1) == k,
           "contrast_sums: rows Z (n, k) and directions W (p, k) are needed", Z, W);
    demand(contrast >= 0 && contrast <= 2, "contrast_sums: a contrast from 0 to 2 is needed", contrast);
    demand_threads(n_threads);
    auto products = empty<double>(p, k), slopes = empty<double>(p);
    watched(tick, [&](Watch& watch) {
        contrast_sums(Z.data(), W.data(), rows, k, p, static_cast<Contrast>(contrast), alpha, products.data(),
                      slopes.data(), n_threads, watch);
    });
    return nb::make_tuple(products, slopes);
}

template <class T> void define(nb::module_& m) {
    m.def("contrast_sums", &call<T>, nb::arg("Z").noconvert(), nb::arg("W").noconvert(), nb::arg("contrast"),
          nb::arg("alpha"), nb::kw_only(), nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(),
          "The sums over the rows z of g(W z) z (p, k) and of the slopes g'(W z) (p,): g is tanh(alpha s), "
          "s exp(-s^2 / 2) or s^3.");
}

} // namespace

void bind_contrast(nb::module_& m) {
    define<float>(m);
    define<double>(m);
}

} // namespace lowdim::bind
