// Local radii in the data and in a map, and the gradient of their correlation.
#include "density_forces.hpp"

#include "instructions.hpp"
#include "powers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#if LOWDIM_X86
#include <immintrin.h>
#endif

namespace lowdim {
namespace detail {
namespace {

#define LOWDIM_KERNEL "density.inl"
#include "each_isa.inl"

template <SimilarityKind kind> DensityKernels of_dimensions(int k) {
    return k == 1   ? LOWDIM_PICK(kernels<1, kind>)
           : k == 2 ? LOWDIM_PICK(kernels<2, kind>)
           : k == 3 ? LOWDIM_PICK(kernels<3, kind>)
                    : LOWDIM_PICK(kernels<0, kind>);
}

DensityKernels kernels_of(SimilarityKind kind, int k) {
    return kind == SimilarityKind::curve    ? of_dimensions<SimilarityKind::curve>(k)
           : kind == SimilarityKind::cauchy ? of_dimensions<SimilarityKind::cauchy>(k)
                                            : of_dimensions<SimilarityKind::student>(k);
}

Fall fall_of(const Similarity& of) {
    const SimilarityKind kind = of.a > 0                                    ? SimilarityKind::curve
                                : of.falloff.kind == Falloff::Kind::student ? SimilarityKind::student
                                                                            : SimilarityKind::cauchy;
    return {kind, law_of(of.a > 0 ? Curve{of.a, of.b} : Curve{}, cut), static_cast<float>(of.falloff.dof),
            static_cast<float>((of.falloff.dof + 1) / 2)};
}

} // namespace

DensityForces::DensityForces(const Density& plan, const Affinities& rows, const Similarity& similarity, int k)
    : plan_(plan), n_(rows.rows), k_(k), fall_(fall_of(similarity)), kernels_(kernels_of(fall_.kind, k)) {
    if (!plan.radii)
        return;
    const auto n = static_cast<std::size_t>(n_);
    radii_.resize(n);
    sums_.resize(2 * n);
    nodes_.resize(2 * n);
    r_.resize(n);
    for (std::int64_t i = 0; i < n_; ++i) {
        const double own =
            std::accumulate(rows.values + rows.starts[i], rows.values + rows.starts[i + 1], 0.0);
        if (own > 0 && !std::isnan(plan.radii[i])) {
            ++count_;
            total_ += own;
            middle_ += static_cast<double>(plan.radii[i]);
        }
    }
    middle_ = plan.trend.deviation > 0 || count_ == 0 ? 0 : middle_ / static_cast<double>(count_);
    std::vector<std::int32_t> same(n);
    std::iota(same.begin(), same.end(), 0);
    reorder(same.data());
}

void DensityForces::reorder(const std::int32_t* order) {
    for (std::size_t i = 0; i < radii_.size(); ++i)
        radii_[i] = plan_.radii[order[i]] - static_cast<float>(middle_);
}

void DensityForces::radii(const Padded& graph, const float* y, float* out, int n_threads, Watch& watch) {
    each_chunk(n_, ring_chunk, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
        kernels_.sum(graph, y, k_, fall_, from, to, sums_.data());
        for (std::int64_t i = from; i < to; ++i) {
            const float *sums = sums_.data() + 2 * i, floor = static_cast<float>(Density::floor);
            out[i] =
                sums[1] > 0 ? std::log(floor + sums[0] / sums[1]) : std::numeric_limits<float>::quiet_NaN();
        }
    });
}

bool DensityForces::counts(std::int64_t i, const float* r) const {
    return !std::isnan(r[i]) && !std::isnan(radii_[static_cast<std::size_t>(i)]);
}

// A and B of the points from … to: W ∂corr/∂r_i = each (R_i − corr z_i)/S.
void DensityForces::weigh(const Trend& trend, double each, const float* r, std::int64_t from,
                          std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
        const auto at = static_cast<std::size_t>(i);
        double slope = 0, R = 0;
        if (counts(i, r)) {
            const double N = static_cast<double>(sums_[2 * at]), D = static_cast<double>(sums_[2 * at + 1]);
            const double z = (static_cast<double>(r[i]) - trend.mean) / trend.deviation;
            R = N / D;
            slope = each * (static_cast<double>(radii_[at]) - trend.correlation * z) /
                    (trend.deviation * D * (R + Density::floor));
        }
        nodes_[2 * at] = static_cast<float>(slope);
        nodes_[2 * at + 1] = static_cast<float>(slope * R);
    }
}

void DensityForces::add(const Padded& graph, const float* y, float scale, float stiffening, float* forces,
                        int n_threads, Watch& watch) {
    float* r = r_.data();
    radii(graph, y, r, n_threads, watch);
    if (watch.stopped() || count_ == 0)
        return;
    Trend trend = plan_.trend;
    if (!(trend.deviation > 0)) {
        double mean = 0;
        for (std::int64_t i = 0; i < n_; ++i)
            mean += counts(i, r) ? static_cast<double>(r[i]) : 0.0;
        const auto m = static_cast<double>(count_);
        mean /= m;
        double variance = 0, both = 0;
        for (std::int64_t i = 0; i < n_; ++i)
            if (counts(i, r)) {
                const double gap = static_cast<double>(r[i]) - mean;
                variance += gap * gap;
                both += gap * static_cast<double>(radii_[static_cast<std::size_t>(i)]);
            }
        const double deviation = std::sqrt(variance / m + plan_.shift);
        if (!(deviation > 0))
            return;
        trend = {mean, deviation, both / m / deviation};
    }
    const double each = plan_.weight * total_ / static_cast<double>(count_);
    each_chunk(n_, ring_chunk, n_threads, watch,
               [&](std::int64_t, std::int64_t from, std::int64_t to) { weigh(trend, each, r, from, to); });
    each_chunk(n_, ring_chunk, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
        kernels_.force(graph, y, k_, fall_, nodes_.data(), scale, stiffening, from, to, forces);
    });
}

} // namespace detail

using namespace detail;

namespace {

// The graph in its own order, as the kernels read it.
class InOrder {
public:
    InOrder(const Affinities& V, int group, int n_threads, Watch& watch)
        : same_(static_cast<std::size_t>(V.rows)) {
        std::iota(same_.begin(), same_.end(), 0);
        graph_.assign(V, group, same_.data(), same_.data(), n_threads, watch);
    }
    [[nodiscard]] Padded rows() const { return graph_.rows(); }

private:
    std::vector<std::int32_t> same_;
    GroupedGraph graph_;
};

} // namespace

void map_radii(const Affinities& V, const float* Y, int k, const Similarity& similarity, float* out,
               int n_threads, Watch& watch) {
    const std::vector<float> none(static_cast<std::size_t>(V.rows), 0.0f);
    DensityForces forces({.radii = none.data()}, V, similarity, k);
    const InOrder graph(V, forces.group(), n_threads, watch);
    forces.radii(graph.rows(), Y, out, n_threads, watch);
}

void density_gradient(const Affinities& V, const float* Y, int k, const Similarity& similarity,
                      const Density& density, float* gradient, int n_threads, Watch& watch) {
    DensityForces forces(density, V, similarity, k);
    const InOrder graph(V, forces.group(), n_threads, watch);
    const std::int64_t stride = pull_stride(k);
    std::vector<float> found(static_cast<std::size_t>(V.rows * stride), 0.0f);
    forces.add(graph.rows(), Y, 1, 0, found.data(), n_threads, watch);
    for (std::int64_t i = 0; i < V.rows; ++i)
        std::copy_n(found.data() + i * stride, k, gradient + i * k);
}

template <class T>
void local_radii(const Affinities& V, const std::int32_t* neighbors, const T* distances, std::int64_t k,
                 std::int64_t first, double* out, int n_threads, Watch& watch) {
    const std::int64_t lists = V.rows - first;
    std::vector<std::pair<std::int32_t, T>> sorted(static_cast<std::size_t>(lists * k));
    each_chunk(lists, ring_chunk, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from; i < to; ++i) {
            auto* list = sorted.data() + i * k;
            for (std::int64_t j = 0; j < k; ++j)
                list[j] = {neighbors[i * k + j], distances[i * k + j]};
            std::sort(list, list + k, [](const auto& a, const auto& b) { return a.first < b.first; });
        }
    });
    // Distance of an edge by the list of row i, negative where that does not hold j.
    const auto listed = [&](std::int64_t i, std::int64_t j) {
        if (i < first)
            return -1.0;
        const auto *from = sorted.data() + (i - first) * k, *to = from + k;
        const auto* at =
            std::lower_bound(from, to, j, [](const auto& a, std::int64_t b) { return a.first < b; });
        return at != to && at->first == j ? static_cast<double>(at->second) : -1.0;
    };
    each_chunk(lists, ring_chunk, n_threads, watch, [&](std::int64_t, std::int64_t from, std::int64_t to) {
        for (std::int64_t l = from; l < to; ++l) {
            const std::int64_t i = first + l;
            double above = 0, below = 0;
            for (std::int64_t e = V.starts[i]; e < V.starts[i + 1]; ++e) {
                const double own = listed(i, V.columns[e]);
                const double d = own >= 0 ? own : listed(V.columns[e], i);
                if (d < 0)
                    continue;
                const auto v = static_cast<double>(V.values[e]);
                above += v * d * d;
                below += v;
            }
            out[l] = below > 0 ? above / below : std::numeric_limits<double>::quiet_NaN();
        }
    });
}

template void local_radii(const Affinities&, const std::int32_t*, const float*, std::int64_t, std::int64_t,
                          double*, int, Watch&);
template void local_radii(const Affinities&, const std::int32_t*, const double*, std::int64_t, std::int64_t,
                          double*, int, Watch&);

} // namespace lowdim
