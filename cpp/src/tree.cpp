// Points in Morton order make every cell of the tree a range of them; cells are laid out depth first, each
// with the place of the next one that is not inside it, so that the walk needs no stack.
#include "tree.hpp"

#include "chunks.hpp"
#include "falloffs.hpp"
#include "morton.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace lowdim::detail {
namespace {

constexpr std::int64_t leaf = 8, chunk = 128;

template <int k> struct Cell {
    float centre[k]; // of mass
    float count;
    float reach; // squared distance from which the cell counts as one charge
    std::int32_t next, from, to;
};

template <int k> struct Tree {
    std::vector<Key> keys;
    std::vector<float> points; // in order
    std::vector<Cell<k>> cells;
    double angle;

    Tree(const float* Y, std::int64_t n, double opening) : angle(opening) {
        const Cube cube = cube_of(Y, n, k);
        keys = morton_order(Y, n, k, cube);
        points.resize(static_cast<std::size_t>(n * k));
        for (std::size_t i = 0; i < keys.size(); ++i)
            for (int d = 0; d < k; ++d)
                points[i * k + static_cast<std::size_t>(d)] =
                    Y[static_cast<std::int64_t>(keys[i].point) * k + d];
        cells.reserve(static_cast<std::size_t>(n));
        grow(0, static_cast<std::int32_t>(n), Cube::bits(k), cube.side);
    }

    // Adds the cell of the points from … to, whose codes agree above `level` groups of k bits.
    void grow(std::int32_t from, std::int32_t to, int level, double size) {
        const std::size_t place = cells.size();
        cells.emplace_back();
        Cell<k> cell{};
        double sums[k] = {};
        for (std::int32_t i = from; i < to; ++i)
            for (int d = 0; d < k; ++d)
                sums[d] += points[static_cast<std::size_t>(i) * k + static_cast<std::size_t>(d)];
        for (int d = 0; d < k; ++d)
            cell.centre[d] = static_cast<float>(sums[d] / (to - from));
        cell.count = static_cast<float>(to - from);
        // An angle of 0 opens every cell.
        cell.reach =
            angle > 0 ? static_cast<float>(size * size / (angle * angle)) : std::numeric_limits<float>::max();
        cell.from = from;
        cell.to = to;
        if (to - from > leaf && level == 0) {
            cell.reach =
                -1; // points that agree in all bits are one charge, or duplicates would cost their square
        } else if (to - from > leaf) {
            cell.from = -1; // not a leaf
            const int shift = (level - 1) * k;
            for (std::int32_t begin = from; begin < to;) {
                const std::uint64_t part = keys[static_cast<std::size_t>(begin)].code >> shift;
                const auto end =
                    std::partition_point(keys.begin() + begin, keys.begin() + to,
                                         [&](const Key& key) { return key.code >> shift <= part; });
                const auto stop = static_cast<std::int32_t>(end - keys.begin());
                grow(begin, stop, level - 1, size / 2);
                begin = stop;
            }
        }
        cell.next = static_cast<std::int32_t>(cells.size());
        cells[place] = cell;
    }

    // Adds the force at y to `force` and returns φ(y).
    template <class F> double walk(const F& f, const float* y, float* force) const {
        double phi = 0;
        float sums[k] = {};
        const auto end = static_cast<std::int32_t>(cells.size());
        for (std::int32_t c = 0; c < end;) {
            const Cell<k>& cell = cells[static_cast<std::size_t>(c)];
            float step[k], s = 0;
            for (int d = 0; d < k; ++d) {
                step[d] = y[d] - cell.centre[d];
                s += step[d] * step[d];
            }
            if (s > cell.reach) {
                const float value = cell.count * f.value(s), push = value * f.pull(s);
                phi += value;
                for (int d = 0; d < k; ++d)
                    sums[d] += push * step[d];
                c = cell.next;
            } else if (cell.from >= 0) {
                for (std::int32_t i = cell.from; i < cell.to; ++i) {
                    s = 0;
                    for (int d = 0; d < k; ++d) {
                        step[d] =
                            y[d] - points[static_cast<std::size_t>(i) * k + static_cast<std::size_t>(d)];
                        s += step[d] * step[d];
                    }
                    const float value = f.value(s), push = value * f.pull(s);
                    phi += value;
                    for (int d = 0; d < k; ++d)
                        sums[d] += push * step[d];
                }
                c = cell.next;
            } else {
                ++c;
            }
        }
        for (int d = 0; d < k; ++d)
            force[d] = sums[d];
        return phi;
    }
};

template <int k>
double repel(const float* Y, std::int64_t n, const Falloff& falloff, double angle, float* forces, float* phi,
             int n_threads, Watch& watch) {
    const Tree<k> tree(Y, n, angle);
    std::vector<double> sums(static_cast<std::size_t>((n + chunk - 1) / chunk), 0.0);
    with_falloff<float>(falloff, [&](const auto& f) {
        each_chunk(n, chunk, n_threads, watch, [&](std::int64_t c, std::int64_t from, std::int64_t to) {
            double sum = 0;
            for (std::int64_t i = from; i < to; ++i) {
                const std::int64_t point = tree.keys[static_cast<std::size_t>(i)].point;
                const double value = tree.walk(f, tree.points.data() + i * k, forces + point * k);
                if (phi)
                    phi[point] = static_cast<float>(value);
                sum += value - 1; // a point does not repel itself
            }
            sums[static_cast<std::size_t>(c)] = sum;
        });
    });
    double Z = 0;
    for (double sum : sums)
        Z += sum;
    return Z;
}

} // namespace

double repel_by_tree(const float* Y, std::int64_t n, int k, const Falloff& falloff, double angle,
                     float* forces, float* phi, int n_threads, Watch& watch) {
    switch (k) {
    case 1:
        return repel<1>(Y, n, falloff, angle, forces, phi, n_threads, watch);
    case 2:
        return repel<2>(Y, n, falloff, angle, forces, phi, n_threads, watch);
    default:
        return repel<3>(Y, n, falloff, angle, forces, phi, n_threads, watch);
    }
}

} // namespace lowdim::detail
