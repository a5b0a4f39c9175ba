// The linear algebra that NumPy and LAPACK do for Python.
#include "engine.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace lowdim::wasm {

void gemm(char* /*turned*/, char* /*plain*/, int* m, int* n, int* depth, float* /*one*/, float* A,
          int* stride_a, float* B, int* stride_b, float* /*zero*/, float* out, int* stride) {
    constexpr int wide = 64; // products of a row at a time, which stay in the cache
    std::vector<float> packed;
    for (int j = 0; j < *m; j += wide) {
        const int some = std::min(wide, *m - j);
        packed.assign(static_cast<std::size_t>(*depth * wide), 0.0f);
        for (int c = 0; c < some; ++c)
            for (int k = 0; k < *depth; ++k)
                packed[static_cast<std::size_t>(k * wide + c)] =
                    A[static_cast<std::int64_t>(j + c) * *stride_a + k];
        for (int i = 0; i < *n; ++i) {
            float sums[wide] = {};
            const float* row = B + static_cast<std::int64_t>(i) * *stride_b;
            for (int k = 0; k < *depth; ++k) {
                const float x = row[k];
                const float* c = packed.data() + static_cast<std::size_t>(k * wide);
                for (int l = 0; l < wide; ++l)
                    sums[l] += x * c[l];
            }
            std::copy_n(sums, some, out + static_cast<std::int64_t>(i) * *stride + j);
        }
    }
}

namespace {

// A = Q T Qᵀ by Householder's reflections: T's diagonal and the entries beside it, and Qᵀ in A.
void tridiagonal(double* A, std::int64_t d, double* diagonal, double* beside) {
    std::vector<double> vectors(static_cast<std::size_t>(d * d)), w(static_cast<std::size_t>(d)),
        factors(static_cast<std::size_t>(d));
    for (std::int64_t k = 0; k + 2 < d; ++k) {
        double* v = vectors.data() + k * d; // from k + 1 on
        double rest = 0;
        for (std::int64_t i = k + 1; i < d; ++i)
            v[i] = A[i * d + k];
        for (std::int64_t i = k + 2; i < d; ++i)
            rest += v[i] * v[i];
        const double first = v[k + 1];
        if (rest == 0) {
            beside[k] = first;
            continue;
        }
        const double to = -std::copysign(std::sqrt(first * first + rest), first);
        v[k + 1] = first - to;
        beside[k] = to;
        const double factor = factors[static_cast<std::size_t>(k)] = 2 / (v[k + 1] * v[k + 1] + rest);
        double along = 0;
        for (std::int64_t i = k + 1; i < d; ++i) {
            double sum = 0;
            for (std::int64_t j = k + 1; j < d; ++j)
                sum += A[i * d + j] * v[j];
            w[static_cast<std::size_t>(i)] = factor * sum;
            along += w[static_cast<std::size_t>(i)] * v[i];
        }
        for (std::int64_t i = k + 1; i < d; ++i)
            w[static_cast<std::size_t>(i)] -= factor / 2 * along * v[i];
        for (std::int64_t i = k + 1; i < d; ++i) {
            const double a = v[i], b = w[static_cast<std::size_t>(i)];
            for (std::int64_t j = k + 1; j < d; ++j)
                A[i * d + j] -= a * w[static_cast<std::size_t>(j)] + b * v[j];
        }
    }
    if (d > 1)
        beside[d - 2] = A[(d - 1) * d + d - 2];
    for (std::int64_t i = 0; i < d; ++i)
        diagonal[i] = A[i * d + i];
    std::vector<double> Q(static_cast<std::size_t>(d * d));
    for (std::int64_t i = 0; i < d; ++i)
        Q[static_cast<std::size_t>(i * d + i)] = 1;
    for (std::int64_t k = d - 3; k >= 0; --k) {
        const double* v = vectors.data() + k * d;
        const double factor = factors[static_cast<std::size_t>(k)];
        if (factor == 0)
            continue;
        std::fill(w.begin(), w.end(), 0.0);
        for (std::int64_t i = k + 1; i < d; ++i)
            for (std::int64_t j = k + 1; j < d; ++j)
                w[static_cast<std::size_t>(j)] += v[i] * Q[static_cast<std::size_t>(i * d + j)];
        for (std::int64_t i = k + 1; i < d; ++i)
            for (std::int64_t j = k + 1; j < d; ++j)
                Q[static_cast<std::size_t>(i * d + j)] -= factor * v[i] * w[static_cast<std::size_t>(j)];
    }
    for (std::int64_t i = 0; i < d; ++i)
        for (std::int64_t j = 0; j < d; ++j)
            A[i * d + j] = Q[static_cast<std::size_t>(j * d + i)];
}

} // namespace

void eigenpairs(double* A, std::int64_t d, double* values) {
    std::vector<double> beside(static_cast<std::size_t>(d), 0.0), diagonal(static_cast<std::size_t>(d));
    tridiagonal(A, d, diagonal.data(), beside.data());
    // Implicit QL steps: each turns two neighbouring rows.
    double* t = diagonal.data();
    double* e = beside.data();
    for (std::int64_t low = 0; low < d; ++low)
        for (int step = 0; step < 60; ++step) {
            std::int64_t high = low;
            while (high + 1 < d && std::fabs(e[high]) > 1e-16 * (std::fabs(t[high]) + std::fabs(t[high + 1])))
                ++high;
            if (high == low)
                break;
            double g = (t[low + 1] - t[low]) / (2 * e[low]);
            g = t[high] - t[low] + e[low] / (g + std::copysign(std::hypot(g, 1.0), g));
            double s = 1, c = 1, p = 0;
            bool split = false;
            for (std::int64_t i = high - 1; i >= low; --i) {
                const double f = s * e[i], b = c * e[i], r = std::hypot(f, g);
                e[i + 1] = r;
                if (r == 0) {
                    t[i + 1] -= p;
                    e[high] = 0;
                    split = true;
                    break;
                }
                s = f / r;
                c = g / r;
                g = t[i + 1] - p;
                const double q = (t[i] - g) * s + 2 * c * b;
                p = s * q;
                t[i + 1] = g + p;
                g = c * q - b;
                double *upper = A + i * d, *lower = upper + d;
                for (std::int64_t k = 0; k < d; ++k) {
                    const double x = upper[k], y = lower[k];
                    lower[k] = s * x + c * y;
                    upper[k] = c * x - s * y;
                }
            }
            if (split)
                continue;
            t[low] -= p;
            e[low] = g;
            e[high] = 0;
        }
    std::vector<std::int64_t> order(static_cast<std::size_t>(d));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return t[a] > t[b]; });
    std::vector<double> sorted(static_cast<std::size_t>(d * d));
    for (std::int64_t j = 0; j < d; ++j) {
        const std::int64_t from = order[static_cast<std::size_t>(j)];
        values[j] = t[from];
        std::copy_n(A + from * d, d, sorted.data() + j * d);
    }
    std::copy(sorted.begin(), sorted.end(), A);
}

std::uint64_t Random::operator()() { // SplitMix64
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
}

double Random::normal() {
    const double u = (static_cast<double>((*this)() >> 11U) + 0.5) * 0x1p-53,
                 v = static_cast<double>((*this)() >> 11U) * 0x1p-53;
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

std::vector<std::int32_t> Random::permutation(std::int64_t n) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    for (std::int64_t i = n - 1; i > 0; --i)
        std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(below(i + 1))]);
    return order;
}

} // namespace lowdim::wasm
