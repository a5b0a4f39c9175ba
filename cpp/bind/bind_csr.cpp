// _native.csr_product and _native.lu_solve.
#include "bind.hpp"

#include <lowdim/csr.hpp>
#include <lowdim/triangular.hpp>

#include <cstdint>
#include <string>

namespace lowdim::bind {

namespace {

template <class T>
Made<T> call(const Vector<std::int32_t>& starts, const Vector<std::int32_t>& columns, const Vector<T>& values,
             const Matrix<T>& V, int n_threads, nb::handle tick) {
    demand(size(starts) > 0 && size(columns) == size(values),
           "csr_product: one start more than rows, and as many columns as values are needed", starts, columns,
           values);
    const std::int64_t rows = size(starts) - 1, width = size(V, 1);
    const CsrOf<T> A{starts.data(), columns.data(), values.data(), rows, size(V)};
    check({A.starts, A.columns, nullptr, A.rows, A.cols}, size(values));
    auto out = empty<T>(rows, width);
    watched(tick, [&](Watch& watch) { product(A, V.data(), width, out.data(), n_threads, watch); });
    return out;
}

Made<double> call_solve(const Vector<std::int32_t>& l_starts, const Vector<std::int32_t>& l_rows,
                        const Vector<double>& l_values, const Vector<std::int32_t>& u_starts,
                        const Vector<std::int32_t>& u_rows, const Vector<double>& u_values,
                        const Vector<double>& diagonal, const Vector<std::int32_t>& rows,
                        const Vector<std::int32_t>& columns, const Matrix<double>& B, bool transposed,
                        int n_threads) {
    const std::int64_t n = size(B), width = size(B, 1);
    demand(size(l_starts) == n + 1 && size(u_starts) == n + 1 && size(diagonal) == n && size(rows) == n &&
               size(columns) == n && size(l_rows) == size(l_values) && size(u_rows) == size(u_values),
           "lu_solve: factors of " + std::to_string(n) + " rows, as many as B has, are needed", l_starts,
           l_rows, l_values, u_starts, u_rows, u_values, diagonal, rows, columns);
    demand_threads(n_threads);
    const Factors A{{l_starts.data(), l_rows.data(), l_values.data(), n, n},
                    {u_starts.data(), u_rows.data(), u_values.data(), n, n},
                    diagonal.data(),
                    rows.data(),
                    columns.data()};
    check(A.lower, size(l_values));
    check(A.upper, size(u_values));
    check_permutation(A.rows, n);
    check_permutation(A.columns, n);
    auto out = empty<double>(n, width);
    watched(nb::none(),
            [&](Watch& watch) { solve(A, B.data(), width, transposed, out.data(), n_threads, watch); });
    return out;
}

template <class T> void define_product(nb::module_& m) {
    m.def("csr_product", &call<T>, nb::arg("starts").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("values").noconvert(), nb::arg("V").noconvert(), nb::kw_only(), nb::arg("n_threads") = 1,
          nb::arg("tick") = nb::none(),
          "Sparse rows (starts, columns, values) times the block V (cols, width).");
}

} // namespace

void bind_csr(nb::module_& m) {
    define_product<float>(m);
    define_product<double>(m);
    m.def(
        "lu_solve", &call_solve, nb::arg("l_starts").noconvert(), nb::arg("l_rows").noconvert(),
        nb::arg("l_values").noconvert(), nb::arg("u_starts").noconvert(), nb::arg("u_rows").noconvert(),
        nb::arg("u_values").noconvert(), nb::arg("diagonal").noconvert(), nb::arg("rows").noconvert(),
        nb::arg("columns").noconvert(), nb::arg("B").noconvert(), nb::kw_only(),
        nb::arg("transposed") = false, nb::arg("n_threads") = 1,
        "Solve A X = B, or with its transpose, by the columns of the factors L and U, whose rows and columns "
        "are permuted.");
}

} // namespace lowdim::bind
