// k-means with few steps: its centres need not be good, since every group is searched unless its bound says
// that it is too far.
#include "chunks.hpp"

#include <lowdim/groups.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lowdim {
namespace {

constexpr double shares[] = {0.6, 0.8, 0.92}; // of the variance
constexpr std::int64_t chunk = 512;

// The nearest centre of each row.
std::vector<std::int64_t> nearest_centres(Gemm<float> gemm, const Dense<float>& Z, const Dense<float>& C,
                                          int n_threads, Watch& watch) {
    std::vector<float> halves(static_cast<std::size_t>(C.rows));
    for (std::int64_t j = 0; j < C.rows; ++j) {
        const float* c = C.at(j, 0);
        halves[static_cast<std::size_t>(j)] = std::inner_product(c, c + C.cols, c, 0.0f) / 2;
    }
    std::vector<std::int64_t> out(static_cast<std::size_t>(Z.rows), 0);
    if (C.rows > 1)
        assign(gemm, Z, C, halves.data(), out.data(), n_threads, watch);
    return out;
}

} // namespace

std::int64_t Grouping::count(std::int64_t n) {
    return static_cast<std::int64_t>(1.5 * std::sqrt(static_cast<double>(n)));
}

std::vector<std::int64_t> stages_of(const double* variances, std::int64_t d) {
    double total = 0, so_far = 0;
    for (std::int64_t j = 0; j < d; ++j)
        total += std::max(variances[j], 0.0);
    std::vector<std::int64_t> stages;
    if (total > 0 && std::isfinite(total)) {
        std::int64_t j = -1, last = 0;
        for (const double share : shares) {
            while (so_far < share * total && j + 1 < d)
                so_far += std::max(variances[++j], 0.0);
            const std::int64_t end = (j + 4) / 4 * 4;
            if (end >= last + Grouping::least && end <= d - Grouping::least)
                stages.push_back(last = end);
        }
    }
    stages.push_back(d);
    return stages;
}

void centres_of(Gemm<float> gemm, const Dense<float>& sample, std::int64_t count, float* centres,
                int n_threads, Watch& watch) {
    const std::int64_t k = sample.cols;
    for (std::int64_t j = 0; j < count; ++j)
        std::copy_n(sample.at(j, 0), k, centres + j * k);
    for (int step = 0; step < Grouping::steps && !watch.stopped(); ++step) {
        const auto nearest = nearest_centres(gemm, sample, {centres, count, k, k, false}, n_threads, watch);
        std::vector<double> sums(static_cast<std::size_t>(count * k));
        std::vector<std::int64_t> sizes(static_cast<std::size_t>(count));
        for (std::int64_t i = 0; i < sample.rows; ++i) {
            const std::int64_t own = nearest[static_cast<std::size_t>(i)];
            const float* row = sample.at(i, 0);
            double* sum = sums.data() + own * k;
            for (std::int64_t j = 0; j < k; ++j)
                sum[j] += row[j];
            ++sizes[static_cast<std::size_t>(own)];
        }
        for (std::int64_t j = 0; j < count; ++j)
            if (const auto size = sizes[static_cast<std::size_t>(j)]; size > 0)
                for (std::int64_t i = j * k; i < (j + 1) * k; ++i)
                    centres[i] =
                        static_cast<float>(sums[static_cast<std::size_t>(i)] / static_cast<double>(size));
    }
}

void group(Gemm<float> gemm, const Dense<float>& Z, const float* centres, std::int64_t groups,
           std::int32_t* order, std::int64_t* starts, int n_threads, Watch& watch) {
    const std::int64_t n = Z.rows, d = Z.cols, few = std::min(d, Grouping::axes);
    Dense<float> ahead = Z;
    ahead.cols = few;
    const Dense<float> C{const_cast<float*>(centres), groups, few, d, false};
    const auto nearest = nearest_centres(gemm, ahead, C, n_threads, watch);
    std::vector<float> apart(static_cast<std::size_t>(n));
    detail::each_chunk(n, chunk, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from; i < to; ++i) {
            const float *z = Z.at(i, 0), *c = centres + nearest[static_cast<std::size_t>(i)] * d;
            float sum = 0;
            for (std::int64_t j = 0; j < d; ++j)
                sum += (z[j] - c[j]) * (z[j] - c[j]);
            apart[static_cast<std::size_t>(i)] = sum;
        }
    });
    std::fill_n(starts, groups + 1, 0);
    for (const std::int64_t own : nearest)
        ++starts[own + 1];
    std::partial_sum(starts, starts + groups + 1, starts);
    std::vector<std::int64_t> next(starts, starts + groups);
    for (std::int64_t i = 0; i < n; ++i)
        order[next[static_cast<std::size_t>(nearest[static_cast<std::size_t>(i)])]++] =
            static_cast<std::int32_t>(i);
    detail::each_piece(groups, n_threads, watch, [&](std::int64_t g) {
        std::sort(order + starts[g], order + starts[g + 1], [&](std::int32_t a, std::int32_t b) {
            const float x = apart[static_cast<std::size_t>(a)], y = apart[static_cast<std::size_t>(b)];
            return x != y ? x < y : a < b;
        });
    });
}

} // namespace lowdim
