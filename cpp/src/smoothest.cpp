#include "chunks.hpp"
#include "coarse_graph.hpp"
#include "lowest_pairs.hpp"

#include <lowdim/chebyshev.hpp>
#include <lowdim/smoothest.hpp>
#include <lowdim/spectra.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace lowdim {
namespace {

using detail::Graph, detail::OwnGraph;
using Doubles = std::vector<double>;
constexpr std::int64_t width = chebyshev_width;
constexpr std::int64_t dense = 160;            // rows of a graph whose eigenvectors are computed directly
constexpr std::int64_t alone = 4000;           // rows of components that threads take one each
constexpr std::int64_t chunk = 2048;           // rows of a partial sum
constexpr std::int64_t spare = 4;              // vectors beside those wanted
constexpr double shrinks = 0.7;                // rows of a coarser graph at most, in those of the finer
constexpr double largest = 2.0;                // eigenvalue that a normalised Laplacian can have
constexpr double dependent = 1e-7;             // share of a direction in vectors that are taken as dependent
constexpr double growth = 5, most_growth = 10; // logarithms, of what is kept by one polynomial
constexpr std::int64_t degree_fine = 40, degree_coarse = 60;
constexpr std::int64_t few_rows = 40'000; // of a graph whose polynomial is applied twice
constexpr int passes_coarse = 4, passes_random = 6;

// Vectors (n × columns) in blocks of `width`, row by row.
struct Block {
    Block(std::int64_t n_, std::int64_t count) : n(n_) {
        for (std::int64_t b = 0; b < count; ++b)
            blocks.emplace_back(n * width);
    }
    [[nodiscard]] std::int64_t columns() const { return static_cast<std::int64_t>(blocks.size()) * width; }
    [[nodiscard]] float* at(std::int64_t block) const {
        return blocks[static_cast<std::size_t>(block)].data();
    }
    std::int64_t n;
    std::vector<detail::Aligned<float>> blocks;
};

// I − D^−½ V D^−½ with its rows in an order in which neighbours are close, and the roots of the degrees in
// it.
struct Laplacian {
    std::vector<std::int32_t> starts;
    detail::Aligned<std::int32_t> columns;
    detail::Aligned<float> values;
    Doubles root;
    [[nodiscard]] CsrOf<float> view() const {
        const auto n = static_cast<std::int64_t>(root.size());
        return {starts.data(), columns.data(), values.data(), n, n};
    }
};

// Sums over rows of `size` products each, by chunks: the same for any number of threads.
template <class Add>
Doubles summed(std::int64_t n, std::int64_t size, int n_threads, Watch& watch, const Add& add) {
    const std::int64_t count = (n + chunk - 1) / chunk;
    Doubles parts(static_cast<std::size_t>(count * size)), out(static_cast<std::size_t>(size));
    detail::each_chunk(n, chunk, n_threads, watch, [&](std::int64_t c, std::int64_t from, std::int64_t to) {
        add(from, to, parts.data() + c * size);
    });
    for (std::int64_t c = 0; c < count; ++c)
        for (std::int64_t i = 0; i < size; ++i)
            out[static_cast<std::size_t>(i)] += parts[static_cast<std::size_t>(c * size + i)];
    return out;
}

Doubles degrees_of(const Graph& graph, int n_threads, Watch& watch) {
    Doubles out(static_cast<std::size_t>(graph.n));
    detail::each_chunk(graph.n, chunk, n_threads, watch,
                       [&](std::int64_t, std::int64_t from, std::int64_t to) {
                           for (std::int64_t i = from; i < to; ++i) {
                               double sum = 0;
                               for (std::int64_t e = graph.starts[i]; e < graph.starts[i + 1]; ++e)
                                   sum += std::max(graph.values[e], 0.0f);
                               out[static_cast<std::size_t>(i)] = sum;
                           }
                       });
    return out;
}

Laplacian laplacian(const Graph& graph, const Doubles& degrees, const std::vector<std::int32_t>& order,
                    int n_threads, Watch& watch) {
    const auto n = static_cast<std::size_t>(graph.n);
    std::vector<std::int32_t> place(n);
    Laplacian out;
    out.starts.resize(n + 1);
    out.root.resize(n);
    for (std::size_t p = 0; p < n; ++p) {
        const std::int32_t i = order[p];
        place[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(p);
        out.starts[p + 1] =
            out.starts[p] + 1 + static_cast<std::int32_t>(graph.starts[i + 1] - graph.starts[i]);
        out.root[p] = std::sqrt(degrees[static_cast<std::size_t>(i)]);
    }
    out.columns = detail::Aligned<std::int32_t>(out.starts[n]);
    out.values = detail::Aligned<float>(out.starts[n]);
    detail::each_chunk(
        graph.n, chunk, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
            for (std::int64_t p = from; p < to; ++p) {
                const std::int32_t i = order[static_cast<std::size_t>(p)];
                std::int64_t at = out.starts[static_cast<std::size_t>(p)];
                const double own = 1 / out.root[static_cast<std::size_t>(p)];
                out.columns[at] = static_cast<std::int32_t>(p);
                out.values[at++] = 1;
                for (std::int64_t e = graph.starts[i]; e < graph.starts[i + 1]; ++e, ++at) {
                    const std::int32_t other = place[static_cast<std::size_t>(graph.columns[e])];
                    out.columns[at] = other;
                    out.values[at] = static_cast<float>(-std::max(graph.values[e], 0.0f) * own /
                                                        out.root[static_cast<std::size_t>(other)]);
                }
            }
        });
    return out;
}

// The eigenvectors of a small graph: values (count), vectors (count × n).
void solve_small(const Graph& graph, const Doubles& degrees, std::int64_t count, double* values,
                 double* vectors) {
    const std::int64_t n = graph.n;
    Doubles A(static_cast<std::size_t>(n * n)), root(static_cast<std::size_t>(n));
    double total = 0;
    for (std::size_t i = 0; i < root.size(); ++i) {
        root[i] = std::sqrt(degrees[i]);
        total += degrees[i];
    }
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) // the eigenvalue of the constant becomes the largest
            A[static_cast<std::size_t>(i * n + j)] =
                2 * largest * root[static_cast<std::size_t>(i)] * root[static_cast<std::size_t>(j)] / total;
        A[static_cast<std::size_t>(i * n + i)] += 1;
        for (std::int64_t e = graph.starts[i]; e < graph.starts[i + 1]; ++e)
            A[static_cast<std::size_t>(i * n + graph.columns[e])] -=
                std::max(graph.values[e], 0.0f) / root[static_cast<std::size_t>(i)] /
                root[static_cast<std::size_t>(graph.columns[e])];
    }
    detail::lowest_pairs(A.data(), n, count, values, vectors);
}

// V becomes the eigenvectors of its own space, the smallest values first: Rayleigh and Ritz.
Doubles turned(const Laplacian& L, Block& V, int n_threads, Watch& watch) {
    const std::int64_t n = V.n, w = V.columns(), blocks = w / width;
    const Doubles along =
        summed(n, w + 1, n_threads, watch, [&](std::int64_t from, std::int64_t to, double* sum) {
            for (std::int64_t i = from; i < to; ++i) {
                const double root = L.root[static_cast<std::size_t>(i)];
                for (std::int64_t b = 0; b < blocks; ++b)
                    for (std::int64_t c = 0; c < width; ++c)
                        sum[b * width + c] += root * V.at(b)[i * width + c];
                sum[w] += root * root;
            }
        });
    Block image(n, blocks);
    for (std::int64_t b = 0; b < blocks; ++b) {
        detail::each_chunk(n, chunk, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
            std::array<float, width> share;
            for (std::int64_t c = 0; c < width; ++c)
                share[static_cast<std::size_t>(c)] =
                    static_cast<float>(along[static_cast<std::size_t>(b * width + c)] / along.back());
            for (std::int64_t i = from; i < to; ++i) {
                const auto root = static_cast<float>(L.root[static_cast<std::size_t>(i)]);
                for (std::int64_t c = 0; c < width; ++c)
                    V.at(b)[i * width + c] -= root * share[static_cast<std::size_t>(c)];
            }
            std::copy(V.at(b) + from * width, V.at(b) + to * width, image.at(b) + from * width);
        });
        chebyshev<float>(nullptr, L.view(), image.at(b), -1, 1, 1, n_threads, watch); // T₁(L) = L
    }
    const Doubles products =
        summed(n, 2 * w * w, n_threads, watch, [&](std::int64_t from, std::int64_t to, double* sum) {
            for (std::int64_t a = 0; a < blocks; ++a)
                for (std::int64_t b = 0; b < blocks; ++b) {
                    double G[width][width] = {}, H[width][width] = {};
                    for (std::int64_t i = from; i < to; ++i) {
                        const float *x = V.at(a) + i * width, *y = V.at(b) + i * width,
                                    *z = image.at(b) + i * width;
                        for (std::int64_t c = 0; c < width; ++c)
                            for (std::int64_t d = 0; d < width; ++d) {
                                G[c][d] += static_cast<double>(x[c]) * static_cast<double>(y[d]);
                                H[c][d] += static_cast<double>(x[c]) * static_cast<double>(z[d]);
                            }
                    }
                    for (std::int64_t c = 0; c < width; ++c)
                        for (std::int64_t d = 0; d < width; ++d) {
                            sum[(a * width + c) * w + b * width + d] = G[c][d];
                            sum[w * w + (a * width + c) * w + b * width + d] = H[c][d];
                        }
                }
        });
    const auto square = static_cast<std::size_t>(w * w);
    Doubles G(square), H(square), scale(static_cast<std::size_t>(w)), sizes(scale), Q(square), T(square),
        HT(square);
    const auto at = [&](Doubles& M, std::int64_t i, std::int64_t j) -> double& {
        return M[static_cast<std::size_t>(i * w + j)];
    };
    for (std::int64_t i = 0; i < w; ++i)
        scale[static_cast<std::size_t>(i)] =
            1 / std::sqrt(std::max(products[static_cast<std::size_t>(i * w + i)], 1e-300));
    for (std::int64_t i = 0; i < w; ++i)
        for (std::int64_t j = 0; j < w; ++j) {
            const double by = scale[static_cast<std::size_t>(i)] * scale[static_cast<std::size_t>(j)];
            const auto ij = static_cast<std::size_t>(i * w + j), ji = static_cast<std::size_t>(j * w + i);
            G[ij] = products[ij] * by;
            H[ij] = (products[square + ij] + products[square + ji]) / 2 * by;
        }
    spectra(G.data(), 1, w, sizes.data(), Q.data(), 1, watch);
    const auto kept = [&](std::int64_t c) { return sizes[static_cast<std::size_t>(c)] > dependent; };
    for (std::int64_t c = 0; c < w; ++c)
        for (std::int64_t i = 0; i < w; ++i) // column c of T: an orthonormal direction
            at(T, i, c) = kept(c) ? at(Q, c, i) / std::sqrt(sizes[static_cast<std::size_t>(c)]) : 0;
    for (std::int64_t i = 0; i < w; ++i)
        for (std::int64_t c = 0; c < w; ++c) {
            double sum = 0;
            for (std::int64_t j = 0; j < w; ++j)
                sum += at(H, i, j) * at(T, j, c);
            at(HT, i, c) = sum;
        }
    for (std::int64_t a = 0; a < w; ++a)
        for (std::int64_t c = 0; c < w; ++c) {
            double sum = a == c && !kept(a) ? 2 * largest : 0; // directions that were lost come last
            for (std::int64_t i = 0; i < w; ++i)
                sum += at(T, i, a) * at(HT, i, c);
            at(G, a, c) = sum;
        }
    Doubles values(static_cast<std::size_t>(w));
    spectra(G.data(), 1, w, values.data(), Q.data(), 1, watch);
    std::reverse(values.begin(), values.end());
    std::vector<float> turn(square); // row i, column c: the share of vector i in the new vector c
    for (std::int64_t i = 0; i < w; ++i)
        for (std::int64_t c = 0; c < w; ++c) {
            double sum = 0;
            for (std::int64_t j = 0; j < w; ++j)
                sum += at(T, i, j) * at(Q, w - 1 - c, j);
            turn[static_cast<std::size_t>(i * w + c)] =
                static_cast<float>(sum * scale[static_cast<std::size_t>(i)]);
        }
    detail::each_chunk(n, chunk, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
        std::vector<float> row(static_cast<std::size_t>(w));
        for (std::int64_t i = from; i < to; ++i) {
            std::fill(row.begin(), row.end(), 0.0f);
            for (std::int64_t a = 0; a < w; ++a) {
                const float x = V.at(a / width)[i * width + a % width];
                for (std::int64_t c = 0; c < w; ++c)
                    row[static_cast<std::size_t>(c)] += x * turn[static_cast<std::size_t>(a * w + c)];
            }
            for (std::int64_t b = 0; b < blocks; ++b)
                std::copy_n(row.data() + b * width, width, V.at(b) + i * width);
        }
    });
    return values;
}

// A polynomial that damps what is not smooth, then Rayleigh and Ritz; `last` is the eigenvalue of the last
// vector.
Doubles filtered(const Laplacian& L, Block& V, double last, std::int64_t degree, int n_threads,
                 Watch& watch) {
    // What is kept grows by e^growth at least, beside what the polynomial damps: that above `low`.
    const double reach = growth / (2 * static_cast<double>(degree));
    const double low = std::clamp(last, 2 * reach * reach, 0.5 * largest), high = 1.01 * largest;
    degree =
        std::min(degree, static_cast<std::int64_t>(most_growth / std::acosh((high + low) / (high - low))));
    for (std::int64_t b = 0; b < V.columns() / width; ++b)
        chebyshev<float>(nullptr, L.view(), V.at(b), low, high, degree, n_threads, watch);
    return turned(L, V, n_threads, watch);
}

// Graphs from the finest to the coarsest, and for each but the last the group of each row.
struct Levels {
    std::vector<OwnGraph> coarse;
    std::vector<std::vector<std::int32_t>> group;
};

// Coordinates of a connected graph: values (k), Y (n × k).
void coordinates(const Graph& finest, std::int64_t k, double* values, double* Y, int n_threads,
                 Watch& watch) {
    const std::int64_t blocks = (k + spare + width - 1) / width, w = blocks * width;
    std::vector<Graph> graphs{finest};
    Levels levels;
    while (graphs.back().n > dense && !watch.stopped()) {
        std::vector<std::int32_t> group;
        const std::int32_t count = grouped(graphs.back(), group, n_threads, watch);
        if (count > static_cast<std::int32_t>(shrinks * static_cast<double>(graphs.back().n)) ||
            count < 3 * w)
            break;
        levels.coarse.push_back(coarsened(graphs.back(), group, count, n_threads, watch));
        levels.group.push_back(std::move(group));
        graphs.push_back(levels.coarse.back().view());
    }
    if (watch.stopped())
        return;
    std::vector<std::int32_t> order(static_cast<std::size_t>(graphs.back().n)), place;
    std::iota(order.begin(), order.end(), 0);
    Block V(0, 0);
    Doubles found(static_cast<std::size_t>(w)), before; // inverse roots of the degrees of the level before
    for (std::size_t l = graphs.size(); l-- > 0 && !watch.stopped();) {
        const Graph& graph = graphs[l];
        const Doubles degrees = degrees_of(graph, n_threads, watch);
        const bool first = l + 1 == graphs.size();
        if (first && graph.n <= dense) {
            const std::int64_t wanted = l ? w : std::min(k, graph.n - 1); // few rows have fewer
            Doubles vectors(static_cast<std::size_t>(wanted * graph.n));
            solve_small(graph, degrees, wanted, found.data(), vectors.data());
            if (l == 0) {
                for (std::int64_t i = 0; i < graph.n; ++i)
                    for (std::int64_t c = 0; c < wanted; ++c)
                        Y[i * k + c] = vectors[static_cast<std::size_t>(c * graph.n + i)];
                for (std::int64_t c = 0; c < wanted; ++c)
                    values[c] = found[static_cast<std::size_t>(c)];
            } else {
                V = Block(graph.n, blocks);
                for (std::int64_t i = 0; i < graph.n; ++i)
                    for (std::int64_t c = 0; c < w; ++c)
                        V.at(c / width)[i * width + c % width] =
                            static_cast<float>(vectors[static_cast<std::size_t>(c * graph.n + i)]);
            }
        } else {
            if (!first) { // rows of a group next to each other, in the order of the groups
                const std::vector<std::int32_t>& group = levels.group[l];
                std::vector<std::int64_t> next(before.size() + 1, 0);
                for (const std::int32_t g : group)
                    ++next[static_cast<std::size_t>(place[static_cast<std::size_t>(g)]) + 1];
                std::partial_sum(next.begin(), next.end(), next.begin());
                order.resize(group.size());
                for (std::size_t i = 0; i < group.size(); ++i)
                    order[static_cast<std::size_t>(
                        next[static_cast<std::size_t>(place[static_cast<std::size_t>(group[i])])]++)] =
                        static_cast<std::int32_t>(i);
            }
            const Laplacian L = laplacian(graph, degrees, order, n_threads, watch);
            Block finer(graph.n, blocks);
            if (first) {
                std::uint64_t drawn = 1;
                for (std::int64_t i = 0; i < graph.n; ++i)
                    for (std::int64_t c = 0; c < w; ++c) {
                        drawn = drawn * 6364136223846793005U + 1442695040888963407U;
                        finer.at(c / width)[i * width + c % width] =
                            static_cast<float>(static_cast<std::int32_t>(drawn >> 32U)) * 0x1p-31f;
                    }
                for (int pass = 0; pass < passes_random; ++pass)
                    found = filtered(L, finer, found.back(), degree_coarse, n_threads, watch);
            } else {
                const std::vector<std::int32_t>& group = levels.group[l];
                detail::each_chunk(
                    graph.n, chunk, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
                        for (std::int64_t p = from; p < to; ++p) {
                            const auto i = static_cast<std::size_t>(order[static_cast<std::size_t>(p)]);
                            const auto g =
                                static_cast<std::size_t>(place[static_cast<std::size_t>(group[i])]);
                            const auto by =
                                static_cast<float>(L.root[static_cast<std::size_t>(p)] / before[g]);
                            for (std::int64_t b = 0; b < blocks; ++b)
                                for (std::int64_t c = 0; c < width; ++c)
                                    finer.at(b)[p * width + c] =
                                        by * V.at(b)[static_cast<std::int64_t>(g) * width + c];
                        }
                    });
                for (int pass = 0; pass < (l ? passes_coarse : graph.n <= few_rows ? 2 : 1); ++pass)
                    found =
                        filtered(L, finer, found.back(), l ? degree_coarse : degree_fine, n_threads, watch);
            }
            V = std::move(finer);
            if (l == 0) {
                for (std::int64_t p = 0; p < graph.n; ++p)
                    for (std::int64_t c = 0; c < k; ++c)
                        Y[order[static_cast<std::size_t>(p)] * k + c] =
                            V.at(c / width)[p * width + c % width];
                for (std::int64_t c = 0; c < k; ++c)
                    values[c] = found[static_cast<std::size_t>(c)];
            }
        }
        if (l == 0) {
            const double total = std::sqrt(std::accumulate(degrees.begin(), degrees.end(), 0.0));
            for (std::int64_t i = 0; i < graph.n; ++i)
                for (std::int64_t c = 0; c < k; ++c)
                    Y[i * k + c] *= total / std::sqrt(degrees[static_cast<std::size_t>(i)]);
            break;
        }
        before.resize(static_cast<std::size_t>(graph.n));
        place.resize(before.size());
        for (std::size_t p = 0; p < before.size(); ++p) {
            before[p] = std::sqrt(degrees[static_cast<std::size_t>(order[p])]);
            place[static_cast<std::size_t>(order[p])] = static_cast<std::int32_t>(p);
        }
    }
}

// The number of each row's connected component, from 0 by their first rows, and how many there are.
std::int32_t components(const Graph& graph, std::vector<std::int32_t>& part) {
    part.resize(static_cast<std::size_t>(graph.n));
    std::iota(part.begin(), part.end(), 0); // leads to the first row of the component
    const auto top = [&](std::int32_t i) {
        while (part[static_cast<std::size_t>(i)] != i)
            i = part[static_cast<std::size_t>(i)] =
                part[static_cast<std::size_t>(part[static_cast<std::size_t>(i)])];
        return i;
    };
    for (std::int64_t i = 0; i < graph.n; ++i)
        for (std::int64_t e = graph.starts[i]; e < graph.starts[i + 1]; ++e)
            if (graph.columns[e] < i && graph.values[e] > 0) {
                const std::int32_t a = top(static_cast<std::int32_t>(i)), b = top(graph.columns[e]);
                part[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
            }
    std::int32_t count = 0;
    for (std::int64_t i = 0; i < graph.n; ++i) {
        std::int32_t& own = part[static_cast<std::size_t>(i)];
        own = own == i ? count++ : part[static_cast<std::size_t>(own)]; // the first row comes first
    }
    return count;
}

// Entries of largest size are positive: the first of those that tie but for rounding.
void set_signs(double* Y, std::int64_t n, std::int64_t k) {
    for (std::int64_t c = 0; c < k; ++c) {
        double most = 0;
        for (std::int64_t i = 0; i < n; ++i)
            most = std::max(most, std::fabs(Y[i * k + c]));
        std::int64_t first = 0;
        while (std::fabs(Y[first * k + c]) < most * (1 - 1e-6))
            ++first;
        if (Y[first * k + c] < 0)
            for (std::int64_t i = 0; i < n; ++i)
                Y[i * k + c] = -Y[i * k + c];
    }
}

} // namespace

Smoothest smoothest(const std::int64_t* starts, const std::int32_t* columns, const float* values,
                    std::int64_t n, std::int64_t k, int n_threads, Watch& watch) {
    const Graph graph{starts, columns, values, n};
    Smoothest out;
    const std::int32_t count = components(graph, out.part);
    out.positions.resize(static_cast<std::size_t>(n * k));
    out.values.resize(static_cast<std::size_t>(count * k));
    if (count == 1) {
        if (n > 1)
            coordinates(graph, k, out.values.data(), out.positions.data(), n_threads, watch);
        set_signs(out.positions.data(), n, k);
        return out;
    }
    std::vector<std::int64_t> first(static_cast<std::size_t>(count) + 1, 0);
    for (const std::int32_t p : out.part)
        ++first[static_cast<std::size_t>(p) + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::int32_t> rows(out.part.size()), place(rows.size());
    {
        std::vector<std::int64_t> next(first.begin(), first.end() - 1);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto p = static_cast<std::size_t>(out.part[i]);
            place[i] = static_cast<std::int32_t>(next[p] - first[p]);
            rows[static_cast<std::size_t>(next[p]++)] = static_cast<std::int32_t>(i);
        }
    }
    const auto size = [&](std::int64_t c) {
        return first[static_cast<std::size_t>(c) + 1] - first[static_cast<std::size_t>(c)];
    };
    const auto solve = [&](std::int64_t c, int threads, Watch& own) {
        const std::int64_t m = size(c);
        if (m == 1)
            return;
        const std::int32_t* of = rows.data() + first[static_cast<std::size_t>(c)];
        OwnGraph part;
        for (std::int64_t i = 0; i < m; ++i)
            part.starts.push_back(part.starts.back() + starts[of[i] + 1] - starts[of[i]]);
        part.columns = detail::Aligned<std::int32_t>(part.starts.back());
        part.values = detail::Aligned<float>(part.starts.back());
        detail::each_chunk(m, chunk, threads, own, [&](std::int64_t, std::int64_t from, std::int64_t to) {
            for (std::int64_t i = from; i < to; ++i) {
                std::int64_t at = part.starts[static_cast<std::size_t>(i)];
                for (std::int64_t e = starts[of[i]]; e < starts[of[i] + 1]; ++e, ++at) {
                    const bool joins = values[e] > 0; // an edge of weight 0 may lead elsewhere
                    part.columns[at] =
                        joins ? place[static_cast<std::size_t>(columns[e])] : static_cast<std::int32_t>(i);
                    part.values[at] = joins ? values[e] : 0;
                }
            }
        });
        Doubles Y(static_cast<std::size_t>(m * k));
        coordinates(part.view(), k, out.values.data() + c * k, Y.data(), threads, own);
        set_signs(Y.data(), m, k);
        for (std::int64_t i = 0; i < m; ++i)
            std::copy_n(Y.data() + i * k, k, out.positions.data() + of[i] * k);
    };
    std::vector<std::int64_t> small;
    for (std::int64_t c = 0; c < count; ++c)
        if (size(c) <= alone)
            small.push_back(c);
        else
            solve(c, n_threads, watch);
    std::stable_sort(small.begin(), small.end(),
                     [&](std::int64_t a, std::int64_t b) { return size(a) > size(b); });
    detail::each_piece(static_cast<std::int64_t>(small.size()), n_threads, watch, [&](std::int64_t i) {
        Watch own;
        solve(small[static_cast<std::size_t>(i)], 1, own);
    });
    return out;
}

} // namespace lowdim
