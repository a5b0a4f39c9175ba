#include <lowdim/columns.hpp>

#include "chunks.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lowdim {
namespace {

constexpr std::int64_t parts = 64; // of the rows, each with sums of its own

// Calls visit(i) for the rows of a part.
template <class Visit> void each_row(std::int64_t n, std::int64_t part, const Visit& visit) {
    for (std::int64_t i = n * part / parts; i < n * (part + 1) / parts; ++i)
        visit(i);
}

// The sum of as many vectors of a length, which stand below each other, in the first of them.
void add_up(std::vector<double>& vectors, std::int64_t length) {
    for (std::int64_t part = 1; part < parts; ++part)
        for (std::int64_t j = 0; j < length; ++j)
            vectors[static_cast<std::size_t>(j)] += vectors[static_cast<std::size_t>(part * length + j)];
}

} // namespace

template <class T>
void column_sums(const RowMajor<const T>& X, const double* shift, const double* weights, double* sums,
                 double* squares, int n_threads, Watch& watch) {
    const std::int64_t d = X.cols;
    std::vector<double> each(static_cast<std::size_t>(parts * 2 * d), 0.0);
    detail::each_piece(parts, n_threads, watch, [&](std::int64_t part) {
        double *const sum = each.data() + part * 2 * d, *const square = sum + d;
        each_row(X.rows, part, [&](std::int64_t i) {
            const T* x = X.data + i * X.stride;
            const double w = weights[i];
            for (std::int64_t j = 0; j < d; ++j) {
                const double step = static_cast<double>(x[j]) - shift[j];
                sum[j] += w * step;
                square[j] += w * step * step;
            }
        });
    });
    add_up(each, 2 * d);
    std::copy_n(each.data(), d, sums);
    std::copy_n(each.data() + d, d, squares);
}

template <class T, class U>
void centre_columns(const RowMajor<const T>& X, const RowMajor<U>& out, int n_threads, Watch& watch) {
    const std::int64_t d = X.cols;
    std::vector<double> sums(static_cast<std::size_t>(parts * d), 0.0);
    const auto add = [&](std::int64_t part, int) {
        double* const sum = sums.data() + part * d;
        each_row(X.rows, part, [&](std::int64_t i) {
            for (std::int64_t j = 0; j < d; ++j)
                sum[j] += static_cast<double>(X.data[i * X.stride + j]);
        });
    };
    const auto divide = [&](std::int64_t, int) {
        add_up(sums, d);
        for (std::int64_t j = 0; j < d; ++j)
            sums[static_cast<std::size_t>(j)] /= static_cast<double>(X.rows);
    };
    const auto subtract = [&](std::int64_t part, int) {
        const double* const mean = sums.data();
        each_row(X.rows, part, [&](std::int64_t i) {
            const T* x = X.data + i * X.stride;
            U* y = out.data + i * out.stride;
            for (std::int64_t j = 0; j < d; ++j)
                y[j] = static_cast<U>(static_cast<double>(x[j]) - mean[j]);
        });
    };
    detail::each_phase(n_threads, watch, detail::Phase{parts, add}, detail::Phase{std::int64_t{1}, divide},
                       detail::Phase{parts, subtract});
}

template void column_sums(const RowMajor<const float>&, const double*, const double*, double*, double*, int,
                          Watch&);
template void column_sums(const RowMajor<const double>&, const double*, const double*, double*, double*, int,
                          Watch&);
template void centre_columns(const RowMajor<const float>&, const RowMajor<float>&, int, Watch&);
template void centre_columns(const RowMajor<const float>&, const RowMajor<double>&, int, Watch&);
template void centre_columns(const RowMajor<const double>&, const RowMajor<float>&, int, Watch&);
template void centre_columns(const RowMajor<const double>&, const RowMajor<double>&, int, Watch&);

} // namespace lowdim
