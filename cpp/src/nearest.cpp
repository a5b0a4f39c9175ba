// Exact neighbours. Queries of one group are a task: they visit the groups of points nearest first, so that
// what they keep is near early, and skip groups, tiles and later dimensions that cannot hold anything nearer.
// Scores are float32 with a bound on their error; what comes within it is measured in double. So the answer
// is exact, and the same for any grouping, instruction set and number of threads.
#include "nearest_chunk.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace lowdim {
namespace {

using namespace detail;

// Keeps the K best of a query, and narrows where it looks.
template <class T> class Best {
public:
    Best(const SearchPlan<T>& plan, QueryChunk<T>& chunk, std::int64_t K)
        : plan_(plan), chunk_(chunk), K_(K) {}

    std::int64_t capacity() const { return std::max(3 * K_, K_ + 128) + tile_width; }

    // Drops what is surely not among the K best, by a score that K or a few more reach.
    void narrow(std::int64_t i) {
        const std::int64_t count = chunk_.count(i);
        if (count <= K_)
            return;
        float* scores = chunk_.scores(i);
        float low, high;
        plan_.with.range(scores, count, low, high);
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

    const SearchPlan<T>& plan_;
    QueryChunk<T>& chunk_;
    const std::int64_t K_;
    std::vector<Hit> hits_;
};

} // namespace

template <class T>
void nearest(const Search<T>& search, std::int64_t k, std::int32_t* indices, float* distances, int n_threads,
             Watch& watch) {
    const SearchPlan<T> plan(search, n_threads, watch);
    const std::int64_t K = k + (search.itself ? 1 : 0);
    each_task(plan, n_threads, watch, [&](QueryChunk<T>& chunk, const QueryTask& task) {
        Best<T> best(plan, chunk, K);
        chunk.take(task, best.capacity());
        chunk.visit([&](std::int64_t i) { best.relieve(i); },
                    [&](std::int64_t visited) { // often at first, when there is most to gain
                        if (visited <= 64 && (visited & (visited - 1)) == 0)
                            for (std::int64_t i = 0; i < chunk.size(); ++i)
                                best.narrow(i);
                    },
                    watch);
        for (std::int64_t i = 0; i < chunk.size() && !watch.stopped(); ++i)
            best.write(i, k, indices, distances);
    });
}

template void nearest(const Search<float>&, std::int64_t, std::int32_t*, float*, int, Watch&);
template void nearest(const Search<double>&, std::int64_t, std::int32_t*, float*, int, Watch&);

} // namespace lowdim
