// Distances by tiles. A block of rows is stored feature by feature, so that lanes are rows and vectors are
// full even with two features; a few other rows are compared with it at a time, out of registers.
#include <lowdim/distances.hpp>

#include "chunks.hpp"
#include "instructions.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace lowdim {
namespace {

constexpr int few = 4;            // rows compared with a block at a time
constexpr int block = 64;         // rows packed side by side
constexpr std::int64_t task = 64; // rows of Q whose sums one thread makes; a multiple of few

struct Kernels {
    void (*tile)(const double*, const double*, std::int64_t, bool, double*);
    double (*total)(const double*, int, int);
};

#define LOWDIM_KERNEL "distances.inl"
#include "each_isa.inl"

// Rows from … from + count − 1 of X feature by feature, `wide` side by side; entries without a row are 0.
template <int wide, class T>
void pack(const RowMajor<const T>& X, std::int64_t from, std::int64_t count, double* out) {
    constexpr int line = wide < 8 ? wide : 8; // columns written together, a line of the cache
    if (count < wide)
        std::fill(out, out + X.cols * wide, 0.0);
    std::int64_t c = 0;
    for (; c + line <= count; c += line) {
        const T* x = X.data + (from + c) * X.stride;
        for (std::int64_t s = 0; s < X.cols; ++s)
            for (int l = 0; l < line; ++l)
                out[s * wide + c + l] = static_cast<double>(x[l * X.stride + s]);
    }
    for (; c < count; ++c)
        for (std::int64_t s = 0; s < X.cols; ++s)
            out[s * wide + c] = static_cast<double>(X.data[(from + c) * X.stride + s]);
}

// The same of many rows, `few` after `few`.
template <class T>
std::vector<double> pack_few(const RowMajor<const T>& Q, std::int64_t from, std::int64_t count) {
    std::vector<double> out(static_cast<std::size_t>((count + few - 1) / few * few * Q.cols));
    for (std::int64_t i = 0; i < count; i += few)
        pack<few>(Q, from + i, std::min<std::int64_t>(few, count - i), out.data() + i * Q.cols);
    return out;
}

} // namespace

template <class T>
void euclidean(const RowMajor<const T>& Q, const RowMajor<const T>& X, bool root, const RowMajor<double>& D,
               int n_threads, Watch& watch) {
    const Kernels kernels = LOWDIM_PICK(kernels);
    const std::int64_t d = X.cols;
    const std::vector<double> asking = pack_few(Q, 0, Q.rows);
    detail::Workspaces<std::vector<double>> workspaces(n_threads);
    detail::share((X.rows + block - 1) / block, X.rows, n_threads, watch, [&](std::int64_t b, int place) {
        double* packed = workspaces.at(place, static_cast<std::size_t>(block * d)).data();
        const std::int64_t from = b * block, count = std::min<std::int64_t>(block, X.rows - from);
        pack<block>(X, from, count, packed);
        alignas(64) double found[few * block];
        for (std::int64_t i = 0; i < Q.rows; i += few) {
            kernels.tile(asking.data() + i * d, packed, d, root, found);
            for (std::int64_t r = 0; r < std::min<std::int64_t>(few, Q.rows - i); ++r)
                std::memcpy(D.data + (i + r) * D.stride + from, found + r * block,
                            static_cast<std::size_t>(count) * sizeof(double));
        }
    });
}

template <class T>
void class_distances(const RowMajor<const T>& Q, const RowMajor<const T>& X, const std::int64_t* starts,
                     std::int64_t classes, bool root, double* out, int n_threads, Watch& watch) {
    const Kernels kernels = LOWDIM_PICK(kernels);
    const std::int64_t d = X.cols;
    std::fill(out, out + Q.rows * classes, 0.0);
    detail::Workspaces<std::vector<double>> workspaces(n_threads);
    detail::share((Q.rows + task - 1) / task, Q.rows, n_threads, watch, [&](std::int64_t t, int place) {
        double* packed = workspaces.at(place, static_cast<std::size_t>(block * d)).data();
        const std::int64_t first = t * task, count = std::min(task, Q.rows - first);
        const std::vector<double> asking = pack_few(Q, first, count);
        alignas(64) double found[few * block];
        std::int64_t c = 0; // class of the first row of the block
        for (std::int64_t from = 0; from < X.rows && !watch.stopped(); from += block) {
            const std::int64_t to = std::min<std::int64_t>(from + block, X.rows);
            pack<block>(X, from, to - from, packed);
            while (starts[c + 1] <= from)
                ++c;
            for (std::int64_t i = 0; i < count; i += few) {
                kernels.tile(asking.data() + i * d, packed, d, root, found);
                for (std::int64_t r = 0; r < std::min<std::int64_t>(few, count - i); ++r)
                    for (std::int64_t e = c; e < classes && starts[e] < to; ++e)
                        out[(first + i + r) * classes + e] += kernels.total(
                            found + r * block, static_cast<int>(std::max(starts[e] - from, std::int64_t{0})),
                            static_cast<int>(std::min(starts[e + 1], to) - from));
            }
            if (place == 0)
                watch.poll();
        }
    });
}

template void euclidean(const RowMajor<const float>&, const RowMajor<const float>&, bool,
                        const RowMajor<double>&, int, Watch&);
template void euclidean(const RowMajor<const double>&, const RowMajor<const double>&, bool,
                        const RowMajor<double>&, int, Watch&);
template void class_distances(const RowMajor<const float>&, const RowMajor<const float>&, const std::int64_t*,
                              std::int64_t, bool, double*, int, Watch&);
template void class_distances(const RowMajor<const double>&, const RowMajor<const double>&,
                              const std::int64_t*, std::int64_t, bool, double*, int, Watch&);

} // namespace lowdim
