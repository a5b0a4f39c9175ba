// _native.csr_product.
#include "bind.hpp"

#include <lowdim/csr.hpp>

#include <cstdint>
#include <string>

namespace lowdim::bind {

namespace {

template <class T> using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Block = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Result = nb::ndarray<nb::numpy, double, nb::ndim<2>, nb::c_contig>;

Result call(const Vector<std::int32_t>& starts, const Vector<std::int32_t>& columns,
            const Vector<double>& values, const Block& V, int n_threads, nb::handle tick) {
    if (starts.shape(0) == 0 || columns.shape(0) != values.shape(0))
        throw nb::value_error(
            "csr_product: one start more than rows, and as many columns as values are needed.");
    const auto rows = static_cast<std::int64_t>(starts.shape(0)) - 1;
    const Csr A{starts.data(), columns.data(), values.data(), rows, static_cast<std::int64_t>(V.shape(0))};
    check(A, static_cast<std::int64_t>(values.shape(0)));
    const auto width = static_cast<std::int64_t>(V.shape(1));
    auto out = nb::cast<Result>(nb::module_::import_("numpy").attr("empty")(nb::make_tuple(rows, width)));
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
