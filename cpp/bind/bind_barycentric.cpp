// _native.barycentric and _native.gram_weights.
#include "bind.hpp"

#include <lowdim/barycentric.hpp>

#include <cstdint>
#include <string>

namespace lowdim::bind {

namespace {

using Grams = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

template <class T>
Made<double> call(const Matrix<T>& X, const Matrix<T>& Q, const Vector<std::int64_t>& starts,
                  const Vector<std::int32_t>& neighbors, double reg, int n_threads, nb::handle tick) {
    const std::int64_t rows = size(Q), stored = size(neighbors);
    bool fits =
        size(X, 1) == size(Q, 1) && size(starts) == rows + 1 && starts(0) == 0 && starts(rows) == stored;
    for (std::int64_t i = 0; fits && i < rows; ++i)
        fits = starts(i) <= starts(i + 1);
    for (std::int64_t e = 0; fits && e < stored; ++e)
        fits = neighbors(e) >= 0 && neighbors(e) < size(X);
    if (!fits)
        refuse(
            "barycentric: X and Q must have as many columns, starts rise from 0 to the number of neighbors, "
            "one more than rows of Q, and neighbors be rows of X; they do not fit. Match them.");
    demand_threads(n_threads);
    auto out = empty<double>(stored);
    watched(tick, [&](Watch& watch) {
        barycentric(X.data(), Q.data(), size(X, 1), starts.data(), neighbors.data(), rows, reg, out.data(),
                    n_threads, watch);
    });
    return out;
}

Made<double> call_grams(const Grams& G, double reg, int n_threads) {
    const std::int64_t rows = size(G), k = size(G, 1);
    if (size(G, 2) != k)
        refuse("gram_weights: G must be stacked squares; got " + std::to_string(k) + " × " +
               std::to_string(size(G, 2)) + ". Pass (rows, k, k).");
    demand_threads(n_threads);
    auto out = empty<double>(rows, k);
    watched(nb::none(),
            [&](Watch& watch) { gram_weights(G.data(), rows, k, reg, out.data(), n_threads, watch); });
    return out;
}

template <class T> void define(nb::module_& m) {
    m.def("barycentric", &call<T>, nb::arg("X").noconvert(), nb::arg("Q").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("neighbors").noconvert(), nb::arg("reg"), nb::kw_only(),
          nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(),
          "Weights of the rows of X that rebuild each row of Q from its neighbors.");
}

} // namespace

void bind_barycentric(nb::module_& m) {
    define<float>(m);
    define<double>(m);
    m.def("gram_weights", &call_grams, nb::arg("G").noconvert(), nb::arg("reg"), nb::kw_only(),
          nb::arg("n_threads") = 1,
          "The same weights (rows, k) from Gram matrices (rows, k, k), which are overwritten.");
}

} // namespace lowdim::bind
