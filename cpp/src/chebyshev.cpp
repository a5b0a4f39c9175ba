// Rows are summed separately, so that the bits depend neither on the number of threads nor on the order of
// the rows.
#include "aligned.hpp"
#include "chunks.hpp"
#include "instructions.hpp"

#include <lowdim/chebyshev.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace lowdim {
namespace {

constexpr std::int64_t width = chebyshev_width;
constexpr std::int64_t pieces = 4, few = 2; // per thread: a slow thread leaves some to the others
constexpr int many = 4;                     // threads, above which there are few pieces for each, and hasten
constexpr double thread_work = 1 << 16;     // products of a step below which threads wait more than they work
constexpr std::int64_t worth_sorting = 100; // steps, which take longer than sorting the rows
constexpr std::int64_t chunk = 512;
// How far ahead memory is asked for: entries whose rows are read, and rows that are written.
constexpr std::int32_t ahead = 44;
constexpr std::int64_t early = 4;

// Asks for the cache line, to be written soon, from the caches that hold it.
inline void claim(const void* line) {
#if LOWDIM_X86
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
    __builtin_prefetch(line, 1);
#endif
}

#define LOWDIM_KERNEL "chebyshev.inl"
#include "each_isa.inl"

// The rows in an order in which a row stands near those that it is multiplied with: next comes the one with
// most of its columns in place, the first of those that reached that number. `users` has in each row the rows
// with that column.
template <class T> std::vector<std::int32_t> close_order(const CsrOf<T>& users) {
    constexpr std::size_t levels = 64;
    struct Queue {
        std::vector<std::int32_t> rows;
        std::size_t head = 0;
    };
    const auto n = static_cast<std::size_t>(users.rows);
    std::array<Queue, levels> waiting; // by the number of columns in place
    std::vector<std::size_t> level(n, 0);
    std::vector<bool> placed(n, false);
    std::vector<std::int32_t> order;
    order.reserve(n);
    std::int32_t first = 0; // of those that may not be placed
    const auto next = [&] {
        for (std::size_t l = levels; l-- > 0;)
            for (Queue& queue = waiting[l]; queue.head < queue.rows.size();) {
                const std::int32_t row = queue.rows[queue.head++];
                const auto at = static_cast<std::size_t>(row);
                if (!placed[at] && level[at] == l) // or it has gone up
                    return row;
            }
        while (placed[static_cast<std::size_t>(first)])
            ++first;
        return first;
    };
    while (order.size() < n) {
        const std::int32_t row = next();
        placed[static_cast<std::size_t>(row)] = true;
        order.push_back(row);
        for (std::int32_t e = users.starts[row]; e < users.starts[row + 1]; ++e) {
            const auto user = static_cast<std::size_t>(users.columns[e]);
            if (placed[user] || level[user] + 1 == levels)
                continue;
            waiting[++level[user]].rows.push_back(users.columns[e]);
        }
    }
    return order;
}

// A matrix with its rows and columns in another order; entries of a row keep theirs.
template <class T> class Sorted {
public:
    Sorted(const CsrOf<T>& A, const std::vector<std::int32_t>& order, const std::vector<std::int32_t>& place,
           int n_threads, Watch& watch)
        : starts_(order.size() + 1, 0), columns_(A.starts[A.rows]), values_(A.starts[A.rows]) {
        for (std::size_t i = 0; i < order.size(); ++i)
            starts_[i + 1] = starts_[i] + A.starts[order[i] + 1] - A.starts[order[i]];
        detail::each_chunk(A.rows, chunk, n_threads, watch,
                           [&](std::int64_t, std::int64_t from, std::int64_t to) {
                               for (std::int64_t i = from; i < to; ++i) {
                                   const std::int32_t row = order[static_cast<std::size_t>(i)];
                                   std::int64_t at = starts_[static_cast<std::size_t>(i)];
                                   for (std::int32_t e = A.starts[row]; e < A.starts[row + 1]; ++e, ++at) {
                                       columns_[at] = place[static_cast<std::size_t>(A.columns[e])];
                                       values_[at] = A.values[e];
                                   }
                               }
                           });
    }
    [[nodiscard]] CsrOf<T> view() const {
        const auto n = static_cast<std::int64_t>(starts_.size()) - 1;
        return {starts_.data(), columns_.data(), values_.data(), n, n};
    }

private:
    std::vector<std::int32_t> starts_;
    detail::Aligned<std::int32_t> columns_;
    detail::Aligned<T> values_;
};

// The polynomial in bases[0], with bases[1] and, for the products with B, `work` as scratch; returns where it
// is.
template <class T>
T* polynomial(const CsrOf<T>* B, const CsrOf<T>& A, const std::array<T*, 2>& bases, T* work, double low,
              double high, std::int64_t degree, int n_threads, Watch& watch) {
    const auto multiply = LOWDIM_PICK(multiply<T>);
    const auto advance = LOWDIM_PICK(advance<T>);
    const double centre = (high + low) / 2, half = (high - low) / 2;
    const std::int64_t n = A.rows, each = n_threads > many ? few : pieces;
    const bool hasten = n_threads > many;
    const std::int64_t count = std::min(n, each * n_threads);
    const int halves = B ? 2 : 1; // of a step
    detail::each_round(halves * degree, count, n_threads, watch, [&](std::int64_t round, std::int64_t piece) {
        // Every n_threads-th piece is one thread's: its rows lie together.
        const std::int64_t part =
            count == each * n_threads ? piece % n_threads * each + piece / n_threads : piece;
        const std::int64_t d = round / halves, from = n * part / count, to = n * (part + 1) / count;
        T* const out = bases[static_cast<std::size_t>((d + 1) % 2)]; // T_{d + 1}, in place of T_{d − 1}
        const T* const at = bases[static_cast<std::size_t>(d % 2)];  // T_d
        if (B && round % 2 == 0) {
            multiply(*B, at, work, from, to, hasten);
            return;
        }
        advance(A, B ? work : at, at, static_cast<T>((d == 0 ? 1 : 2) / half), static_cast<T>(centre),
                d == 0 ? nullptr : out, out, from, to, hasten);
        if (piece == 0)
            watch.advance(1);
    });
    return bases[static_cast<std::size_t>(degree % 2)];
}

} // namespace

template <class T>
void chebyshev(const CsrOf<T>* B, const CsrOf<T>& A, T* V, double low, double high, std::int64_t degree,
               int n_threads, Watch& watch) {
    const std::int64_t n = A.rows;
    const double work_of_step = (B ? 2.0 : 1.0) * static_cast<double>(width) * A.starts[n];
    const int team =
        std::clamp(n_threads, 1, static_cast<int>(std::min(work_of_step / thread_work, 1023.0)) + 1);
    const detail::Aligned<T> at(n * width), next(n * width), work(B ? n * width : 0);
    const std::array<T*, 2> bases{at.data(), next.data()};
    if (degree < worth_sorting) {
        std::copy_n(V, n * width, at.data());
        std::copy_n(polynomial(B, A, bases, work.data(), low, high, degree, team, watch), n * width, V);
        return;
    }
    const std::vector<std::int32_t> order = close_order(A);
    std::vector<std::int32_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        place[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
        std::copy_n(V + order[i] * width, width, at.data() + static_cast<std::int64_t>(i) * width);
    }
    const Sorted<T> sorted(A, order, place, team, watch);
    std::optional<Sorted<T>> other;
    CsrOf<T> b{};
    if (B) {
        other.emplace(*B, order, place, team, watch);
        b = other->view();
    }
    const T* found =
        polynomial(B ? &b : nullptr, sorted.view(), bases, work.data(), low, high, degree, team, watch);
    for (std::size_t i = 0; i < order.size(); ++i)
        std::copy_n(found + static_cast<std::int64_t>(i) * width, width, V + order[i] * width);
}

template void chebyshev(const CsrOf<double>*, const CsrOf<double>&, double*, double, double, std::int64_t,
                        int, Watch&);
template void chebyshev(const CsrOf<float>*, const CsrOf<float>&, float*, double, double, std::int64_t, int,
                        Watch&);

} // namespace lowdim
