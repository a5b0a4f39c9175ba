// _native.spectra.
#include "bind.hpp"

#include <lowdim/spectra.hpp>

#include <cstdint>
#include <string>

namespace lowdim::bind {

namespace {

using Stack = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

nb::object call(const Stack& A, int n_threads, nb::handle tick) {
    const std::int64_t count = size(A), k = size(A, 1);
    if (size(A, 2) != k)
        refuse("spectra: A must be stacked squares; got " + std::to_string(k) + " × " +
               std::to_string(size(A, 2)) + ". Pass (count, k, k).");
    demand_threads(n_threads);
    auto values = empty<double>(count, k);
    auto vectors = empty<double>(count, k, k);
    watched(tick, [&](Watch& watch) {
        spectra(A.data(), count, k, values.data(), vectors.data(), n_threads, watch);
    });
    return nb::make_tuple(values, vectors);
}

} // namespace

void bind_spectra(nb::module_& m) {
    m.def("spectra", &call, nb::arg("A").noconvert(), nb::kw_only(), nb::arg("n_threads") = 1,
          nb::arg("tick") = nb::none(),
          "Falling eigenvalues (count, k) and eigenvectors, row by row (count, k, k), of symmetric A (count, "
          "k, "
          "k), which are overwritten.");
}

} // namespace lowdim::bind
