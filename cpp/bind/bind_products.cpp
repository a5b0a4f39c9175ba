// _native.multiply and multiply_few.
#include "bind.hpp"

#include <lowdim/products.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace lowdim::bind {

namespace {

template <class T> using Strides = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;

// A view of an array one of whose strides is 1.
template <class T> Dense<std::remove_const_t<T>> dense(const char* name, const Strides<T>& array) {
    const auto rows = static_cast<std::int64_t>(array.shape(0)),
               cols = static_cast<std::int64_t>(array.shape(1));
    const bool by_rows = (cols <= 1 || array.stride(1) == 1) && (rows <= 1 || array.stride(0) >= cols);
    const bool by_columns = (rows <= 1 || array.stride(0) == 1) && (cols <= 1 || array.stride(1) >= rows);
    demand(by_rows || by_columns,
           std::string("multiply: rows or columns of ") + name + " must be contiguous; stride",
           array.stride(1));
    const std::int64_t length = by_rows ? cols : rows, count = by_rows ? rows : cols;
    const std::int64_t stride = count > 1 ? array.stride(by_rows ? 0 : 1) : std::max<std::int64_t>(1, length);
    demand(stride <= std::numeric_limits<int>::max(),
           std::string("multiply: strides of ") + name + " must fit BLAS", stride);
    return {const_cast<std::remove_const_t<T>*>(array.data()), rows, cols, stride, !by_rows};
}

template <class T>
void call_multiply(std::uintptr_t gemm, const Strides<const T>& A, const Strides<const T>& B,
                   const Strides<T>& out, std::int64_t high, std::int64_t wide, std::int64_t parts, bool less,
                   int n_threads) {
    const Dense<T> a = dense("A", A), b = dense("B", B), c = dense("out", out);
    demand(high > 0 && wide > 0 && parts > 0, "multiply: pieces must not be empty",
           std::min({high, wide, parts}));
    demand(a.cols == b.rows, "multiply: B must have as many rows as A has columns", b.rows);
    demand(c.rows == parts * a.rows && c.cols == b.cols && !c.by_columns,
           "multiply: out must have the rows of A, for each part, and the columns of B", c.rows);
    demand(a.cols <= std::numeric_limits<int>::max(), "multiply: columns of A must fit BLAS", a.cols);
    demand_threads(n_threads);
    watched(nb::none(), [&](Watch& watch) {
        multiply(reinterpret_cast<Gemm<T>>(gemm), a, b, c, high, wide, parts, less, n_threads, watch);
    });
}

template <class T>
void call_multiply_few(const Strides<const T>& A, const Strides<const T>& B, const Strides<T>& out,
                       int n_threads) {
    const Dense<T> a = dense("A", A), b = dense("B", B), c = dense("out", out);
    demand(a.cols == b.rows && !b.by_columns, "multiply_few: B must have as many rows as A has columns",
           b.rows);
    demand(c.rows == a.rows && c.cols == b.cols && !c.by_columns,
           "multiply_few: out must have the rows of A and the columns of B", c.rows);
    demand_threads(n_threads);
    watched(nb::none(), [&](Watch& watch) { multiply_few(a, b, c, n_threads, watch); });
}

template <class T> void define(nb::module_& m) {
    m.def("multiply_few", &call_multiply_few<T>, nb::arg("A").noconvert(), nb::arg("B").noconvert(),
          nb::arg("out").noconvert(), nb::kw_only(), nb::arg("n_threads") = 1,
          "Fill out with A B for B of few columns; rows of B and of out are contiguous.");
    m.def("multiply", &call_multiply<T>, nb::arg("gemm"), nb::arg("A").noconvert(), nb::arg("B").noconvert(),
          nb::arg("out").noconvert(), nb::kw_only(), nb::arg("high"), nb::arg("wide"), nb::arg("parts") = 1,
          nb::arg("less") = false, nb::arg("n_threads") = 1,
          "Fill out with A B, or where `less` out - A B, by calls of the BLAS function at the address "
          "`gemm`, one per piece of high x "
          "wide.");
}

} // namespace

void bind_products(nb::module_& m) {
    define<float>(m);
    define<double>(m);
}

} // namespace lowdim::bind
