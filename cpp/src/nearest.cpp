// Exact neighbours. Queries of one group are a task: they visit the groups of points nearest first, so that
// what they keep is near early, and skip groups, tiles and later dimensions that cannot hold anything nearer.
// Scores are float32 with a bound on their error; what comes within it is measured in double. So the answer
// is exact, and the same for any grouping, instruction set and number of threads.
#include <lowdim/isa.hpp>
#include <lowdim/nearest.hpp>

#include "nearest_scan.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <numeric>
#include <type_traits>

#include <omp.h>

#if LOWDIM_X86
#include <immintrin.h>
#endif

#if defined(__clang__)
#define LOWDIM_UNROLL _Pragma("unroll")
#else
#define LOWDIM_UNROLL _Pragma("GCC unroll 16")
#endif

namespace lowdim {
namespace {

using namespace detail;

namespace generic {
typedef float Vector __attribute__((vector_size(16), aligned(4), may_alias));
inline Vector larger(Vector a, Vector b) { return a > b ? a : b; }
inline unsigned at_least(Vector a, Vector b) {
    unsigned bits = 0;
    for (int l = 0; l < 4; ++l)
        bits |= static_cast<unsigned>(a[l] >= b[l]) << l;
    return bits;
}
inline int append(Vector row, unsigned hits, std::int32_t point, float* scores, std::int32_t* points) {
    int count = 0;
    for (; hits != 0; hits &= hits - 1, ++count) {
        const int lane = __builtin_ctz(hits);
        scores[count] = row[lane];
        points[count] = point + lane;
    }
    return count;
}
#define LOWDIM_TARGET
#define LOWDIM_BYTES 16
#define LOWDIM_ROWS 3
#include "nearest.inl"
} // namespace generic

#if LOWDIM_X86
namespace avx2 {
#define LOWDIM_TARGET __attribute__((target("avx2,fma")))
typedef float Vector __attribute__((vector_size(32), aligned(4), may_alias));
LOWDIM_TARGET inline Vector larger(Vector a, Vector b) { return Vector(_mm256_max_ps(__m256(a), __m256(b))); }
LOWDIM_TARGET inline unsigned at_least(Vector a, Vector b) {
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(__m256(a), __m256(b), _CMP_GE_OQ)));
}
LOWDIM_TARGET inline int append(Vector row, unsigned hits, std::int32_t point, float* scores,
                                std::int32_t* points) {
    int count = 0;
    for (; hits != 0; hits &= hits - 1, ++count) {
        const int lane = __builtin_ctz(hits);
        scores[count] = row[lane];
        points[count] = point + lane;
    }
    return count;
}
#define LOWDIM_BYTES 32
#define LOWDIM_ROWS 6
#include "nearest.inl"
} // namespace avx2

namespace avx512 {
#define LOWDIM_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
typedef float Vector __attribute__((vector_size(64), aligned(4), may_alias));
LOWDIM_TARGET inline Vector larger(Vector a, Vector b) {
    return Vector(_mm512_maskz_max_ps(0xFFFF, __m512(a), __m512(b)));
}
LOWDIM_TARGET inline unsigned at_least(Vector a, Vector b) {
    return _mm512_cmp_ps_mask(__m512(a), __m512(b), _CMP_GE_OQ);
}
// Writes a whole tile, of which the hits come first.
LOWDIM_TARGET inline int append(Vector row, unsigned hits, std::int32_t point, float* scores,
                                std::int32_t* points) {
    const auto mask = static_cast<__mmask16>(hits);
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    _mm512_storeu_ps(scores, _mm512_maskz_compress_ps(mask, __m512(row)));
    _mm512_storeu_si512(points,
                        _mm512_maskz_compress_epi32(mask, _mm512_add_epi32(lane, _mm512_set1_epi32(point))));
    return __builtin_popcount(hits);
}
#define LOWDIM_BYTES 64
#define LOWDIM_ROWS 12
#include "nearest.inl"
} // namespace avx512
#endif

Scanner scanner_for([[maybe_unused]] Isa isa) {
#if LOWDIM_X86
    if (isa >= Isa::avx512)
        return avx512::scanner;
    if (isa >= Isa::avx2)
        return avx2::scanner;
#endif
    return generic::scanner;
}

constexpr float nowhere = -1e30f, anywhere = -1e29f; // scores of padding; what no score of a point is below

// Memory on its own cache lines, so that no vector straddles two.
template <class T> struct OnLines {
    using value_type = T;
    OnLines() = default;
    template <class U> OnLines(const OnLines<U>&) {}
    T* allocate(std::size_t n) {
        return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(64)));
    }
    void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t(64)); }
    bool operator==(const OnLines&) const = default;
};
using Lines = std::vector<float, OnLines<float>>;

// Points packed into tiles, group by group.
struct Packed {
    Tiles tiles;
    std::vector<std::int64_t> starts; // first tile of each group
    Lines values[most_stages], halves[most_stages];
    std::vector<float> lowest, highest;
};

// row(i) gives the coordinates of the i-th point in packed order, away(i) its distance from its centre.
template <class Row, class Away>
void pack(Packed& out, const std::int64_t* starts, std::int64_t groups, const std::int64_t* stages,
          int n_stages, const Row& row, const Away& away, int n_threads) {
    out.starts.assign(groups + 1, 0);
    for (std::int64_t g = 0; g < groups; ++g)
        out.starts[g + 1] = out.starts[g] + (starts[g + 1] - starts[g] + tile_width - 1) / tile_width;
    const std::int64_t tiles = out.starts[groups];
    out.lowest.resize(tiles);
    out.highest.resize(tiles);
    out.tiles.n_stages = n_stages;
    for (int s = 0; s < n_stages; ++s) {
        out.tiles.ends[s] = stages[s];
        out.values[s].resize(tiles * tile_width * (stages[s] - (s == 0 ? 0 : stages[s - 1])));
        out.halves[s].resize(tiles * tile_width);
        out.tiles.values[s] = out.values[s].data();
        out.tiles.halves[s] = out.halves[s].data();
    }
    out.tiles.lowest = out.lowest.data();
    out.tiles.highest = out.highest.data();
#pragma omp parallel for schedule(dynamic, 4) num_threads(n_threads)
    for (std::int64_t g = 0; g < groups; ++g)
        for (std::int64_t t = out.starts[g]; t < out.starts[g + 1]; ++t) {
            float low = std::numeric_limits<float>::max(), high = 0;
            for (int lane = 0; lane < tile_width; ++lane) {
                const std::int64_t i = starts[g] + (t - out.starts[g]) * tile_width + lane;
                const bool there = i < starts[g + 1];
                const float* x = there ? row(i) : nullptr;
                if (there) {
                    low = std::min(low, away(g, i));
                    high = std::max(high, away(g, i));
                }
                std::int64_t from = 0;
                for (int s = 0; s < n_stages; ++s) {
                    const std::int64_t steps = stages[s] - from;
                    float* to = out.values[s].data() + t * steps * tile_width + lane;
                    double sum = 0;
                    for (std::int64_t a = 0; a < steps; ++a) {
                        const float v = there ? x[from + a] : 0.0f;
                        to[a * tile_width] = v;
                        sum += static_cast<double>(v) * v;
                    }
                    out.halves[s][t * tile_width + lane] = there    ? static_cast<float>(-sum / 2)
                                                           : s == 0 ? nowhere
                                                                    : 0.0f;
                    from = stages[s];
                }
            }
            out.lowest[t] = low * (1 - 1e-6f);
            out.highest[t] = high * (1 + 1e-6f);
        }
}

// All that tasks read.
template <class T> struct Plan {
    Search<T> search;
    Scanner with;
    double (*squared)(const T*, const T*, std::int64_t);
    Packed points, centres;
    std::vector<float> centre_norms, group_norms; // of the centres, and the longest point of each group
    double share;                                 // error of a squared distance over (‖q‖ + ‖x‖)²

    Plan(const Search<T>& given, int n_threads)
        : search(given), with(scanner_for(isa())), centre_norms(given.groups), group_norms(given.groups),
          share((4.0 * static_cast<double>(given.d) + 16) * 0x1p-24) {
        if constexpr (std::is_same_v<T, float>)
            squared = with.squared_float;
        else
            squared = with.squared_double;
        const auto& p = search.points;
        const std::int64_t d = search.d;
        std::vector<float> away(p.count), norms(p.count);
        const std::vector<float> origin(d, 0.0f);
#pragma omp parallel for schedule(static) num_threads(n_threads)
        for (std::int64_t g = 0; g < search.groups; ++g) {
            const float* centre = search.centres + g * d;
            centre_norms[g] = static_cast<float>(std::sqrt(with.squared_float(centre, origin.data(), d)));
            for (std::int64_t i = p.starts[g]; i < p.starts[g + 1]; ++i) {
                const float* x = p.values + p.order[i] * d;
                away[i] = static_cast<float>(std::sqrt(with.squared_float(x, centre, d)));
                const double norm = std::sqrt(with.squared_float(x, origin.data(), d));
                group_norms[g] = std::max(group_norms[g], static_cast<float>(norm));
            }
        }
        pack(
            points, p.starts, search.groups, search.stages, search.n_stages,
            [&](std::int64_t i) { return p.values + p.order[i] * d; },
            [&](std::int64_t, std::int64_t i) { return away[i]; }, n_threads);
        const std::int64_t all[2] = {0, search.groups}, once[1] = {d};
        pack(
            centres, all, 1, once, 1, [&](std::int64_t g) { return search.centres + g * d; },
            [](std::int64_t, std::int64_t) { return 0.0f; }, n_threads);
    }

    double error(double a, double b) const { return share * (a + b) * (a + b); }
};

// The queries of a task, some rows at a time side by side, with what each has found and how far it looks.
template <class T> class Chunk {
public:
    explicit Chunk(const Plan<T>& plan) : plan_(plan), rows_(plan.with.rows) {}

    std::int64_t size() const { return last_ - first_; }
    std::int64_t query(std::int64_t i) const { return plan_.search.queries.order[first_ + i]; }
    std::int32_t count(std::int64_t i) const { return counts_[i]; }
    float* scores(std::int64_t i) { return scores_.data() + i * capacity_; }
    std::int32_t* points(std::int64_t i) { return points_.data() + i * capacity_; }
    void keep(std::int64_t i, std::int64_t count) { counts_[i] = static_cast<std::int32_t>(count); }

    // Takes queries first … last − 1 of a group, with room for `capacity` candidates each.
    void take(std::int64_t group, std::int64_t first, std::int64_t last, std::int64_t capacity) {
        const auto& s = plan_.search;
        group_ = group, first_ = first, last_ = last, capacity_ = capacity;
        const std::int64_t n = (size() + rows_ - 1) / rows_ * rows_;
        values_.assign(n * s.d, 0.0f);
        squares_.assign(n * s.n_stages, 0.0);
        reject_.assign(n * s.n_stages, -nowhere);
        reach_.assign(n, -1.0f);
        scores_.resize(n * capacity);
        points_.resize(n * capacity);
        counts_.assign(n, 0);
        for (std::int64_t i = 0; i < size(); ++i) {
            const float* q = s.queries.values + query(i) * s.d;
            float* to = values_.data() + i / rows_ * rows_ * s.d + i % rows_;
            double sum = 0;
            int stage = 0;
            for (std::int64_t a = 0; a < s.d; ++a) {
                to[a * rows_] = q[a];
                sum += static_cast<double>(q[a]) * q[a];
                if (a + 1 == s.stages[stage])
                    squares_[stage++ * n + i] = sum;
            }
            for (int t = 0; t < s.n_stages; ++t)
                reject_[t * n + i] = anywhere;
            reach_[i] = std::numeric_limits<float>::max();
        }
        measure_centres();
    }

    double square(std::int64_t i) const { return squares_[squares_.size() - reach_.size() + i]; }

    // From now on query i looks for squared distances (of values) up to `limit` and the error of such.
    void look(std::int64_t i, double limit) {
        limit = std::max(limit, 0.0);
        const double norm = std::sqrt(square(i)), all = limit + plan_.error(norm, norm + std::sqrt(limit));
        const auto n = static_cast<std::int64_t>(reach_.size());
        for (int s = 0; s < plan_.search.n_stages; ++s)
            reject_[s * n + i] = static_cast<float>((squares_[s * n + i] - all) / 2);
        reach_[i] = static_cast<float>(std::sqrt(all) * (1 + 1e-6));
    }

    float lowest_score(std::int64_t i) const { return reject_[reject_.size() - reach_.size() + i]; }

    double exact(std::int64_t i, std::int32_t point) const {
        const auto& s = plan_.search;
        return plan_.squared(s.queries.exact + query(i) * s.wide,
                             s.points.exact + s.points.order[point] * s.wide, s.wide);
    }

    void fetch(std::int32_t point) const {
        const auto& s = plan_.search;
        const auto* row = reinterpret_cast<const char*>(s.points.exact + s.points.order[point] * s.wide);
        for (std::size_t byte = 0; byte < std::min<std::size_t>(256, s.wide * sizeof(T)); byte += 64)
            __builtin_prefetch(row + byte);
    }

    // Visits groups, nearest first. relieve(i) makes room; between groups, settle(visited) may narrow.
    template <class Relieve, class Settle>
    void visit(const Relieve& relieve, const Settle& settle, std::int64_t needed, Watch& watch, bool keeper) {
        const auto& s = plan_.search;
        const std::int64_t fronts = static_cast<std::int64_t>(reach_.size()) / rows_;
        std::int64_t seen = 0;
        for (std::int64_t o = 0; o < s.groups; ++o) {
            const std::int64_t g = order_[o], members = s.points.starts[g + 1] - s.points.starts[g];
            if (members == 0)
                continue;
            if ((o >= s.probes && seen >= needed) || watch.stopped())
                break;
            settle(o);
            for (std::int64_t f = 0; f < fronts; ++f)
                scan(f, g, relieve);
            seen += members;
            if (keeper)
                watch.poll();
        }
    }

private:
    // Squared distances of the queries from all centres, and the order to visit their groups in.
    void measure_centres() {
        const auto& s = plan_.search;
        const auto n = static_cast<std::int64_t>(reach_.size());
        const std::int64_t tiles = (s.groups + tile_width - 1) / tile_width;
        there_.resize(n * s.groups);
        std::vector<float> scores(rows_ * tile_width);
        for (std::int64_t f = 0; f < n; f += rows_)
            for (std::int64_t t = 0; t < tiles; ++t) {
                plan_.with.score(plan_.centres.tiles, values_.data() + f * s.d, t, scores.data());
                for (std::int64_t g = t * tile_width; g < std::min(s.groups, (t + 1) * tile_width); ++g)
                    for (std::int64_t r = 0; r < rows_; ++r)
                        there_[g * n + f + r] = static_cast<float>(
                            std::max(0.0, square(f + r) - 2.0 * scores[r * tile_width + g % tile_width]));
            }
        longest_ = 0;
        for (std::int64_t i = 0; i < size(); ++i)
            longest_ = std::max(longest_, std::sqrt(square(i)));
        apart_.resize(s.groups);
        for (std::int64_t g = 0; g < s.groups; ++g)
            apart_[g] = static_cast<float>(
                std::sqrt(plan_.with.squared_float(s.centres + group_ * s.d, s.centres + g * s.d, s.d)));
        apart_[group_] = -1; // first, whatever the others
        order_.resize(s.groups);
        std::iota(order_.begin(), order_.end(), 0);
        std::sort(order_.begin(), order_.end(),
                  [&](auto a, auto b) { return apart_[a] < apart_[b] || (apart_[a] == apart_[b] && a < b); });
    }

    template <class Relieve> void scan(std::int64_t f, std::int64_t g, const Relieve& relieve) {
        const auto& s = plan_.search;
        const std::int64_t from = f * rows_, to = std::min(size(), from + rows_);
        const auto n = static_cast<std::int64_t>(reach_.size());
        Range range{plan_.points.starts[g], plan_.points.starts[g + 1], 0, std::numeric_limits<float>::max(),
                    static_cast<std::int32_t>(s.points.starts[g])};
        const double own = plan_.centre_norms[group_], its = plan_.centre_norms[g],
                     member = plan_.group_norms[g];
        const double slack = plan_.error(longest_, its);
        const double unsure =
            slack + plan_.error(longest_, own) + plan_.error(member, its) + plan_.error(member, own);
        const Lie lie{there_.data() + g * n + from,
                      there_.data() + group_ * n + from,
                      reach_.data() + from,
                      static_cast<int>(to - from),
                      g == group_ ? std::numeric_limits<float>::max() : 2 * apart_[g] * (1 + 1e-5f),
                      static_cast<float>(unsure),
                      static_cast<float>(slack)};
        if (!plan_.with.reaches(lie, range))
            return;
        Front front;
        front.values = values_.data() + from * s.d;
        for (int t = 0; t < s.n_stages; ++t)
            front.reject[t] = reject_.data() + t * n + from;
        front.scores = scores(from);
        front.points = points(from);
        front.counts = counts_.data() + from;
        front.capacity = capacity_;
        while (range.first < range.last) {
            const std::int64_t next = plan_.with.scan(plan_.points.tiles, front, range);
            range.point += static_cast<std::int32_t>((next - range.first) * tile_width);
            range.first = next;
            for (std::int64_t i = from; i < to; ++i)
                if (counts_[i] > capacity_ - tile_width)
                    relieve(i);
        }
    }

    const Plan<T>& plan_;
    const std::int64_t rows_;
    std::int64_t group_ = 0, first_ = 0, last_ = 0, capacity_ = 0;
    std::vector<float> values_;         // [front][dimension][row]
    std::vector<double> squares_;       // [stage][query]: ‖q‖² up to the end of the stage
    std::vector<float> reject_, reach_; // [stage][query]: least score; [query]: farthest distance
    std::vector<float> there_, apart_; // [group][query]: squared distance from the centre; [group]: from ours
    double longest_ = 0;               // ‖q‖
    std::vector<std::int64_t> order_;
    std::vector<float> scores_;                 // [query][capacity]
    std::vector<std::int32_t> points_, counts_; // [query][capacity] and [query]
};

struct Hit {
    double square;
    std::int32_t point;
    bool operator<(const Hit& other) const {
        return square < other.square || (square == other.square && point < other.point);
    }
};

// Tasks: [first, last) of the queries of a group, not so many that their buffers leave the cache.
struct Task {
    std::int64_t group, first, last;
};

template <class T> std::vector<Task> tasks_of(const Search<T>& s, std::int64_t most) {
    std::vector<Task> out;
    for (std::int64_t g = 0; g < s.groups; ++g)
        for (std::int64_t i = s.queries.starts[g]; i < s.queries.starts[g + 1]; i += most)
            out.push_back({g, i, std::min(i + most, s.queries.starts[g + 1])});
    return out;
}

// Keeps the K best of a query, and narrows where it looks.
template <class T> class Best {
public:
    Best(const Plan<T>& plan, Chunk<T>& chunk, std::int64_t K) : plan_(plan), chunk_(chunk), K_(K) {}

    std::int64_t capacity() const { return std::max(3 * K_, K_ + 128) + tile_width; }

    // Drops what is surely not among the K best, by a score that K or a few more reach.
    void narrow(std::int64_t i) {
        const std::int64_t count = chunk_.count(i);
        if (count <= K_)
            return;
        float* scores = chunk_.scores(i);
        const auto [least, most] = std::minmax_element(scores, scores + count);
        float low = *least, high = *most;
        for (int step = 0; step < 24; ++step) {
            const float middle = low + (high - low) / 2;
            const std::int64_t above = plan_.with.count(scores, count, middle);
            (above >= K_ ? low : high) = middle;
            if (above >= K_ && above <= K_ + K_ / 16)
                break;
        }
        chunk_.look(i, chunk_.square(i) - 2.0 * low);
        chunk_.keep(i, plan_.with.keep(scores, chunk_.points(i), count, chunk_.lowest_score(i)));
    }

    // As narrow, and by exact distances where scores cannot tell enough apart.
    void relieve(std::int64_t i) {
        narrow(i);
        if (chunk_.count(i) <= capacity() - tile_width - 64)
            return;
        hits(i);
        std::nth_element(hits_.begin(), hits_.begin() + (K_ - 1), hits_.end());
        const Hit last = hits_[K_ - 1];
        float* scores = chunk_.scores(i);
        std::int32_t* points = chunk_.points(i);
        std::int64_t kept = 0;
        for (std::int64_t j = 0; j < chunk_.count(i); ++j)
            if (!(last < hit(i, points[j]))) {
                scores[kept] = scores[j];
                points[kept++] = points[j];
            }
        chunk_.keep(i, kept);
    }

    void write(std::int64_t i, std::int64_t k, std::int32_t* indices, float* distances) {
        narrow(i);
        hits(i);
        std::sort(hits_.begin(), hits_.end());
        const std::int64_t query = chunk_.query(i);
        for (std::int64_t j = 0, out = 0; out < k; ++j) {
            if (plan_.search.itself && hits_[j].point == query)
                continue;
            indices[query * k + out] = hits_[j].point;
            distances[query * k + out++] = static_cast<float>(std::sqrt(hits_[j].square));
        }
    }

private:
    Hit hit(std::int64_t i, std::int32_t point) const {
        return {chunk_.exact(i, point), plan_.search.points.order[point]};
    }

    void hits(std::int64_t i) {
        constexpr std::int64_t ahead = 4;
        const std::int32_t* points = chunk_.points(i);
        hits_.clear();
        for (std::int64_t j = 0; j < chunk_.count(i); ++j) {
            if (j + ahead < chunk_.count(i))
                chunk_.fetch(points[j + ahead]);
            hits_.push_back(hit(i, points[j]));
        }
    }

    const Plan<T>& plan_;
    Chunk<T>& chunk_;
    const std::int64_t K_;
    std::vector<Hit> hits_;
};

} // namespace

template <class T>
void nearest(const Search<T>& search, std::int64_t k, std::int32_t* indices, float* distances, int n_threads,
             Watch& watch) {
    const Plan<T> plan(search, n_threads);
    const std::int64_t K = k + (search.itself ? 1 : 0);
    const std::int64_t most = plan.with.rows * std::max<std::int64_t>(1, 240 / plan.with.rows);
    const auto tasks = tasks_of(search, most);
#pragma omp parallel num_threads(n_threads)
    {
        Chunk<T> chunk(plan);
        Best<T> best(plan, chunk, K);
        const bool keeper = omp_get_thread_num() == 0;
#pragma omp for schedule(dynamic, 1)
        for (std::size_t t = 0; t < tasks.size(); ++t) {
            if (watch.stopped())
                continue;
            const auto [group, first, last] = tasks[t];
            chunk.take(group, first, last, best.capacity());
            chunk.visit([&](std::int64_t i) { best.relieve(i); },
                        [&](std::int64_t visited) { // often at first, when there is most to gain
                            if (visited <= 64 && (visited & (visited - 1)) == 0)
                                for (std::int64_t i = 0; i < chunk.size(); ++i)
                                    best.narrow(i);
                        },
                        K, watch, keeper);
            if (watch.stopped())
                continue;
            for (std::int64_t i = 0; i < chunk.size(); ++i)
                best.write(i, k, indices, distances);
            watch.advance(last - first);
        }
    }
}

template <class T> Reached within(const Search<T>& search, double radius, int n_threads, Watch& watch) {
    const Plan<T> plan(search, n_threads);
    const double scaled = radius * radius * search.scale * search.scale;
    const std::int64_t most = plan.with.rows * std::max<std::int64_t>(1, 240 / plan.with.rows);
    const auto tasks = tasks_of(search, most);
    std::vector<std::vector<Hit>> rows(search.queries.count);
#pragma omp parallel num_threads(n_threads)
    {
        Chunk<T> chunk(plan);
        const bool keeper = omp_get_thread_num() == 0;
#pragma omp for schedule(dynamic, 1)
        for (std::size_t t = 0; t < tasks.size(); ++t) {
            if (watch.stopped())
                continue;
            const auto [group, first, last] = tasks[t];
            chunk.take(group, first, last, 128 + tile_width);
            for (std::int64_t i = 0; i < chunk.size(); ++i)
                chunk.look(i, scaled);
            const auto relieve = [&](std::int64_t i) {
                auto& row = rows[chunk.query(i)];
                for (std::int64_t j = 0; j < chunk.count(i); ++j) {
                    const std::int32_t point = chunk.points(i)[j], index = search.points.order[point];
                    const double square = chunk.exact(i, point);
                    if (std::sqrt(square) <= radius && !(search.itself && index == chunk.query(i)))
                        row.push_back({square, index});
                }
                chunk.keep(i, 0);
            };
            chunk.visit(relieve, [](std::int64_t) {}, 0, watch, keeper);
            for (std::int64_t i = 0; i < chunk.size(); ++i) {
                relieve(i);
                std::sort(rows[chunk.query(i)].begin(), rows[chunk.query(i)].end());
            }
            watch.advance(last - first);
        }
    }
    Reached out;
    for (auto& row : rows) {
        out.counts.push_back(static_cast<std::int64_t>(row.size()));
        for (const Hit& hit : row) {
            out.indices.push_back(hit.point);
            out.distances.push_back(static_cast<float>(std::sqrt(hit.square)));
        }
        std::vector<Hit>().swap(row);
    }
    return out;
}

template <class T>
void smallest(const T* D, std::int64_t rows, std::int64_t cols, std::ptrdiff_t stride,
              const std::int32_t* skip, std::int64_t k, std::int32_t* indices, T* values, int n_threads,
              Watch& watch) {
    struct Entry {
        T value;
        std::int32_t column;
        bool operator<(const Entry& other) const {
            return value < other.value || (value == other.value && column < other.column);
        }
    };
    const auto capacity = static_cast<std::size_t>(std::max(2 * k, k + 256));
#pragma omp parallel num_threads(n_threads)
    {
        std::vector<Entry> kept;
        kept.reserve(capacity);
#pragma omp for schedule(dynamic, 4)
        for (std::int64_t i = 0; i < rows; ++i) {
            if (watch.stopped())
                continue;
            const T* row = D + i * stride;
            kept.clear();
            T worst = std::numeric_limits<T>::infinity();
            const auto thin = [&] {
                std::nth_element(kept.begin(), kept.begin() + (k - 1), kept.end());
                kept.resize(k);
                worst = kept.back().value;
            };
            for (std::int64_t j = 0; j < cols; ++j) {
                if (!(row[j] <= worst) || (skip != nullptr && skip[i] == j))
                    continue;
                kept.push_back({row[j], static_cast<std::int32_t>(j)});
                if (kept.size() == capacity)
                    thin();
            }
            if (kept.size() > static_cast<std::size_t>(k))
                thin();
            std::sort(kept.begin(), kept.end());
            for (std::int64_t j = 0; j < k; ++j) {
                indices[i * k + j] = kept[j].column;
                values[i * k + j] = kept[j].value;
            }
            watch.advance(1);
            if (omp_get_thread_num() == 0)
                watch.poll();
        }
    }
}

template void nearest(const Search<float>&, std::int64_t, std::int32_t*, float*, int, Watch&);
template void nearest(const Search<double>&, std::int64_t, std::int32_t*, float*, int, Watch&);
template Reached within(const Search<float>&, double, int, Watch&);
template Reached within(const Search<double>&, double, int, Watch&);
template void smallest(const float*, std::int64_t, std::int64_t, std::ptrdiff_t, const std::int32_t*,
                       std::int64_t, std::int32_t*, float*, int, Watch&);
template void smallest(const double*, std::int64_t, std::int64_t, std::ptrdiff_t, const std::int32_t*,
                       std::int64_t, std::int32_t*, double*, int, Watch&);

} // namespace lowdim
