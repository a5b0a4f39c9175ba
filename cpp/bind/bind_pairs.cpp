// _native.gaussian, _native.manhattan, _native.mirror, _native.as_integers and _native.integer_gaussian.
#include "bind.hpp"

#include <lowdim/integer_gaussian.hpp>
#include <lowdim/integer_valued.hpp>
#include <lowdim/pairs.hpp>

#include <cstdint>
#include <string>

namespace lowdim::bind {

namespace {

template <class T> using Loose = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>; // any strides, checked below

template <class T> RowMajor<T> rows_of(const Loose<T>& array, const char* name) {
    const bool wide = array.shape(1) > 1 && array.stride(1) != 1;
    const bool back = array.shape(0) > 1 && array.stride(0) < size(array, 1);
    if (wide || back)
        refuse(std::string(name) + " must have contiguous rows; got another layout. Pass a C-ordered array.");
    return {array.data(), size(array), size(array, 1), static_cast<std::ptrdiff_t>(array.stride(0))};
}

template <class T>
void call_gaussian(const Loose<T>& G, const Vector<T>& a, const Vector<T>& b, double gamma, int n_threads) {
    auto view = rows_of(G, "gaussian: G");
    demand(size(a) == view.rows,
           "gaussian: a must have one entry a row of G (" + std::to_string(view.rows) + ")", size(a));
    demand(size(b) == view.cols,
           "gaussian: b must have one entry a column of G (" + std::to_string(view.cols) + ")", size(b));
    demand_threads(n_threads);
    watched(nb::none(), [&](Watch& watch) {
        gaussian(view, a.data(), b.data(), static_cast<T>(gamma), n_threads, watch);
    });
}

template <class T>
void call_manhattan(const Loose<const T>& X, const Loose<const T>& Y, const Loose<T>& D, int n_threads) {
    auto x = rows_of(X, "manhattan: X"), y = rows_of(Y, "manhattan: Y");
    auto out = rows_of(D, "manhattan: D");
    demand(x.cols == y.cols, "manhattan: X and Y must have as many columns (" + std::to_string(x.cols) + ")",
           y.cols);
    demand(out.rows == x.rows, "manhattan: D must have one row a row of X (" + std::to_string(x.rows) + ")",
           out.rows);
    demand(out.cols == y.rows,
           "manhattan: D must have one column a row of Y (" + std::to_string(y.rows) + ")", out.cols);
    demand_threads(n_threads);
    watched(nb::none(), [&](Watch& watch) { manhattan(x, y, out, n_threads, watch); });
}

template <class T> void call_mirror(const Loose<T>& K, std::int64_t start, std::int64_t stop, int n_threads) {
    auto view = rows_of(K, "mirror: K");
    demand(view.rows == view.cols, "mirror: K must be square (" + std::to_string(view.rows) + " rows)",
           view.cols);
    demand(0 <= start && start <= stop && stop <= view.rows,
           "mirror: rows must run from 0 to at most " + std::to_string(view.rows) +
               " and start before they stop",
           start < 0 || start > stop ? start : stop);
    demand_threads(n_threads);
    watched(nb::none(), [&](Watch& watch) { mirror(view, start, stop, n_threads, watch); });
}

using Bytes = Loose<const std::uint8_t>;

template <class T>
bool call_as_integers(const Matrix<T>& X, double divisor, const Output<std::uint8_t>& out, int n_threads) {
    demand(size(out) == size(X) && size(out, 1) == size(X, 1), "as_integers: out must have the shape of X",
           out, X);
    demand(divisor >= 1 && divisor <= 65536, "as_integers: divisor must be from 1 to 65536", divisor);
    demand_threads(n_threads);
    bool fits = false;
    watched(nb::none(), [&](Watch& watch) {
        fits = to_integers(X.data(), size(X) * size(X, 1), static_cast<T>(divisor), out.data(), n_threads,
                           watch);
    });
    return fits;
}

template <class T>
void call_integer_gaussian(const Bytes& A, const Bytes& B, const Loose<T>& K, double gamma, int n_threads) {
    auto a = rows_of(A, "integer_gaussian: A"), b = rows_of(B, "integer_gaussian: B");
    auto out = rows_of(K, "integer_gaussian: K");
    demand(a.cols == b.cols,
           "integer_gaussian: A and B must have as many columns (" + std::to_string(a.cols) + ")", b.cols);
    demand(out.rows == a.rows && out.cols == b.rows,
           "integer_gaussian: K must have one row a row of A (" + std::to_string(a.rows) +
               ") and one column a row of B (" + std::to_string(b.rows) + ")",
           out.rows, out.cols);
    demand_threads(n_threads);
    watched(nb::none(),
            [&](Watch& watch) { integer_gaussian(a, b, static_cast<T>(gamma), out, n_threads, watch); });
}

template <class T> void define(nb::module_& m) {
    m.def("gaussian", &call_gaussian<T>, nb::arg("G").noconvert(), nb::arg("a").noconvert(),
          nb::arg("b").noconvert(), nb::arg("gamma"), nb::kw_only(), nb::arg("n_threads") = 1,
          "Turn inner products G into exp(-gamma max(0, a_i + b_j - 2 G_ij)), in place.");
    m.def("manhattan", &call_manhattan<T>, nb::arg("X").noconvert(), nb::arg("Y").noconvert(),
          nb::arg("D").noconvert(), nb::kw_only(), nb::arg("n_threads") = 1,
          "Fill D (m, n) with the city-block distances of the rows of X and Y.");
    m.def("mirror", &call_mirror<T>, nb::arg("K").noconvert(), nb::arg("start"), nb::arg("stop"),
          nb::kw_only(), nb::arg("n_threads") = 1,
          "Copy rows start to stop of K, up to the diagonal, to the columns above it.");
    m.def("as_integers", &call_as_integers<T>, nb::arg("X").noconvert(), nb::arg("divisor"),
          nb::arg("out").noconvert(), nb::kw_only(), nb::arg("n_threads") = 1,
          "Fill out with the whole numbers from 0 to 255 whose quotients by divisor X holds; False for "
          "others.");
    m.def("integer_gaussian", &call_integer_gaussian<T>, nb::arg("A").noconvert(), nb::arg("B").noconvert(),
          nb::arg("K").noconvert(), nb::arg("gamma"), nb::kw_only(), nb::arg("n_threads") = 1,
          "Fill K (m, n) with exp(-gamma ‖a_i - b_j‖²) for rows of bytes; only where multiplies_bytes().");
}

} // namespace

void bind_pairs(nb::module_& m) {
    define<float>(m);
    define<double>(m);
    m.def("multiplies_bytes", &multiplies_bytes, "Whether the kernels multiply bytes faster than floats.");
}

} // namespace lowdim::bind
