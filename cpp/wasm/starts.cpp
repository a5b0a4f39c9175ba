// Starts of a map: eigenvectors of its graph.
#include "engine.hpp"

#include <lowdim/chebyshev.hpp>
#include <lowdim/csr.hpp>
#include <lowdim/spectra.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lowdim::wasm {
namespace {

constexpr std::int64_t width = chebyshev_width, degree = 48;
constexpr int most_rounds = 24;
constexpr double residual = 1e-4; // of an eigenvector that only begins a map

// Whether all rows hang together by entries that are not 0.
bool connected(const SparseRows& graph, std::int64_t n) {
    std::vector<std::int32_t> above(static_cast<std::size_t>(n));
    std::iota(above.begin(), above.end(), 0);
    const auto top = [&](std::int32_t i) {
        while (above[static_cast<std::size_t>(i)] != i)
            i = above[static_cast<std::size_t>(i)] =
                above[static_cast<std::size_t>(above[static_cast<std::size_t>(i)])];
        return i;
    };
    std::int64_t parts = n;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t at = graph.starts[static_cast<std::size_t>(i)];
             at < graph.starts[static_cast<std::size_t>(i) + 1]; ++at)
            if (graph.values[at] > 0) {
                const std::int32_t a = top(static_cast<std::int32_t>(i)), b = top(graph.columns[at]);
                if (a != b) {
                    above[static_cast<std::size_t>(a)] = b;
                    --parts;
                }
            }
    return parts == 1;
}

// Columns of V (n × 8) orthonormal, in order.
void orthonormalise(std::vector<double>& V, std::int64_t n) {
    for (std::int64_t c = 0; c < width; ++c)
        for (int again = 0; again < 2; ++again) {
            for (std::int64_t b = 0; b < c; ++b) {
                double along = 0;
                for (std::int64_t i = 0; i < n; ++i)
                    along += V[static_cast<std::size_t>(i * width + b)] *
                             V[static_cast<std::size_t>(i * width + c)];
                for (std::int64_t i = 0; i < n; ++i)
                    V[static_cast<std::size_t>(i * width + c)] -=
                        along * V[static_cast<std::size_t>(i * width + b)];
            }
            double square = 0;
            for (std::int64_t i = 0; i < n; ++i)
                square +=
                    V[static_cast<std::size_t>(i * width + c)] * V[static_cast<std::size_t>(i * width + c)];
            const double factor = square > 0 ? 1 / std::sqrt(square) : 0;
            for (std::int64_t i = 0; i < n; ++i)
                V[static_cast<std::size_t>(i * width + c)] *= factor;
        }
}

// V turned to the eigenvectors of its own plane of A, the smallest values first; the largest residual of the
// first three.
double turn(const Csr& A, std::vector<double>& V, std::int64_t n, double* values, int n_threads,
            Watch& watch) {
    std::vector<double> AV(V.size()), small(width * width), vectors(width * width), turned(V.size());
    product(A, V.data(), width, AV.data(), n_threads, watch);
    for (std::int64_t a = 0; a < width; ++a)
        for (std::int64_t b = 0; b < width; ++b)
            for (std::int64_t i = 0; i < n; ++i)
                small[static_cast<std::size_t>(a * width + b)] +=
                    V[static_cast<std::size_t>(i * width + a)] * AV[static_cast<std::size_t>(i * width + b)];
    for (std::int64_t a = 0; a < width; ++a)
        for (std::int64_t b = 0; b < a; ++b)
            small[static_cast<std::size_t>(a * width + b)] = small[static_cast<std::size_t>(b * width + a)];
    spectra(small.data(), 1, width, values, vectors.data(), 1, watch); // the largest first
    std::reverse(values, values + width);
    double worst = 0;
    for (std::int64_t c = 0; c < width; ++c) {
        const double* weights = vectors.data() + (width - 1 - c) * width;
        double off = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            double v = 0, av = 0;
            for (std::int64_t b = 0; b < width; ++b) {
                v += weights[b] * V[static_cast<std::size_t>(i * width + b)];
                av += weights[b] * AV[static_cast<std::size_t>(i * width + b)];
            }
            turned[static_cast<std::size_t>(i * width + c)] = v;
            off += (av - values[c] * v) * (av - values[c] * v);
        }
        if (c < 3)
            worst = std::max(worst, std::sqrt(off));
    }
    V.swap(turned);
    return worst;
}

} // namespace

bool spectral_start(const SparseRows& graph, float* Y, std::uint64_t seed, int n_threads, Watch& watch) {
    const auto n = static_cast<std::int64_t>(graph.starts.size()) - 1;
    if (n <= 2 * width || !connected(graph, n))
        return false;
    std::vector<double> root(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
        const double degree_of =
            std::accumulate(graph.values.get() + graph.starts[static_cast<std::size_t>(i)],
                            graph.values.get() + graph.starts[static_cast<std::size_t>(i) + 1], 0.0);
        root[static_cast<std::size_t>(i)] = 1 / std::sqrt(degree_of);
    }
    // I − D^−½ V D^−½, with the diagonal.
    std::vector<std::int32_t> starts{0}, columns;
    std::vector<double> values;
    for (std::int64_t i = 0; i < n; ++i) {
        columns.push_back(static_cast<std::int32_t>(i));
        values.push_back(1);
        for (std::int64_t at = graph.starts[static_cast<std::size_t>(i)];
             at < graph.starts[static_cast<std::size_t>(i) + 1]; ++at) {
            columns.push_back(graph.columns[at]);
            values.push_back(-graph.values[at] * root[static_cast<std::size_t>(i)] *
                             root[static_cast<std::size_t>(graph.columns[at])]);
        }
        starts.push_back(static_cast<std::int32_t>(columns.size()));
    }
    const Csr A{starts.data(), columns.data(), values.data(), n, n};
    std::vector<double> V(static_cast<std::size_t>(n * width));
    Random random(seed);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t c = 0; c < width; ++c)
            V[static_cast<std::size_t>(i * width + c)] =
                c == 0 ? 1 / root[static_cast<std::size_t>(i)] : random.normal();
    double found[width] = {};
    double low = 0.3;
    for (int round = 0; round < most_rounds && !watch.stopped(); ++round) {
        chebyshev<double>(nullptr, A, V.data(), low, 2.0, degree, n_threads, watch);
        orthonormalise(V, n);
        if (turn(A, V, n, found, n_threads, watch) < residual)
            break;
        low = std::clamp(found[width - 1], 1e-3, 1.0);
    }
    const double second = std::max(found[1] / std::max(found[2], 1e-300), 0.25); // see compose/layout.py
    for (std::int64_t c = 0; c < 2; ++c) {
        const double extent = 1e3 * (c == 0 ? 1 : second);
        double most = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            const double y =
                V[static_cast<std::size_t>(i * width + 1 + c)] * root[static_cast<std::size_t>(i)];
            Y[2 * i + c] = static_cast<float>(y * extent);
            most = std::fabs(y) > std::fabs(most) ? y : most;
        }
        if (most < 0)
            for (std::int64_t i = 0; i < n; ++i)
                Y[2 * i + c] = -Y[2 * i + c];
    }
    return true;
}

} // namespace lowdim::wasm
