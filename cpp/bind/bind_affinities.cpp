// _native.perplexity, _native.bandwidth and _native.symmetrize.
#include "bind.hpp"

#include <lowdim/affinities.hpp>

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace lowdim::bind {

namespace {

// An array of NumPy that owns what `data` points to.
template <class T> nb::object owned(std::unique_ptr<T[]> data, std::size_t size) {
    T* raw = data.release();
    nb::capsule owner(raw, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(raw, {size}, owner));
}

template <class T, class Kernel>
nb::tuple fill(const Matrix<T>& distances, nb::handle tick, const Kernel& kernel) {
    const std::int64_t n = size(distances), k = size(distances, 1);
    demand(n >= 1 && k >= 1, "perplexity: distances must have a row and a column");
    auto p = empty<float>(n, k);
    auto reached = empty<float>(n);
    const NearDistances<T> near{distances.data(), n, k};
    watched(tick, [&](Watch& watch) { kernel(near, p.data(), reached.data(), watch); });
    return nb::make_tuple(p, reached);
}

template <class T>
nb::tuple call_perplexity(const Matrix<T>& distances, const std::vector<double>& perplexities, int n_threads,
                          nb::handle tick) {
    demand_threads(n_threads);
    demand(!perplexities.empty() &&
               std::all_of(perplexities.begin(), perplexities.end(), [](double u) { return u >= 1; }),
           "perplexity: perplexities must be numbers of 1 or more");
    return fill<T>(distances, tick,
                   [&](const NearDistances<T>& near, float* p, float* reached, Watch& watch) {
                       perplexity(near, perplexities, p, reached, n_threads, watch);
                   });
}

template <class T>
nb::tuple call_bandwidth(const Matrix<T>& distances, double sigma, int n_threads, nb::handle tick) {
    demand_threads(n_threads);
    demand(sigma > 0, "bandwidth: sigma must be positive");
    return fill<T>(distances, tick,
                   [&](const NearDistances<T>& near, float* p, float* reached, Watch& watch) {
                       bandwidth(near, sigma, p, reached, n_threads, watch);
                   });
}

nb::tuple call_symmetrize(const Matrix<std::int32_t>& indices, const Matrix<float>& p, int n_threads,
                          nb::handle tick) {
    const std::int64_t n = size(indices), k = size(indices, 1);
    demand(size(p) == n && size(p, 1) == k && n >= 1, "symmetrize: indices and p must have the same shape");
    demand_threads(n_threads);
    const std::int32_t* index = indices.data();
    demand(std::all_of(index, index + n * k, [n](std::int32_t j) { return j >= 0 && j < n; }),
           "symmetrize: indices must lie below the number of rows");
    SparseRows P;
    watched(tick, [&](Watch& watch) { P = symmetrize(index, p.data(), n, k, n_threads, watch); });
    const auto stored = static_cast<std::size_t>(P.starts.back());
    std::unique_ptr<std::int64_t[]> starts(new std::int64_t[P.starts.size()]);
    std::copy(P.starts.begin(), P.starts.end(), starts.get());
    return nb::make_tuple(owned(std::move(starts), P.starts.size()), owned(std::move(P.columns), stored),
                          owned(std::move(P.values), stored));
}

template <class T> void define(nb::module_& m) {
    m.def("perplexity", &call_perplexity<T>, nb::arg("distances").noconvert(), nb::arg("perplexities"),
          nb::kw_only(), nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(),
          "Probabilities (n, k) of neighbours at rising distances (n, k) with the entropies asked for, "
          "averaged, "
          "and the perplexity (n,) of each row.");
    m.def("bandwidth", &call_bandwidth<T>, nb::arg("distances").noconvert(), nb::arg("sigma"), nb::kw_only(),
          nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(), "The same with one width for all rows.");
}

} // namespace

void bind_affinities(nb::module_& m) {
    define<float>(m);
    define<double>(m);
    m.def("symmetrize", &call_symmetrize, nb::arg("indices").noconvert(), nb::arg("p").noconvert(),
          nb::kw_only(), nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(),
          "Symmetric rows (starts, columns, values) of (p_j|i + p_i|j) / 2n.");
}

} // namespace lowdim::bind
