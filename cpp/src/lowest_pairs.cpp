#include "lowest_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace lowdim::detail {
namespace {

using Doubles = std::vector<double>;
constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr int steps = 4;      // of inverse iteration
constexpr double near = 1e-3; // eigenvalues that close, relative to all, need vectors made orthogonal

// A = Q T Qᵀ: the diagonal of T, the entries beside it, and the reflections that make Q, vector k in row k of
// A from its entry k + 1 on.
void tridiagonal(double* A, std::int64_t n, Doubles& diagonal, Doubles& beside, Doubles& factors) {
    Doubles v(static_cast<std::size_t>(n)), w(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k + 2 < n; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const std::int64_t m = n - k - 1;
        double rest = 0;
        for (std::int64_t i = 0; i < m; ++i)
            v[static_cast<std::size_t>(i)] = A[k * n + k + 1 + i];
        for (std::int64_t i = 1; i < m; ++i)
            rest += v[static_cast<std::size_t>(i)] * v[static_cast<std::size_t>(i)];
        const double first = v[0];
        diagonal[at] = A[k * n + k];
        beside[at] = first;
        if (rest == 0)
            continue;
        beside[at] = -std::copysign(std::sqrt(first * first + rest), first);
        v[0] = first - beside[at];
        const double factor = factors[at] = 2 / (v[0] * v[0] + rest);
        std::fill(w.begin(), w.end(), 0.0);
        for (std::int64_t i = 0; i < m; ++i) {
            const double x = v[static_cast<std::size_t>(i)];
            const double* row = A + (k + 1 + i) * n + k + 1;
            for (std::int64_t j = 0; j < m; ++j)
                w[static_cast<std::size_t>(j)] += x * row[j];
        }
        double along = 0;
        for (std::int64_t i = 0; i < m; ++i)
            along += (w[static_cast<std::size_t>(i)] *= factor) * v[static_cast<std::size_t>(i)];
        for (std::int64_t i = 0; i < m; ++i)
            w[static_cast<std::size_t>(i)] -= factor / 2 * along * v[static_cast<std::size_t>(i)];
        for (std::int64_t i = 0; i < m; ++i) {
            const double a = v[static_cast<std::size_t>(i)], b = w[static_cast<std::size_t>(i)];
            double* row = A + (k + 1 + i) * n + k + 1;
            for (std::int64_t j = 0; j < m; ++j)
                row[j] -= a * w[static_cast<std::size_t>(j)] + b * v[static_cast<std::size_t>(j)];
        }
        std::copy_n(v.data(), m, A + k * n + k + 1);
    }
    for (std::int64_t k = std::max<std::int64_t>(0, n - 2); k < n; ++k) {
        diagonal[static_cast<std::size_t>(k)] = A[k * n + k];
        if (k + 1 < n)
            beside[static_cast<std::size_t>(k)] = A[k * n + k + 1];
    }
}

// Number of eigenvalues of T below x.
std::int64_t below(const Doubles& diagonal, const Doubles& beside, double x, double least) {
    std::int64_t count = 0;
    double q = 1;
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
        q = diagonal[i] - x - (i ? beside[i - 1] * beside[i - 1] / q : 0);
        if (std::fabs(q) < least)
            q = -least;
        count += q < 0;
    }
    return count;
}

// T − x I = P L U by rows that change places, for one eigenvector after another.
class Shifted {
public:
    Shifted(const Doubles& diagonal, const Doubles& beside, double x, double least)
        : main_(diagonal), upper_(beside), second_(diagonal.size()), factor_(diagonal.size()),
          changed_(diagonal.size()) {
        const std::size_t n = main_.size();
        for (double& value : main_)
            value -= x;
        for (std::size_t i = 0; i + 1 < n; ++i) {
            double low = beside[i];
            if (std::fabs(low) > std::fabs(main_[i])) {
                changed_[i] = true;
                std::swap(main_[i], low);
                std::swap(upper_[i], main_[i + 1]);
                if (i + 2 < n)
                    std::swap(second_[i], upper_[i + 1]);
            }
            if (std::fabs(main_[i]) < least)
                main_[i] = least;
            factor_[i] = low / main_[i];
            main_[i + 1] -= factor_[i] * upper_[i];
            if (i + 2 < n)
                upper_[i + 1] -= factor_[i] * second_[i];
        }
        if (std::fabs(main_[n - 1]) < least)
            main_[n - 1] = least;
    }
    void solve(double* y) const {
        const std::size_t n = main_.size();
        for (std::size_t i = 0; i + 1 < n; ++i) {
            if (changed_[i])
                std::swap(y[i], y[i + 1]);
            y[i + 1] -= factor_[i] * y[i];
        }
        for (std::size_t i = n; i-- > 0;) {
            if (i + 1 < n)
                y[i] -= upper_[i] * y[i + 1];
            if (i + 2 < n)
                y[i] -= second_[i] * y[i + 2];
            y[i] /= main_[i];
        }
    }

private:
    Doubles main_, upper_, second_, factor_;
    std::vector<bool> changed_;
};

void normalise(double* y, std::int64_t n) {
    double most = 0, square = 0;
    for (std::int64_t i = 0; i < n; ++i)
        most = std::max(most, std::fabs(y[i]));
    for (std::int64_t i = 0; i < n; ++i) {
        y[i] /= most;
        square += y[i] * y[i];
    }
    for (std::int64_t i = 0; i < n; ++i)
        y[i] /= std::sqrt(square);
}

} // namespace

void lowest_pairs(double* A, std::int64_t n, std::int64_t count, double* values, double* vectors) {
    const auto size = static_cast<std::size_t>(n);
    Doubles diagonal(size), beside(size), factors(size);
    tridiagonal(A, n, diagonal, beside, factors);
    double low = std::numeric_limits<double>::infinity(), high = -low; // by Gershgorin
    for (std::size_t i = 0; i < size; ++i) {
        const double reach = (i ? std::fabs(beside[i - 1]) : 0) + std::fabs(beside[i]);
        low = std::min(low, diagonal[i] - reach);
        high = std::max(high, diagonal[i] + reach);
    }
    const double whole = std::max({std::fabs(low), std::fabs(high), std::numeric_limits<double>::min()});
    const double least = eps * whole;
    std::uint64_t drawn = 0;
    for (std::int64_t c = 0; c < count; ++c) {
        double a = c ? values[c - 1] - 2 * least : low - least, b = high + least;
        while (b - a > 2 * eps * (std::fabs(a) + std::fabs(b)) + least) {
            const double middle = a + (b - a) / 2;
            if (below(diagonal, beside, middle, least) > c)
                b = middle;
            else
                a = middle;
        }
        values[c] = a + (b - a) / 2;
        // Equal values get shifts that differ, and starts that differ: vectors of their own.
        const Shifted shifted(diagonal, beside, values[c] + 4 * least * static_cast<double>(c % 8), least);
        double* y = vectors + c * n;
        for (std::int64_t i = 0; i < n; ++i) {
            drawn = drawn * 6364136223846793005U + 1442695040888963407U;
            y[i] = 0.5 + static_cast<double>(drawn >> 33U) * 0x1p-31;
        }
        for (int step = 0; step < steps; ++step) {
            normalise(y, n);
            shifted.solve(y);
            normalise(y, n);
            for (int again = 0; again < 2; ++again)
                for (std::int64_t earlier = 0; earlier < c; ++earlier) {
                    if (values[c] - values[earlier] > near * whole)
                        continue;
                    const double* other = vectors + earlier * n;
                    double along = 0;
                    for (std::int64_t i = 0; i < n; ++i)
                        along += y[i] * other[i];
                    for (std::int64_t i = 0; i < n; ++i)
                        y[i] -= along * other[i];
                }
        }
        normalise(y, n);
    }
    for (std::int64_t c = 0; c < count; ++c)
        for (std::int64_t k = n - 3; k >= 0; --k) {
            double *y = vectors + c * n + k + 1, along = 0;
            const double* v = A + k * n + k + 1;
            for (std::int64_t i = 0; i < n - k - 1; ++i)
                along += v[i] * y[i];
            along *= factors[static_cast<std::size_t>(k)];
            for (std::int64_t i = 0; i < n - k - 1; ++i)
                y[i] -= along * v[i];
        }
}

} // namespace lowdim::detail
