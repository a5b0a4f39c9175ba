// _native.perplexity, _native.bandwidth, _native.symmetrize, _native.memberships and _native.fuzzy_union.
#include "maps.hpp"

#include <lowdim/affinities.hpp>
#include <lowdim/fuzzy.hpp>

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace lowdim::bind {

namespace {

template <class T, class Kernel>
nb::tuple fill(const Matrix<T>& distances, nb::handle tick, const Kernel& kernel) {
    const std::int64_t n = size(distances), k = size(distances, 1);
    demand(n >= 1 && k >= 1, "perplexity: distances must have a row and a column", distances);
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
    demand(!perplexities.empty(), "perplexity: perplexities of 1 or more are needed", perplexities.size());
    demand_each(
        perplexities.data(), static_cast<std::int64_t>(perplexities.size()), [](double u) { return u >= 1; },
        "perplexity: perplexities must be numbers of 1 or more");
    return fill<T>(distances, tick,
                   [&](const NearDistances<T>& near, float* p, float* reached, Watch& watch) {
                       perplexity(near, perplexities, p, reached, n_threads, watch);
                   });
}

template <class T>
nb::tuple call_bandwidth(const Matrix<T>& distances, double sigma, int n_threads, nb::handle tick) {
    demand_threads(n_threads);
    demand(sigma > 0, "bandwidth: sigma must be positive", sigma);
    return fill<T>(distances, tick,
                   [&](const NearDistances<T>& near, float* p, float* reached, Watch& watch) {
                       bandwidth(near, sigma, p, reached, n_threads, watch);
                   });
}

// Symmetric rows from neighbours and their weights, by `merge`.
template <class Merge>
nb::tuple merged(const Matrix<std::int32_t>& indices, const Matrix<float>& p, int n_threads, nb::handle tick,
                 const Merge& merge) {
    const std::int64_t n = size(indices), k = size(indices, 1);
    demand(size(p) == n && size(p, 1) == k && n >= 1, "symmetrize: indices and p must have the same shape",
           indices, p);
    demand_threads(n_threads);
    const std::int32_t* index = indices.data();
    demand_each(
        index, n * k, [n](std::int32_t j) { return j >= 0 && j < n; },
        "symmetrize: indices must lie below the number of rows");
    SparseRows P;
    watched(tick, [&](Watch& watch) { P = merge(index, p.data(), n, k, watch); });
    const auto stored = static_cast<std::size_t>(P.starts.back());
    std::unique_ptr<std::int64_t[]> starts(new std::int64_t[P.starts.size()]);
    std::copy(P.starts.begin(), P.starts.end(), starts.get());
    return nb::make_tuple(owned(std::move(starts), P.starts.size()), owned(std::move(P.columns), stored),
                          owned(std::move(P.values), stored));
}

nb::tuple call_symmetrize(const Matrix<std::int32_t>& indices, const Matrix<float>& p, int n_threads,
                          nb::handle tick) {
    return merged(indices, p, n_threads, tick,
                  [&](const std::int32_t* index, const float* values, std::int64_t n, std::int64_t k,
                      Watch& watch) { return symmetrize(index, values, n, k, n_threads, watch); });
}

nb::tuple call_fuzzy_union(const Matrix<std::int32_t>& indices, const Matrix<float>& v, double mix,
                           int n_threads, nb::handle tick) {
    demand(mix >= 0 && mix <= 1, "fuzzy_union: mix must lie between 0 and 1", mix);
    return merged(indices, v, n_threads, tick,
                  [&](const std::int32_t* index, const float* values, std::int64_t n, std::int64_t k,
                      Watch& watch) { return fuzzy_union(index, values, n, k, mix, n_threads, watch); });
}

template <class T>
nb::tuple call_memberships(const Matrix<T>& distances, double local, double target, double typical,
                           int n_threads, nb::handle tick) {
    const std::int64_t n = size(distances), k = size(distances, 1);
    demand(n >= 1 && k >= 1, "memberships: distances must have a row and a column", distances);
    demand(local >= 0 && local <= static_cast<double>(k) && target > 0 && typical >= 0,
           "memberships: local must lie between 0 and the number of neighbours, target must be positive",
           local, target);
    demand_threads(n_threads);
    auto v = empty<float>(n, k);
    auto rho = empty<float>(n), sigma = empty<float>(n);
    const NearDistances<T> near{distances.data(), n, k};
    const Connectivity by{local, target, typical};
    watched(tick, [&](Watch& watch) {
        memberships(near, by, v.data(), rho.data(), sigma.data(), n_threads, watch);
    });
    return nb::make_tuple(v, rho, sigma);
}

template <class T> void define(nb::module_& m) {
    m.def("perplexity", &call_perplexity<T>, nb::arg("distances").noconvert(), nb::arg("perplexities"),
          nb::kw_only(), nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(),
          "Probabilities (n, k) of neighbours at rising distances (n, k) with the entropies asked for, "
          "averaged, "
          "and the perplexity (n,) of each row.");
    m.def("bandwidth", &call_bandwidth<T>, nb::arg("distances").noconvert(), nb::arg("sigma"), nb::kw_only(),
          nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(), "The same with one width for all rows.");
    m.def("memberships", &call_memberships<T>, nb::arg("distances").noconvert(), nb::kw_only(),
          nb::arg("local") = 1.0, nb::arg("target"), nb::arg("typical") = 0.0, nb::arg("n_threads") = 1,
          nb::arg("tick") = nb::none(),
          "Memberships (n, k) of neighbours at rising distances (n, k), and the rho and sigma (n,) of each "
          "row.");
}

} // namespace

void bind_affinities(nb::module_& m) {
    define<float>(m);
    define<double>(m);
    m.def("symmetrize", &call_symmetrize, nb::arg("indices").noconvert(), nb::arg("p").noconvert(),
          nb::kw_only(), nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(),
          "Symmetric rows (starts, columns, values) of (p_j|i + p_i|j) / 2n.");
    m.def("fuzzy_union", &call_fuzzy_union, nb::arg("indices").noconvert(), nb::arg("v").noconvert(),
          nb::kw_only(), nb::arg("mix") = 1.0, nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(),
          "Symmetric rows of mix (a + b - ab) + (1 - mix) ab, a and b the memberships of both directions.");
}

} // namespace lowdim::bind
