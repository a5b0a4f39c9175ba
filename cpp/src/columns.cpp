#include <lowdim/columns.hpp>

#include "chunks.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lowdim {
namespace {

// The rows in parts, each with sums of its own; how many depends on the rows alone, and so do the bits.
class Parts {
public:
    explicit Parts(std::int64_t rows)
        : rows_(rows), count_(std::clamp<std::int64_t>(rows / fewest, 1, most)) {}
    [[nodiscard]] std::int64_t count() const { return count_; }

    // Calls visit(i) for the rows of a part.
    template <class Visit> void each_row(std::int64_t part, const Visit& visit) const {
        for (std::int64_t i = rows_ * part / count_; i < rows_ * (part + 1) / count_; ++i)
            visit(i);
    }

    // The sum of vectors of a length, one for each part below each other, in the first of them.
    void add_up(std::vector<double>& vectors, std::int64_t length) const {
        for (std::int64_t part = 1; part < count_; ++part)
            for (std::int64_t j = 0; j < length; ++j)
                vectors[static_cast<std::size_t>(j)] += vectors[static_cast<std::size_t>(part * length + j)];
    }

private:
    static constexpr std::int64_t most = 64, fewest = 64; // parts, and rows of one
    std::int64_t rows_, count_;
};

} // namespace

template <class T>
void column_sums(const RowMajor<const T>& X, const double* shift, const double* weights, double* sums,
                 double* squares, int n_threads, Watch& watch) {
    const std::int64_t d = X.cols;
    const Parts parts(X.rows);
    std::vector<double> each(static_cast<std::size_t>(parts.count() * 2 * d), 0.0);
    detail::each_piece(parts.count(), n_threads, watch, [&](std::int64_t part) {
        double *const sum = each.data() + part * 2 * d, *const square = sum + d;
        parts.each_row(part, [&](std::int64_t i) {
            const T* x = X.data + i * X.stride;
            const double w = weights[i];
            for (std::int64_t j = 0; j < d; ++j) {
                const double step = static_cast<double>(x[j]) - shift[j];
                sum[j] += w * step;
                square[j] += w * step * step;
            }
        });
    });
    parts.add_up(each, 2 * d);
    std::copy_n(each.data(), d, sums);
    std::copy_n(each.data() + d, d, squares);
}

template <class T, class U>
void centre_columns(const RowMajor<const T>& X, const RowMajor<U>& out, int n_threads, Watch& watch) {
    const std::int64_t d = X.cols;
    const Parts parts(X.rows);
    std::vector<double> sums(static_cast<std::size_t>(parts.count() * d), 0.0);
    const auto add = [&](std::int64_t part, int) {
        double* const sum = sums.data() + part * d;
        parts.each_row(part, [&](std::int64_t i) {
            for (std::int64_t j = 0; j < d; ++j)
                sum[j] += static_cast<double>(X.data[i * X.stride + j]);
        });
    };
    const auto divide = [&](std::int64_t, int) {
        parts.add_up(sums, d);
        for (std::int64_t j = 0; j < d; ++j)
            sums[static_cast<std::size_t>(j)] /= static_cast<double>(X.rows);
    };
    const auto subtract = [&](std::int64_t part, int) {
        const double* const mean = sums.data();
        parts.each_row(part, [&](std::int64_t i) {
            const T* x = X.data + i * X.stride;
            U* y = out.data + i * out.stride;
            for (std::int64_t j = 0; j < d; ++j)
                y[j] = static_cast<U>(static_cast<double>(x[j]) - mean[j]);
        });
    };
    detail::each_phase(n_threads, watch, detail::Phase{parts.count(), add},
                       detail::Phase{std::int64_t{1}, divide}, detail::Phase{parts.count(), subtract});
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
