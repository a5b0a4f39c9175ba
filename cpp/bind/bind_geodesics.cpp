// _native.geodesics, all_geodesics, distance_sums, multiply_packed and packed_distance_sums.
#include "bind.hpp"

#include <lowdim/geodesics.hpp>

#include <cstdint>
#include <limits>
#include <string>

namespace lowdim::bind {

namespace {

Graph graph_of(const Vector<std::int64_t>& starts, const Vector<std::int32_t>& ends,
               const Vector<float>& lengths) {
    if (size(starts) == 0 || size(ends) != size(lengths))
        refuse(
            "graph: one start more than nodes, and as many ends as lengths are needed. Rebuild the graph.");
    const Graph graph{starts.data(), ends.data(), lengths.data(), size(starts) - 1};
    check(graph, size(ends));
    return graph;
}

void call_geodesics(const Vector<std::int64_t>& starts, const Vector<std::int32_t>& ends,
                    const Vector<float>& lengths, const Vector<std::int64_t>& source_starts,
                    const Vector<std::int32_t>& source_nodes, const Vector<float>& source_lengths,
                    const Output<float>& out, bool squared, int n_threads, nb::handle tick) {
    const Graph graph = graph_of(starts, ends, lengths);
    if (size(source_starts) == 0 || size(source_nodes) != size(source_lengths))
        refuse("sources: one start more than sources, and as many nodes as lengths are needed. Match them.");
    const Sources sources{source_starts.data(), source_nodes.data(), source_lengths.data(),
                          size(source_starts) - 1};
    check(sources, size(source_nodes), graph.nodes);
    if (size(out) != sources.count || size(out, 1) != graph.nodes)
        refuse("geodesics: out must be " + std::to_string(sources.count) + " × " +
               std::to_string(graph.nodes) + " (sources and nodes); got " + std::to_string(size(out)) +
               " × " + std::to_string(size(out, 1)) + ". Pass an array that fits.");
    demand_threads(n_threads);
    watched(tick, [&](Watch& watch) { geodesics(graph, sources, squared, out.data(), n_threads, watch); });
}

template <class T, class Array> PackedSymmetric<T> packed_of(const Array& values, std::int64_t n) {
    const PackedSymmetric<T> packed{values.data(), n};
    demand(size(values) == packed.rows_before(packed.panels()) && size(values, 1) == PackedSymmetric<T>::wide,
           "packed symmetric matrix: panels of " + std::to_string(n) + " rows are needed, 64 columns wide",
           size(values));
    return packed;
}

Made<std::int32_t> call_all(const Vector<std::int64_t>& starts, const Vector<std::int32_t>& ends,
                            const Vector<float>& lengths, const Output<float>& out, int n_threads,
                            nb::handle tick) {
    const Graph graph = graph_of(starts, ends, lengths);
    const PackedSymmetric<float> packed = packed_of<float>(out, graph.nodes);
    demand_threads(n_threads);
    auto nodes = empty<std::int32_t>(graph.nodes);
    watched(tick, [&](Watch& watch) { all_geodesics(graph, packed, nodes.data(), n_threads, watch); });
    return nodes;
}

Made<float> call_multiply_packed(std::uintptr_t gemm, const Matrix<float>& A, const Matrix<float>& V,
                                 int n_threads) {
    const PackedSymmetric<const float> packed = packed_of<const float>(A, size(V));
    demand(size(V, 1) >= 1 && size(V, 1) <= std::numeric_limits<int>::max(),
           "multiply_packed: V must have columns, as many as fit BLAS", size(V, 1));
    demand_threads(n_threads);
    auto out = empty<float>(size(V), size(V, 1));
    watched(nb::none(), [&](Watch& watch) {
        multiply_packed(reinterpret_cast<Gemm<float>>(gemm), packed, V.data(), size(V, 1), out.data(),
                        n_threads, watch);
    });
    return out;
}

Made<double> call_packed_sums(const Matrix<float>& D2, const Matrix<float>& Y, int n_threads,
                              nb::handle tick) {
    const PackedSymmetric<const float> packed = packed_of<const float>(D2, size(Y, 1));
    const std::int64_t k = size(Y);
    demand_threads(n_threads);
    auto out = empty<double>(packed.panels(), 2 + 3 * k);
    watched(tick,
            [&](Watch& watch) { packed_distance_sums(packed, Y.data(), k, out.data(), n_threads, watch); });
    return out;
}

Made<double> call_sums(const Matrix<float>& D, const Vector<std::int32_t>& places, const Matrix<float>& Y,
                       bool squared, bool beyond, int n_threads, nb::handle tick) {
    const std::int64_t rows = size(D), n = size(D, 1), k = size(Y);
    if (size(places) != rows || size(Y, 1) != n)
        refuse("distance_sums: one place a row of D (" + std::to_string(rows) +
               ") and one column of Y a column of D (" + std::to_string(n) + ") are needed; got " +
               std::to_string(size(places)) + " and " + std::to_string(size(Y, 1)) + ". Match them.");
    for (std::int64_t i = 0; i < rows; ++i)
        if (places(i) < 0 || places(i) >= n)
            refuse("distance_sums: places must be from 0 to " + std::to_string(n - 1) + "; got " +
                   std::to_string(places(i)) + ". Match them.");
    demand_threads(n_threads);
    auto out = empty<double>(rows, 2 + 3 * k);
    watched(tick, [&](Watch& watch) {
        distance_sums(D.data(), places.data(), rows, Y.data(), n, k, squared, beyond, out.data(), n_threads,
                      watch);
    });
    return out;
}

} // namespace

void bind_geodesics(nb::module_& m) {
    m.def("geodesics", &call_geodesics, nb::arg("starts").noconvert(), nb::arg("ends").noconvert(),
          nb::arg("lengths").noconvert(), nb::arg("source_starts").noconvert(),
          nb::arg("source_nodes").noconvert(), nb::arg("source_lengths").noconvert(),
          nb::arg("out").noconvert(), nb::kw_only(), nb::arg("squared") = false, nb::arg("n_threads") = 1,
          nb::arg("tick") = nb::none(),
          "Fill out (sources, nodes) with the lengths of the shortest paths from sources to nodes, or their "
          "squares.");
    m.def("distance_sums", &call_sums, nb::arg("D").noconvert(), nb::arg("places").noconvert(),
          nb::arg("Y").noconvert(), nb::kw_only(), nb::arg("squared") = false, nb::arg("beyond") = false,
          nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(),
          "Sums over each row of D (or what lies beyond its place) of distances, and those in the first rows "
          "of "
          "Y (k, n).");
    m.def("all_geodesics", &call_all, nb::arg("starts").noconvert(), nb::arg("ends").noconvert(),
          nb::arg("lengths").noconvert(), nb::arg("out").noconvert(), nb::kw_only(), nb::arg("n_threads") = 1,
          nb::arg("tick") = nb::none(),
          "Fill the panels out (rows, 64) with the squared lengths of the shortest paths between all nodes, "
          "and "
          "return the order of the nodes in it.");
    m.def("multiply_packed", &call_multiply_packed, nb::arg("gemm"), nb::arg("A").noconvert(),
          nb::arg("V").noconvert(), nb::kw_only(), nb::arg("n_threads") = 1,
          "A V for a symmetric matrix A in panels (rows, 64) and V (n, width).");
    m.def("packed_distance_sums", &call_packed_sums, nb::arg("D2").noconvert(), nb::arg("Y").noconvert(),
          nb::kw_only(), nb::arg("n_threads") = 1, nb::arg("tick") = nb::none(),
          "Sums as of distance_sums over all pairs once, from their squared distances in panels (rows, 64).");
}

} // namespace lowdim::bind
