// A table: its principal axes, groups and neighbours.
#include "engine.hpp"

#include <lowdim/nearest.hpp>
#include <lowdim/scatter.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace lowdim::wasm {
namespace {

constexpr double most_value = 1e18;   // whose square is finite in float32, and so are sums of them
constexpr double most_bytes = 3.5e9;  // of the 4 GB that addresses of 32 bits reach
constexpr double no_variance = 1e-12; // of the largest

// So that the largest entry of an axis is positive.
void sign(double* axis, std::int64_t d) {
    const auto largest =
        *std::max_element(axis, axis + d, [](double a, double b) { return std::fabs(a) < std::fabs(b); });
    if (largest < 0)
        std::transform(axis, axis + d, axis, [](double x) { return -x; });
}

} // namespace

void demand_room(double bytes) {
    if (bytes > most_bytes)
        throw Refusal{
            "This needs " + std::to_string(static_cast<int>(bytes / 1e9) + 1) +
            " GB of memory; a page has 4 at most. Use fewer rows or columns, a lower perplexity or fewer "
            "neighbours, or lowdim in Python."};
}

Watch watching(const Tell& tell, Stage stage, std::int64_t total) {
    return Watch(
        [&tell, stage, total](std::int64_t done) { return !tell(stage, done, total, 0.0, nullptr); });
}

void Table::prepare(int n_threads, Watch& watch) {
    mean_.assign(static_cast<std::size_t>(d), 0.0);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < d; ++j)
            mean_[static_cast<std::size_t>(j)] += X[i * d + j];
    for (double& mean : mean_)
        mean /= static_cast<double>(n);
    set_scale(X.data(), n);
    if (!(most_ < most_value))
        throw Refusal{"Every value must be a finite number below 1e18; some are not. Correct them, or leave "
                      "their columns out."};
    const std::int64_t side = std::min(n, d);
    if (side > Grouping::widest)
        throw Refusal{"A page computes with up to 1,500 columns; this table has " + std::to_string(d) +
                      ". Reduce it first, as by: lowdim reduce TABLE --method pca --components 50."};
    variances_.resize(static_cast<std::size_t>(side));
    if (d <= n) {
        vectors_.resize(static_cast<std::size_t>(d * d));
        std::vector<double> sums(static_cast<std::size_t>(d));
        ScatterTerms terms;
        terms.shift = mean_.data();
        scatter<float>({X.data(), n, d, static_cast<std::ptrdiff_t>(d), 1}, terms, sums.data(),
                       vectors_.data(), n_threads, watch);
        eigenpairs(vectors_.data(), d, variances_.data());
    } else { // the products of the rows have the same variances
        std::vector<double> G(static_cast<std::size_t>(n * n));
        std::vector<double> a(static_cast<std::size_t>(d));
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t c = 0; c < d; ++c)
                a[static_cast<std::size_t>(c)] = X[i * d + c] - mean_[static_cast<std::size_t>(c)];
            for (std::int64_t j = 0; j <= i; ++j) {
                double sum = 0;
                for (std::int64_t c = 0; c < d; ++c)
                    sum +=
                        a[static_cast<std::size_t>(c)] * (X[j * d + c] - mean_[static_cast<std::size_t>(c)]);
                G[static_cast<std::size_t>(i * n + j)] = G[static_cast<std::size_t>(j * n + i)] = sum;
            }
        }
        eigenpairs(G.data(), n, variances_.data());
        variances_.resize(static_cast<std::size_t>(std::max<std::int64_t>(1, n - 1)));
        vectors_.assign(static_cast<std::size_t>(axes() * d), 0.0);
        for (std::int64_t k = 0; k < axes(); ++k) {
            const double length = std::sqrt(std::max(variances_[static_cast<std::size_t>(k)], 1e-300));
            for (std::int64_t i = 0; i < n; ++i) {
                const double weight = G[static_cast<std::size_t>(k * n + i)] / length;
                for (std::int64_t c = 0; c < d; ++c)
                    vectors_[static_cast<std::size_t>(k * d + c)] +=
                        weight * (X[i * d + c] - mean_[static_cast<std::size_t>(c)]);
            }
        }
    }
    for (std::int64_t k = 0; k < axes(); ++k) {
        double& variance = variances_[static_cast<std::size_t>(k)];
        variance = std::max(0.0, variance);
        if (variance <= no_variance * variances_[0] && d > n)
            std::fill_n(vectors_.begin() + k * d, d, 0.0);
        sign(vectors_.data() + k * d, d);
        variance /= static_cast<double>(std::max<std::int64_t>(1, n - 1));
    }
    total_ = std::accumulate(variances_.begin(), variances_.end(), 0.0);
}

void Table::scores(const float* rows, std::int64_t count, const std::vector<double>& axes,
                   double* out) const {
    const std::int64_t k = static_cast<std::int64_t>(axes.size()) / d;
    std::vector<double> row(static_cast<std::size_t>(d));
    for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t c = 0; c < d; ++c)
            row[static_cast<std::size_t>(c)] = rows[i * d + c] - mean_[static_cast<std::size_t>(c)];
        for (std::int64_t j = 0; j < k; ++j)
            out[i * k + j] = std::inner_product(row.begin(), row.end(), axes.begin() + j * d, 0.0);
    }
}

void Table::scores(const float* rows, std::int64_t count, std::int64_t k, float* out) const {
    const std::int64_t there = std::min(k, axes());
    const std::vector<double> own(vectors_.begin(), vectors_.begin() + there * d);
    std::vector<double> found(static_cast<std::size_t>(count * there));
    scores(rows, count, own, found.data());
    for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t j = 0; j < k; ++j)
            out[i * k + j] =
                j < there ? static_cast<float>(found[static_cast<std::size_t>(i * there + j)]) : 0;
}

void Table::set_scale(const float* rows, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t j = 0; j < d; ++j) {
            const double off = std::fabs(rows[i * d + j] - mean_[static_cast<std::size_t>(j)]);
            most_ = off <= most_ ? most_ : off; // NaN is kept
        }
    scale_ = most_ > 0 ? std::exp2(-std::ceil(std::log2(most_ * std::sqrt(static_cast<double>(d))))) : 1;
}

bool Table::plain(std::int64_t m) const {
    return static_cast<double>(n) * static_cast<double>(m) * static_cast<double>(d) < Grouping::plain;
}

// Rows less the mean, along the principal axes where that saves time, scaled and sorted into groups.
Table::Rows Table::grouped(const float* rows, std::int64_t count, bool plain, int n_threads, Watch& watch) {
    const bool turned = !plain && d <= n && d >= 2 * Grouping::least;
    Rows out{
        detail::Aligned<float>(count * d), std::vector<std::int32_t>(static_cast<std::size_t>(count)), {}};
    constexpr std::int64_t wide = 64;
    std::vector<float> axes(static_cast<std::size_t>(turned ? d * (d + wide) : 0));
    if (turned)
        for (std::int64_t k = 0; k < d; ++k)
            for (std::int64_t j = 0; j < d; ++j)
                axes[static_cast<std::size_t>(j * d + k)] =
                    static_cast<float>(vectors_[static_cast<std::size_t>(k * d + j)] * scale_);
    std::vector<float> row(static_cast<std::size_t>(d));
    for (std::int64_t i = 0; i < count; ++i) {
        float* z = out.values.data() + i * d;
        for (std::int64_t j = 0; j < d; ++j)
            row[static_cast<std::size_t>(j)] =
                rows[i * d + j] - static_cast<float>(mean_[static_cast<std::size_t>(j)]);
        if (!turned) {
            for (std::int64_t j = 0; j < d; ++j)
                z[j] = row[static_cast<std::size_t>(j)] * static_cast<float>(scale_);
            continue;
        }
        std::fill_n(z, d, 0.0f);
        for (std::int64_t j = 0; j < d; ++j)
            if (const float x = row[static_cast<std::size_t>(j)]; x != 0) {
                const float* axis = axes.data() + j * d;
                for (std::int64_t k = 0; k < d; ++k)
                    z[k] += x * axis[k];
            }
    }
    const Dense<float> Z{out.values.data(), count, d, d, false};
    if (centres_.empty()) { // these are the rows themselves
        const std::int64_t groups = plain ? 1 : Grouping::count(count), few = std::min(d, Grouping::axes);
        centres_.assign(static_cast<std::size_t>(groups * d), 0.0f);
        if (!plain) {
            Random random(7);
            const auto order = random.permutation(count);
            const std::int64_t drawn = std::min(count, Grouping::each * groups);
            detail::Aligned<float> sample(drawn * few);
            for (std::int64_t i = 0; i < drawn; ++i)
                std::copy_n(Z.at(order[static_cast<std::size_t>(i)], 0), few, sample.data() + i * few);
            std::vector<float> found(static_cast<std::size_t>(groups * few));
            centres_of(&gemm, {sample.data(), drawn, few, few, false}, groups, found.data(), n_threads,
                       watch);
            for (std::int64_t g = 0; g < groups; ++g)
                std::copy_n(found.data() + g * few, few, centres_.data() + g * d);
        }
        stages_ = turned ? stages_of(variances_.data(), d) : std::vector<std::int64_t>{d};
    }
    const auto groups = static_cast<std::int64_t>(centres_.size()) / d;
    out.starts.resize(static_cast<std::size_t>(groups + 1));
    group(&gemm, Z, centres_.data(), groups, out.order.data(), out.starts.data(), n_threads, watch);
    return out;
}

Near Table::search(const float* Q, std::int64_t m, std::int64_t k, int n_threads, Watch& watch) {
    Near out{k, std::vector<std::int32_t>(static_cast<std::size_t>(m * k)),
             std::vector<float>(static_cast<std::size_t>(m * k))};
    const bool itself = Q == nullptr, simple = plain(m);
    centres_.clear();
    if (!itself)
        set_scale(Q, m);
    const Rows points = grouped(X.data(), n, simple, n_threads, watch);
    const Grouped<float> own{points.values.data(), X.data(), n, points.order.data(), points.starts.data()};
    const Rows others = itself ? Rows{} : grouped(Q, m, simple, n_threads, watch);
    const Grouped<float> asking{others.values.data(), Q, m, others.order.data(), others.starts.data()};
    const auto groups = static_cast<std::int64_t>(centres_.size()) / d;
    const Search<float> all{own,
                            itself ? own : asking,
                            d,
                            d,
                            centres_.data(),
                            groups,
                            stages_.data(),
                            static_cast<int>(stages_.size()),
                            scale_,
                            itself};
    nearest(all, k, out.indices.data(), out.distances.data(), n_threads, watch);
    return out;
}

const Near& Table::near(std::int64_t k, int n_threads, Watch& watch) {
    if (!near_ || near_->k < k) {
        demand_room(16.0 * static_cast<double>(n) * static_cast<double>(k) +
                    12.0 * static_cast<double>(n) * static_cast<double>(d));
        near_.reset();
        Near found = search(nullptr, n, k, n_threads, watch);
        if (watch.stopped())
            throw Refusal{"Stopped."};
        near_ = std::move(found);
    }
    return *near_;
}

Near Table::near_new(const float* Q, std::int64_t m, std::int64_t k, int n_threads, Watch& watch) {
    Near found = search(Q, m, k, n_threads, watch);
    if (watch.stopped())
        throw Refusal{"Stopped."};
    return found;
}

namespace {

std::uint64_t hash_of(const float* row, std::int64_t d) {
    std::uint64_t hash = 0;
    for (std::int64_t j = 0; j < d; ++j) {
        const float value = row[j] + 0.0f; // −0 equals 0
        std::uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 29U;
    }
    return hash;
}

} // namespace

void Table::index_rows() {
    if (!by_hash_.empty())
        return;
    hashes_.resize(static_cast<std::size_t>(n));
    by_hash_.resize(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)
        hashes_[static_cast<std::size_t>(i)] = hash_of(X.data() + i * d, d);
    std::iota(by_hash_.begin(), by_hash_.end(), 0);
    std::sort(by_hash_.begin(), by_hash_.end(), [&](std::int32_t a, std::int32_t b) {
        const auto x = hashes_[static_cast<std::size_t>(a)], y = hashes_[static_cast<std::size_t>(b)];
        return x != y ? x < y : a < b;
    });
}

std::int32_t Table::equal_to(const float* row) {
    index_rows();
    const std::uint64_t wanted = hash_of(row, d);
    auto at =
        std::lower_bound(by_hash_.begin(), by_hash_.end(), wanted, [&](std::int32_t a, std::uint64_t hash) {
            return hashes_[static_cast<std::size_t>(a)] < hash;
        });
    for (; at != by_hash_.end() && hashes_[static_cast<std::size_t>(*at)] == wanted; ++at)
        if (std::equal(row, row + d, X.data() + *at * d))
            return *at;
    return -1;
}

const std::vector<std::int32_t>& Table::first_equal() {
    if (first_.empty()) {
        first_.resize(static_cast<std::size_t>(n));
        for (std::int64_t i = 0; i < n; ++i)
            first_[static_cast<std::size_t>(i)] = equal_to(X.data() + i * d);
    }
    return first_;
}

} // namespace lowdim::wasm
