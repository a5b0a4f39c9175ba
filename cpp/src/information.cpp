// A column is sorted once. Neighbours of a value are then beside it, and what lies within a distance is found
// by two pointers or by bisection.
#include "chunks.hpp"

#include <lowdim/information.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace lowdim {
namespace {

using Index = std::int64_t;

// ψ(m) of 1 … n, at m.
std::vector<double> digammas(Index n) {
    constexpr double euler = 0.57721566490153286061;
    std::vector<double> out(static_cast<std::size_t>(n + 2), -euler);
    for (Index m = 2; m <= n + 1; ++m)
        out[static_cast<std::size_t>(m)] =
            out[static_cast<std::size_t>(m - 1)] + 1.0 / static_cast<double>(m - 1);
    return out;
}

// How many of the sorted values are nearer to that at a place than r, or equal to it where r is 0; outwards
// in steps that double, since mostly they are few.
Index within(const std::vector<double>& sorted, Index place, double r) {
    const double* const v = sorted.data();
    const double x = v[place];
    const auto near = [&](Index j) { return r > 0 ? std::abs(v[j] - x) < r : v[j] == x; };
    const auto reach = [&](Index room, auto&& at) { // how many places in a row are near, of `room`
        Index sure = 0, step = 1;
        while (sure + step <= room && near(at(sure + step))) {
            sure += step;
            step *= 2;
        }
        for (; step > 0; step /= 2)
            if (sure + step <= room && near(at(sure + step)))
                sure += step;
        return sure;
    };
    return 1 + reach(place, [&](Index j) { return place - j; }) +
           reach(static_cast<Index>(sorted.size()) - 1 - place, [&](Index j) { return place + j; });
}

// The bits of a number as an integer of the same order; −0 is 0.
std::uint64_t key_of(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x + 0.0);
    return bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
}

struct Column {
    std::vector<std::int32_t> order; // of the values
    std::vector<double> values;      // in that order

    // Sorted by digits of 11 bits, equal values in the order of the rows.
    Column(const double* x, Index n)
        : order(static_cast<std::size_t>(n)), values(static_cast<std::size_t>(n)) {
        constexpr int width = 11, digits = 6;
        constexpr std::size_t kinds = std::size_t{1} << width;
        struct Item {
            std::uint64_t key;
            std::int32_t row;
        };
        std::vector<Item> items(order.size()), other(order.size());
        std::vector<std::size_t> counts(kinds * digits, 0);
        for (std::size_t i = 0; i < items.size(); ++i) {
            items[i] = {key_of(x[i]), static_cast<std::int32_t>(i)};
            for (int d = 0; d < digits; ++d)
                ++counts[static_cast<std::size_t>(d) * kinds + (items[i].key >> (d * width) & (kinds - 1))];
        }
        for (int d = 0; d < digits; ++d) {
            std::size_t* const at = counts.data() + static_cast<std::size_t>(d) * kinds;
            if (std::find(at, at + kinds, items.size()) != at + kinds)
                continue; // all have the same digit
            std::exclusive_scan(at, at + kinds, at, std::size_t{0});
            for (const Item& item : items)
                other[at[item.key >> (d * width) & (kinds - 1)]++] = item;
            items.swap(other);
        }
        for (std::size_t i = 0; i < items.size(); ++i) {
            order[i] = items[i].row;
            values[i] = x[items[i].row];
        }
    }
};

// A value and its place among all.
struct Placed {
    double value;
    Index place;
};

double with_labels(const Column& column, const std::int32_t* labels, Index n_classes, Index k,
                   const std::vector<double>& psi) {
    std::vector<Index> sizes(static_cast<std::size_t>(n_classes), 0);
    for (std::size_t i = 0; i < column.order.size(); ++i)
        ++sizes[static_cast<std::size_t>(labels[i])];
    std::vector<double> kept; // values but those of classes of one row
    std::vector<std::vector<Placed>> groups(static_cast<std::size_t>(n_classes));
    for (std::size_t c = 0; c < groups.size(); ++c)
        groups[c].reserve(static_cast<std::size_t>(sizes[c]));
    for (std::size_t i = 0; i < column.order.size(); ++i) {
        const auto label = static_cast<std::size_t>(labels[column.order[i]]);
        if (sizes[label] < 2)
            continue;
        groups[label].push_back({column.values[i], static_cast<Index>(kept.size())});
        kept.push_back(column.values[i]);
    }
    if (kept.empty())
        return 0;
    double sum = 0;
    std::vector<double> own;
    for (const auto& v : groups) {
        const Index count = static_cast<Index>(v.size()), near = std::min(k, count - 1);
        own.clear();
        for (const Placed& one : v)
            own.push_back(one.value);
        Index left = 0; // of the window of near + 1 values with the smallest largest distance
        for (Index i = 0; i < count; ++i) {
            const double* const at = own.data();
            left = std::max(left, i - near);
            while (left < i && left + near + 1 < count && at[left + near + 1] - at[i] < at[i] - at[left])
                ++left;
            const double r = std::max(at[i] - at[left], at[left + near] - at[i]);
            const Index alike = r > 0 ? near : within(own, i, 0.0);
            sum += psi[static_cast<std::size_t>(alike)] - psi[static_cast<std::size_t>(count)] -
                   psi[static_cast<std::size_t>(within(kept, v[static_cast<std::size_t>(i)].place, r))];
        }
    }
    const auto n = kept.size();
    return std::max(0.0, psi[n] + sum / static_cast<double>(n));
}

double with_numbers(const Column& column, const double* y, const std::int32_t* ranks,
                    const std::vector<double>& sorted, Index k, const std::vector<double>& psi) {
    const Index n = static_cast<Index>(column.order.size()), near = std::min(k, n - 1);
    std::vector<double> ys(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < ys.size(); ++i)
        ys[i] = y[column.order[i]];
    std::vector<double> best(static_cast<std::size_t>(near));
    const auto& xs = column.values;
    double sum = 0;
    for (Index i = 0; i < n; ++i) {
        const double x = xs[static_cast<std::size_t>(i)], own = ys[static_cast<std::size_t>(i)];
        std::fill(best.begin(), best.end(), std::numeric_limits<double>::infinity());
        Index left = i - 1, right = i + 1;
        while (left >= 0 || right < n) { // outwards, until x alone is too far
            const double before =
                left >= 0 ? x - xs[static_cast<std::size_t>(left)] : std::numeric_limits<double>::infinity();
            const double after =
                right < n ? xs[static_cast<std::size_t>(right)] - x : std::numeric_limits<double>::infinity();
            const double apart = std::min(before, after);
            if (apart >= best.back())
                break;
            const Index j = before <= after ? left-- : right++;
            double d = std::max(apart, std::abs(ys[static_cast<std::size_t>(j)] - own));
            if (d >= best.back())
                continue;
            Index place = near - 1;
            for (; place > 0 && best[static_cast<std::size_t>(place - 1)] > d; --place)
                best[static_cast<std::size_t>(place)] = best[static_cast<std::size_t>(place - 1)];
            best[static_cast<std::size_t>(place)] = d;
        }
        const double r = best.back();
        Index alike = near;
        if (r <= 0) { // points that are equal in both, this one included
            alike = 1;
            for (Index j = i - 1; j >= 0 && xs[static_cast<std::size_t>(j)] == x; --j)
                alike += ys[static_cast<std::size_t>(j)] == own;
            for (Index j = i + 1; j < n && xs[static_cast<std::size_t>(j)] == x; ++j)
                alike += ys[static_cast<std::size_t>(j)] == own;
        }
        sum += psi[static_cast<std::size_t>(alike)] - psi[static_cast<std::size_t>(within(xs, i, r))] -
               psi[static_cast<std::size_t>(
                   within(sorted, ranks[column.order[static_cast<std::size_t>(i)]], r))];
    }
    return std::max(0.0, psi[static_cast<std::size_t>(n)] + sum / static_cast<double>(n));
}

} // namespace

void information_with_labels(const RowMajor<const double>& X, const RowMajor<const std::int32_t>& labels,
                             std::int64_t n_classes, std::int64_t k, double* out, int n_threads,
                             Watch& watch) {
    const std::vector<double> psi = digammas(X.cols);
    detail::share(X.rows, X.rows, n_threads, watch, [&](std::int64_t c) {
        const Column column(X.data + c * X.stride, X.cols);
        for (std::int64_t t = 0; t < labels.rows && !watch.stopped(); ++t)
            out[c * labels.rows + t] =
                with_labels(column, labels.data + t * labels.stride, n_classes, k, psi);
    });
}

void information_with_numbers(const RowMajor<const double>& X, const RowMajor<const double>& targets,
                              std::int64_t k, double* out, int n_threads, Watch& watch) {
    const std::vector<double> psi = digammas(X.cols);
    std::vector<double> sorted; // of the first, of which others are orders
    std::vector<std::int32_t> ranks(static_cast<std::size_t>(targets.rows * X.cols));
    for (std::int64_t t = 0; t < targets.rows; ++t) {
        const Column target(targets.data + t * targets.stride, X.cols);
        for (std::size_t i = 0; i < target.order.size(); ++i)
            ranks[static_cast<std::size_t>(t * X.cols + target.order[i])] = static_cast<std::int32_t>(i);
        if (t == 0)
            sorted = target.values;
    }
    detail::share(X.rows, X.rows, n_threads, watch, [&](std::int64_t c) {
        const Column column(X.data + c * X.stride, X.cols);
        for (std::int64_t t = 0; t < targets.rows && !watch.stopped(); ++t)
            out[c * targets.rows + t] = with_numbers(column, targets.data + t * targets.stride,
                                                     ranks.data() + t * X.cols, sorted, k, psi);
    });
}

} // namespace lowdim
