// Widths by Newton's steps on log σ inside a bracket; the sum of memberships increases with σ.
#include "chunks.hpp"

#include <lowdim/fuzzy.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace lowdim {
namespace {

constexpr std::int64_t chunk = 256;
constexpr double least = 1e-3, widest = 60; // share of the mean distance; |log σ/mean| searched
constexpr double negligible = 1e-18;        // keeps denormal numbers out of the forces

// Distance at which `local` neighbours are reached, duplicates not counted.
template <class T> double nearest_distinct(const T* d, std::int64_t k, double local) {
    const std::int64_t same = std::find_if(d, d + k, [](T x) { return x > 0; }) - d;
    const std::int64_t distinct = k - same;
    if (distinct == 0)
        return 0;
    const auto whole = static_cast<std::int64_t>(local);
    if (distinct < local)
        return d[k - 1];
    const double part = local - static_cast<double>(whole);
    if (whole == 0)
        return part * d[same];
    const double at = d[same + whole - 1];
    return part > 0 ? at + part * (d[same + whole] - at) : at;
}

double sum_at(const std::vector<double>& beyond, double sigma, double& slope) {
    double sum = 0;
    slope = 0;
    for (double u : beyond) {
        const double e = std::exp(-u / sigma);
        sum += e;
        slope += u / sigma * e;
    }
    return sum;
}

// `beyond` are the distances less ρ that are positive; `inside` counts the others, of weight 1 each.
double width(const std::vector<double>& beyond, double inside, double target) {
    double mean = 0;
    for (double u : beyond)
        mean += u;
    mean /= static_cast<double>(beyond.size());
    double low = -widest, high = widest, at = 0;
    for (int step = 0; step < 100 && high - low > 1e-9; ++step) {
        double slope;
        const double above = inside + sum_at(beyond, mean * std::exp(at), slope) - target;
        if (std::abs(above) < 1e-7)
            break;
        (above > 0 ? high : low) = at;
        const double next = slope > 1e-12 ? at - above / slope : low - 1;
        at = next > low && next < high ? next : (low + high) / 2;
    }
    return mean * std::exp(at);
}

} // namespace

template <class T>
void memberships(const NearDistances<T>& near, const Connectivity& by, float* v, float* rho, float* sigma,
                 int n_threads, Watch& watch) {
    detail::each_chunk(
        near.rows, chunk, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
            std::vector<double> beyond;
            for (std::int64_t i = from; i < to; ++i) {
                const T* d = near.distances + i * near.k;
                const double start = nearest_distinct(d, near.k, by.local);
                double mean = 0, at = 0;
                beyond.clear();
                for (std::int64_t j = 0; j < near.k; ++j) {
                    mean += d[j];
                    if (d[j] > start)
                        beyond.push_back(d[j] - start);
                }
                mean /= static_cast<double>(near.k + 1);
                const auto inside = static_cast<double>(near.k) - static_cast<double>(beyond.size());
                if (!beyond.empty() && inside < by.target)
                    at = width(beyond, inside, by.target);
                at = std::max(at, least * (start > 0 ? mean : by.typical));
                for (std::int64_t j = 0; j < near.k; ++j) {
                    const double x = d[j] > start ? (at > 0 ? std::exp((start - d[j]) / at) : 0.0) : 1.0;
                    v[i * near.k + j] = x > negligible ? static_cast<float>(x) : 0.0f;
                }
                rho[i] = static_cast<float>(start);
                sigma[i] = static_cast<float>(at);
            }
            watch.advance(to - from);
        });
}

template void memberships(const NearDistances<float>&, const Connectivity&, float*, float*, float*, int,
                          Watch&);
template void memberships(const NearDistances<double>&, const Connectivity&, float*, float*, float*, int,
                          Watch&);

} // namespace lowdim
