// _native.csr_product.
#include "bind.hpp"

#include <lowdim/csr.hpp>

#include <cstdint>
#include <string>

namespace lowdim::bind {

namespace {

Made<double> call(const Vector<std::int32_t>& starts, const Vector<std::int32_t>& columns,
                  const Vector<double>& values, const Matrix<double>& V, int n_threads, nb::handle tick) {
    demand(size(starts) > 0 && size(columns) == size(values),
           "csr_product: one start more than rows, and as many columns as values are needed");
    const std::int64_t rows = size(starts) - 1, width = size(V, 1);
    const Csr A{starts.data(), columns.data(), values.data(), rows, size(V)};
    check(A, size(values));
    auto out = empty<double>(rows, width);
    watched(tick, [&](Watch& watch) { product(A, V.data(), width, out.data(), n_threads, watch); });
    return out;
}

} // namespace

void bind_csr(nb::module_& m) {
    m.def("csr_product", &call, nb::arg("starts").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("values").noconvert(), nb::arg("V").noconvert(), nb::kw_only(), nb::arg("n_threads") = 1,
          nb::arg("tick") = nb::none(),
          "Sparse rows (starts, columns, values) times the block V (cols, width).");
}

} // namespace lowdim::bind
