// The exact sums, and the common interface of the three repulsion methods.
#include "chunks.hpp"
#include "exact.hpp"
#include "falloffs.hpp"
#include "grid.hpp"
#include "instructions.hpp"
#include "near_pairs.hpp"
#include "tree.hpp"

#include <lowdim/repulsion.hpp>

#include <algorithm>
#include <type_traits>
#include <vector>

namespace lowdim {
namespace {

constexpr std::int64_t rows_at_once = 16, tile = 4096, most_strays = 256;

#define LOWDIM_KERNEL "repulsion.inl"
#include "each_isa.inl"

template <class T, class F> auto row_kernel(int k) {
    switch (k) {
    case 1:
        return LOWDIM_PICK(one_row<T, F, 1>);
    case 2:
        return LOWDIM_PICK(one_row<T, F, 2>);
    case 3:
        return LOWDIM_PICK(one_row<T, F, 3>);
    default:
        return LOWDIM_PICK(one_row<T, F, 0>);
    }
}

class Exactly final : public Repulsion {
public:
    Exactly(int k, const Falloff& falloff) : k_(k), falloff_(falloff) {}
    double operator()(const float* Y, std::int64_t n, float* forces, float* phi, int n_threads,
                      Watch& watch) override {
        phi_.resize(static_cast<std::size_t>(n));
        repel_exactly(Y, n, Y, n, k_, falloff_, forces, phi_.data(), n_threads, watch);
        double sum = 0;
        for (double value : phi_)
            sum += value - 1; // a point does not repel itself
        if (phi)
            std::copy(phi_.begin(), phi_.end(), phi);
        return sum;
    }

private:
    int k_;
    Falloff falloff_;
    std::vector<double> phi_;
};

// A few points far from all others would stretch the grid until its cells are too large for the rest. Such
// outliers are treated separately: forces between them and the others are summed exactly.
class ByGrid final : public Repulsion {
public:
    ByGrid(int k, const Falloff& falloff, double spacing)
        : k_(k), falloff_(falloff), grid_(falloff, k, spacing) {}

    double operator()(const float* Y, std::int64_t n, float* forces, float* phi, int n_threads,
                      Watch& watch) override {
        const detail::Grid::Box box = grid_.box_of(Y, n, n_threads, watch);
        if (watch.stopped())
            return 1;
        if (grid_.suits(box, n) || !part(Y, n))
            return among(Y, n, box, forces, phi, n_threads, watch) - static_cast<double>(n);
        return apart(Y, n, forces, phi, n_threads, watch);
    }
    void refine(double spacing) override { grid_.refine(spacing); }

private:
    // Points of one box, by pairs and a coarse grid where that is faster; Σφ.
    double among(const float* Y, std::int64_t n, const detail::Grid::Box& box, float* forces, float* phi,
                 int n_threads, Watch& watch) {
        if (watch.stopped()) // and the box may be that of some points only
            return 1;
        if (k_ == 2 && falloff_.kind == Falloff::Kind::cauchy && grid_.suits(box, n) &&
            nearby_.arrange(Y, n, box, grid_.cells(box, n)))
            return nearby_(Y, n, box, forces, phi, n_threads, watch);
        grid_.charge(Y, n, box, n_threads, watch);
        return watch.stopped() ? 1 : grid_.read_own(Y, n, forces, phi, n_threads, watch);
    }

    // Finds the outliers; false where there are none. At most some points at each side can be outliers: those
    // beyond the range of the others by more than half its width.
    bool part(const float* Y, std::int64_t n) {
        const std::int64_t side = std::min(most_strays, n / 100) / (2 * k_);
        if (side < 1)
            return false;
        std::vector<float> low(static_cast<std::size_t>(k_)), high(low), values(static_cast<std::size_t>(n));
        for (int d = 0; d < k_; ++d) {
            for (std::int64_t i = 0; i < n; ++i)
                values[static_cast<std::size_t>(i)] = Y[i * k_ + d];
            std::nth_element(values.begin(), values.begin() + side, values.end());
            const float first = values[static_cast<std::size_t>(side)];
            std::nth_element(values.begin(), values.end() - 1 - side, values.end());
            const float last = *(values.end() - 1 - side);
            low[static_cast<std::size_t>(d)] = first - (last - first) / 2;
            high[static_cast<std::size_t>(d)] = last + (last - first) / 2;
        }
        strays_.clear();
        others_.clear();
        for (std::int64_t i = 0; i < n; ++i) {
            bool inside = true;
            for (int d = 0; d < k_; ++d) {
                const float y = Y[i * k_ + d];
                inside &= y >= low[static_cast<std::size_t>(d)] && y <= high[static_cast<std::size_t>(d)];
            }
            (inside ? others_ : strays_).push_back(static_cast<std::int32_t>(i));
        }
        return !strays_.empty();
    }

    [[nodiscard]] std::vector<float> taken(const float* Y, const std::vector<std::int32_t>& points) const {
        std::vector<float> out;
        out.reserve(points.size() * static_cast<std::size_t>(k_));
        for (std::int64_t i : points)
            out.insert(out.end(), Y + i * k_, Y + (i + 1) * k_);
        return out;
    }

    double apart(const float* Y, std::int64_t n, float* forces, float* phi, int n_threads, Watch& watch) {
        const auto few = static_cast<std::int64_t>(strays_.size()), many = n - few;
        const std::vector<float> stray = taken(Y, strays_), other = taken(Y, others_);
        std::vector<float> near(other.size()), far(other.size()), out(stray.size());
        std::vector<float> field(static_cast<std::size_t>(many));
        std::vector<double> by_strays(static_cast<std::size_t>(many)),
            of_strays(static_cast<std::size_t>(few));
        double sum = among(other.data(), many, grid_.box_of(other.data(), many, n_threads, watch),
                           near.data(), field.data(), n_threads, watch);
        repel_exactly(other.data(), many, stray.data(), few, k_, falloff_, far.data(), by_strays.data(),
                      n_threads, watch);
        repel_exactly(stray.data(), few, Y, n, k_, falloff_, out.data(), of_strays.data(), n_threads, watch);
        for (std::size_t i = 0; i < others_.size(); ++i) {
            sum += by_strays[i];
            give(others_[i], near.data() + i * static_cast<std::size_t>(k_),
                 far.data() + i * static_cast<std::size_t>(k_), forces);
            if (phi)
                phi[others_[i]] = static_cast<float>(field[i] + by_strays[i]);
        }
        for (std::size_t i = 0; i < strays_.size(); ++i) {
            sum += of_strays[i];
            give(strays_[i], out.data() + i * static_cast<std::size_t>(k_), nullptr, forces);
            if (phi)
                phi[strays_[i]] = static_cast<float>(of_strays[i]);
        }
        return sum - static_cast<double>(n);
    }

    void give(std::int64_t point, const float* one, const float* two, float* forces) const {
        for (int d = 0; d < k_; ++d)
            forces[point * k_ + d] = one[d] + (two ? two[d] : 0.0f);
    }

    int k_;
    Falloff falloff_;
    detail::Grid grid_;
    detail::Nearby nearby_;
    std::vector<std::int32_t> strays_, others_;
};

class ByTree final : public Repulsion {
public:
    ByTree(int k, const Falloff& falloff, double angle) : k_(k), falloff_(falloff), angle_(angle) {}
    double operator()(const float* Y, std::int64_t n, float* forces, float* phi, int n_threads,
                      Watch& watch) override {
        return detail::repel_by_tree(Y, n, k_, falloff_, angle_, forces, phi, n_threads, watch);
    }

private:
    int k_;
    Falloff falloff_;
    double angle_;
};

} // namespace

namespace detail {

template <class T>
ExactField<T>::ExactField(const T* Y, std::int64_t n, int k, const Falloff& falloff)
    : stride_((n + Wide<T>::lanes - 1) / Wide<T>::lanes * Wide<T>::lanes), k_(k), falloff_(falloff) {
    planes_ = Aligned<T>(stride_ * k);
    for (int d = 0; d < k; ++d)
        for (std::int64_t j = 0; j < stride_; ++j) // the rest of the last vector is too far to repel
            planes_[d * stride_ + j] = j < n ? Y[j * k + d] : T(1e17);
}

template <class T> std::int64_t ExactField<T>::tiles() const { return (stride_ + tile - 1) / tile; }

template <class T> double ExactField<T>::at(const T* q, std::int64_t part, double* forces) const {
    const std::int64_t from = part * tile, to = std::min(stride_, from + tile);
    return with_falloff<T>(falloff_, [&](const auto& f) {
        return row_kernel<T, std::decay_t<decltype(f)>>(k_)(f, q, planes_.data(), stride_, from, to, k_,
                                                            forces);
    });
}

template class ExactField<float>;
template class ExactField<double>;

} // namespace detail

template <class T>
void repel_exactly(const T* Q, std::int64_t m, const T* Y, std::int64_t n, int k, const Falloff& falloff,
                   T* forces, double* phi, int n_threads, Watch& watch) {
    const detail::ExactField<T> field(Y, n, k, falloff);
    detail::each_chunk(m, rows_at_once, n_threads, watch,
                       [&](std::int64_t, std::int64_t from, std::int64_t to) {
                           std::vector<double> sums(static_cast<std::size_t>((to - from) * k), 0.0);
                           std::fill(phi + from, phi + to, 0.0);
                           for (std::int64_t tile = 0; tile < field.tiles() && !watch.stopped(); ++tile)
                               for (std::int64_t i = from; i < to; ++i)
                                   phi[i] += field.at(Q + i * k, tile, sums.data() + (i - from) * k);
                           for (std::size_t e = 0; e < sums.size(); ++e)
                               forces[from * k + static_cast<std::int64_t>(e)] = static_cast<T>(sums[e]);
                       });
}

std::unique_ptr<Repulsion> make_repulsion(Repel how, int k, const Falloff& falloff, double angle,
                                          double spacing) {
    if (how == Repel::by_grid)
        return std::make_unique<ByGrid>(k, falloff, spacing);
    if (how == Repel::by_tree)
        return std::make_unique<ByTree>(k, falloff, angle);
    return std::make_unique<Exactly>(k, falloff);
}

template void repel_exactly(const float*, std::int64_t, const float*, std::int64_t, int, const Falloff&,
                            float*, double*, int, Watch&);
template void repel_exactly(const double*, std::int64_t, const double*, std::int64_t, int, const Falloff&,
                            double*, double*, int, Watch&);

} // namespace lowdim
