// Maps of a table: the steps of the Python classes TSNE, UMAP and PaCMAP, and their new rows.
#include "engine.hpp"

#include <lowdim/cross_entropy.hpp>
#include <lowdim/descent.hpp>
#include <lowdim/fuzzy.hpp>
#include <lowdim/nearest.hpp>
#include <lowdim/pair_descent.hpp>
#include <lowdim/ranks.hpp>
#include <lowdim/repulsion.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lowdim::wasm {
namespace {

// Of starts, see lowdim/compose/layout.py.
constexpr double start_size = 1e-4, tilt = 1e-3, noise = 1e-2;
// Of t-SNE, see lowdim/solve/divergence.py.
constexpr double spacing = 0.42, fine_spacing = 0.33, finest_spacing = 0.25, progress = 1e-5;
// Exact sums up to fewer rows than there, since vectors are short here.
constexpr std::int64_t few_rows = 800, exact_rows = 20'000;
// Of UMAP, see lowdim/methods/umap.py and lowdim/solve/cross_entropy.py.
constexpr double umap_width = 10, umap_rate = 2;
constexpr std::int64_t umap_shifts = 16, sampled_shifts = 512, many_epochs_to = 10'000;
// All pairs of fewer rows than there: logarithms of 10,000 take as long here as the descent.
constexpr std::int64_t exact_losses = 5'000;
// Of PaCMAP, see lowdim/methods/pacmap.py and lowdim/relate/pairs.py.
constexpr std::int64_t extra_neighbors = 50, widest_rows = 100, candidates = 6;
constexpr double pacmap_size = 0.01, least_scale = 1e-10;
// Of new rows, see lowdim/solve/descent.py, lowdim/relate/affinities.py and lowdim/relate/trust.py.
constexpr std::int64_t placing_steps = 100, others = 2048, trust_neighbors = 15;
// Bytes of a neighbour, its share of the graph included.
constexpr double each_neighbor = 48;
constexpr double nearest_perplexity = 3, nearest_share = 0.25;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

double auto_perplexity(std::int64_t n) {
    return std::max(1.0, std::min(30.0, static_cast<double>(n - 1) / 3));
}

std::int64_t neighbors_for(double perplexity, std::int64_t n) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(3 * perplexity)), 1, n - 1);
}

double perplexity_of(const Settings& settings, std::int64_t n) {
    if (settings.perplexity == 0)
        return auto_perplexity(n);
    if (!(settings.perplexity >= 1 && settings.perplexity <= static_cast<double>(n - 1)))
        throw Refusal{"The perplexity must be from 1 to the rows less one, " + std::to_string(n - 1) +
                      ". Lower it, or take more rows."};
    return settings.perplexity;
}

std::int64_t count_neighbors(const Settings& settings, std::int64_t usual, std::int64_t least,
                             std::int64_t most) {
    if (settings.n_neighbors == 0)
        return usual;
    const auto given = static_cast<std::int64_t>(settings.n_neighbors);
    if (given < least || given > most)
        throw Refusal{"The number of neighbours must be from " + std::to_string(least) + " to " +
                      std::to_string(most) + " for so many rows. Change it, or take more rows."};
    return given;
}

std::int64_t umap_neighbors(const Settings& settings, std::int64_t n) {
    return count_neighbors(settings, std::max<std::int64_t>(2, std::min<std::int64_t>(15, n - 1)), 2, n);
}

std::int64_t pacmap_neighbors(const Settings& settings, std::int64_t n) {
    return count_neighbors(settings, std::max<std::int64_t>(1, std::min<std::int64_t>(10, (n - 1) / 2)), 1,
                           n - 2);
}

// Centred, of standard deviation `size`, with a little noise along what has no extent.
void size_start(float* Y, std::int64_t n, double size, Random& random) {
    double spread[2] = {};
    for (std::int64_t c = 0; c < 2; ++c) {
        double mean = 0;
        for (std::int64_t i = 0; i < n; ++i)
            mean += Y[2 * i + c];
        mean /= static_cast<double>(n);
        for (std::int64_t i = 0; i < n; ++i) {
            Y[2 * i + c] -= static_cast<float>(mean);
            spread[c] += static_cast<double>(Y[2 * i + c]) * Y[2 * i + c];
        }
        spread[c] = std::sqrt(spread[c] / static_cast<double>(n));
    }
    const double widest = std::max(spread[0], spread[1]);
    for (std::int64_t i = 0; i < 2 * n; ++i)
        Y[i] = widest > 0 ? static_cast<float>(Y[i] * (size / widest)) : 0.0f;
    for (std::int64_t c = 0; c < 2; ++c)
        if (spread[c] <= 1e-6 * widest && spread[1 - c] > 1e-6 * widest)
            for (std::int64_t i = 0; i < n; ++i)
                Y[2 * i + c] = static_cast<float>(size * noise * random.normal());
}

void principal_start(const Table& table, float* Y, double size, Random& random) {
    const std::int64_t there = std::min<std::int64_t>(2, table.axes());
    std::vector<double> axes, found(at(table.n * there));
    for (std::int64_t j = 0; j < there; ++j)
        for (std::int64_t c = 0; c < table.d; ++c)
            axes.push_back(table.axis(j)[c] + tilt / std::sqrt(static_cast<double>(table.d)) *
                                                  random.normal() * (table.variances()[at(j)] > 0 ? 1 : 0));
    table.scores(table.X.data(), table.n, axes, found.data());
    for (std::int64_t i = 0; i < table.n; ++i)
        for (std::int64_t c = 0; c < 2; ++c)
            Y[2 * i + c] = c < there ? static_cast<float>(found[at(i * there + c)]) : 0;
    size_start(Y, table.n, size, random);
}

// Equal rows share a place: that of the first of them before a descent, the mean after it.
void share_places(Table& table, float* Y, bool after) {
    const auto& first = table.first_equal();
    std::vector<double> sums(at(2 * table.n));
    std::vector<std::int64_t> counts(at(table.n));
    for (std::int64_t i = 0; i < table.n; ++i) {
        const std::int64_t f = first[at(i)];
        if (after || f == i)
            for (std::int64_t c = 0; c < 2; ++c)
                sums[at(2 * f + c)] += Y[2 * i + c];
        counts[at(f)] += after || f == i;
    }
    for (std::int64_t i = 0; i < table.n; ++i)
        if (const std::int64_t f = first[at(i)]; counts[at(f)] > 1 || f != i)
            for (std::int64_t c = 0; c < 2; ++c)
                Y[2 * i + c] = static_cast<float>(sums[at(2 * f + c)] / static_cast<double>(counts[at(f)]));
}

void centre(float* Y, std::int64_t n) {
    for (std::int64_t c = 0; c < 2; ++c) {
        double mean = 0;
        for (std::int64_t i = 0; i < n; ++i)
            mean += Y[2 * i + c];
        for (std::int64_t i = 0; i < n; ++i)
            Y[2 * i + c] -= static_cast<float>(mean / static_cast<double>(n));
    }
}

struct Running {
    int n_threads;
    const Tell& tell;

    template <class Do> void stage(Stage which, std::int64_t total, const Do& work) const {
        Watch watch = watching(tell, which, total);
        if (tell(which, 0, total, 0.0, nullptr))
            throw Refusal{"Stopped."};
        work(watch);
        if (watch.stopped())
            throw Refusal{"Stopped."};
    }
};

// The descent itself: what it calls back with goes to the page, and a stop there ends it with the map so far.
template <class Do>
std::int64_t descend_watched(const Running& running, std::int64_t total, double unit, std::int64_t n,
                             const Do& work) {
    std::vector<float> shown;
    Watch watch; // stops come by the report, after which the map is whole
    return work(
        [&](std::int64_t done, double loss, const float* Y) {
            if (unit != 1) {
                shown.assign(Y, Y + 2 * n);
                for (float& y : shown)
                    y *= static_cast<float>(unit);
                Y = shown.data();
            }
            return running.tell(Stage::descent, done, total, loss, Y);
        },
        watch);
}

double divergence(const Affinities& P, const float* Y, int n_threads, Watch& watch) {
    const std::int64_t n = P.rows;
    std::vector<double> costs(at(n)), entropy(at(n));
    attraction_costs(P, Y, 2, Falloff{}, costs.data(), n_threads, watch);
    entropies(P, entropy.data(), n_threads, watch);
    std::vector<float> forces(at(2 * n));
    double Z = 0;
    if (n <= exact_rows) {
        std::vector<double> phi(at(n));
        repel_exactly(Y, n, Y, n, 2, Falloff{}, forces.data(), phi.data(), n_threads, watch);
        for (const double one : phi)
            Z += one - 1;
    } else {
        Z = (*make_repulsion(Repel::by_grid, 2, Falloff{}, 0.2, finest_spacing))(Y, n, forces.data(), nullptr,
                                                                                 n_threads, watch);
    }
    return std::accumulate(costs.begin(), costs.end(), 0.0) +
           std::accumulate(entropy.begin(), entropy.end(), 0.0) + std::log(Z);
}

Made by_tsne(Table& table, const Settings& settings, float* Y, const Running& running) {
    const std::int64_t n = table.n;
    const double asked = perplexity_of(settings, n);
    const std::int64_t k = neighbors_for(asked, n);
    demand_room(each_neighbor * static_cast<double>(n) * static_cast<double>(k));
    SparseRows P;
    const Near* near = nullptr;
    running.stage(Stage::neighbors, n,
                  [&](Watch& watch) { near = &table.near(k, running.n_threads, watch); });
    running.stage(Stage::graph, 0, [&](Watch& watch) {
        std::vector<float> p(at(n * k)), reached(at(n)), distances(at(n * k));
        std::vector<std::int32_t> indices(at(n * k));
        for (std::int64_t i = 0; i < n; ++i) {
            std::copy_n(near->distances.data() + i * near->k, k, distances.data() + i * k);
            std::copy_n(near->indices.data() + i * near->k, k, indices.data() + i * k);
        }
        perplexity<float>({distances.data(), n, k}, {asked}, p.data(), reached.data(), running.n_threads,
                          watch);
        P = symmetrize(indices.data(), p.data(), n, k, running.n_threads, watch);
    });
    Random random(static_cast<std::uint64_t>(settings.seed));
    if (!settings.continued)
        principal_start(table, Y, start_size, random);
    share_places(table, Y, false);
    const Affinities A{P.starts.data(), P.columns.get(), P.values.get(), n};
    DescentPlan plan;
    plan.repel = n > few_rows ? Repel::by_grid : Repel::exactly;
    plan.spacing = spacing;
    plan.fine_spacing = fine_spacing;
    plan.iterations = settings.iterations > 0 ? static_cast<std::int64_t>(settings.iterations) : 750;
    plan.exaggerated = settings.continued ? 0 : std::min<std::int64_t>(250, plan.iterations / 2);
    plan.exaggeration = settings.early_exaggeration;
    plan.late = settings.exaggeration;
    plan.every = static_cast<std::int64_t>(settings.every);
    plan.progress = progress;
    Made made;
    made.neighbors = asked;
    made.iterations =
        descend_watched(running, plan.iterations, 1, n, [&](const Report& report, Watch& watch) {
            return descend(A, Y, 2, plan, report, running.n_threads, watch);
        });
    share_places(table, Y, true);
    running.stage(Stage::scores, 0,
                  [&](Watch& watch) { made.loss = divergence(A, Y, running.n_threads, watch); });
    return made;
}

double typical_distance(const std::vector<float>& distances, std::int64_t n, std::int64_t k) {
    return std::accumulate(distances.begin(), distances.end(), 0.0) / static_cast<double>(n * k) *
           static_cast<double>(k) / static_cast<double>(k + 1);
}

// The first k neighbours of each row.
Near first_of(const Near& near, std::int64_t n, std::int64_t k) {
    Near out{k, std::vector<std::int32_t>(at(n * k)), std::vector<float>(at(n * k))};
    for (std::int64_t i = 0; i < n; ++i) {
        std::copy_n(near.distances.data() + i * near.k, k, out.distances.data() + i * k);
        std::copy_n(near.indices.data() + i * near.k, k, out.indices.data() + i * k);
    }
    return out;
}

std::vector<float> memberships_of(const Near& near, std::int64_t rows, double typical, int n_threads,
                                  Watch& watch) {
    std::vector<float> v(near.distances.size()), rho(at(rows)), sigma(at(rows));
    const auto k = static_cast<double>(near.k);
    memberships<float>({near.distances.data(), rows, near.k}, {std::min(1.0, k), std::log2(k + 1), typical},
                       v.data(), rho.data(), sigma.data(), n_threads, watch);
    return v;
}

double cross_entropy_of(const Affinities& V, const float* Y, const Curve& curve, double negatives,
                        Random& random, int n_threads, Watch& watch) {
    const std::int64_t n = V.rows;
    std::vector<std::int32_t> order(at(n)), shifts;
    std::iota(order.begin(), order.end(), 0);
    const bool exact = n <= exact_losses;
    for (std::int64_t s = 1; exact && s <= n / 2; ++s)
        shifts.push_back(static_cast<std::int32_t>(s));
    for (std::int64_t s = 0; !exact && s < sampled_shifts; ++s)
        shifts.push_back(1 + random.below(n - 1));
    std::vector<double> attraction(at(n)), repulsion(shifts.size());
    cross_entropy(V, Y, 2, curve, {order.data(), shifts.data(), static_cast<std::int64_t>(shifts.size())},
                  attraction.data(), repulsion.data(), n_threads, watch);
    double sum = 0;
    for (std::size_t s = 0; s < shifts.size(); ++s)
        sum += repulsion[s] * (!exact || 2 * shifts[s] == n ? 1 : 2);
    const double mean = sum / static_cast<double>(exact ? n - 1 : static_cast<std::int64_t>(shifts.size()));
    return std::accumulate(attraction.begin(), attraction.end(), 0.0) +
           negatives * static_cast<double>(n - 1) * mean;
}

Made by_umap(Table& table, const Settings& settings, float* Y, const Running& running) {
    const std::int64_t n = table.n;
    if (!(settings.min_dist >= 0 && settings.min_dist <= settings.spread))
        throw Refusal{"min_dist must be from 0 to spread. Lower it, or raise spread."};
    const std::int64_t own = umap_neighbors(settings, n), k = own - 1;
    demand_room(each_neighbor * static_cast<double>(n) * static_cast<double>(k));
    SparseRows V;
    const Near* found = nullptr;
    running.stage(Stage::neighbors, n,
                  [&](Watch& watch) { found = &table.near(k, running.n_threads, watch); });
    const Near near = first_of(*found, n, k);
    running.stage(Stage::graph, 0, [&](Watch& watch) {
        const auto v =
            memberships_of(near, n, typical_distance(near.distances, n, k), running.n_threads, watch);
        V = fuzzy_union(near.indices.data(), v.data(), n, k, 1.0, running.n_threads, watch);
    });
    Made made;
    made.neighbors = static_cast<double>(own);
    Random random(static_cast<std::uint64_t>(settings.seed));
    if (!settings.continued)
        running.stage(Stage::start, 0, [&](Watch& watch) {
            made.spectral = spectral_start(V, Y, running.n_threads, watch);
            if (!made.spectral)
                principal_start(table, Y, 1, random);
            else
                size_start(Y, n, 1, random);
            float low[2] = {Y[0], Y[1]}, high[2] = {Y[0], Y[1]};
            for (std::int64_t i = 0; i < 2 * n; ++i) {
                low[i % 2] = std::min(low[i % 2], Y[i]);
                high[i % 2] = std::max(high[i % 2], Y[i]);
            }
            const float extent = std::max(high[0] - low[0], high[1] - low[1]);
            for (std::int64_t i = 0; i < 2 * n && extent > 0; ++i)
                Y[i] *= static_cast<float>(umap_width * settings.spread) / extent;
        });
    share_places(table, Y, false);
    EpochPlan plan;
    plan.curve = fitted_curve(settings.min_dist / settings.spread);
    plan.negatives = settings.negative_sample_rate * settings.repulsion_strength; // both ends are pushed
    plan.rate = umap_rate;
    plan.epochs = settings.iterations > 0 ? static_cast<std::int64_t>(settings.iterations)
                  : n <= many_epochs_to   ? 500
                                          : 200;
    plan.every = static_cast<std::int64_t>(settings.every);
    const std::int64_t each = std::min(umap_shifts, n - 1);
    auto order = random.permutation(n);
    std::vector<std::int32_t> shifts(at(plan.epochs * each));
    for (std::int64_t e = 0; e < plan.epochs; ++e)
        for (std::int64_t s = 0; s < each; ++s)
            shifts[at(e * each + s)] =
                n - 1 <= umap_shifts ? static_cast<std::int32_t>(s + 1) : 1 + random.below(n - 1);
    const Affinities A{V.starts.data(), V.columns.get(), V.values.get(), n};
    const auto unit = static_cast<float>(settings.spread);
    for (std::int64_t i = 0; i < 2 * n; ++i)
        Y[i] /= unit;
    made.iterations =
        descend_watched(running, plan.epochs, settings.spread, n, [&](const Report& report, Watch& watch) {
            return lower_cross_entropy(A, Y, 2, plan, {order.data(), shifts.data(), each}, report,
                                       running.n_threads, watch);
        });
    share_places(table, Y, true);
    running.stage(Stage::scores, 0, [&](Watch& watch) {
        made.loss = cross_entropy_of(A, Y, plan.curve, plan.negatives, random, running.n_threads, watch);
    });
    for (std::int64_t i = 0; i < 2 * n; ++i)
        Y[i] *= unit;
    return made;
}

// Mean distance of the fourth to sixth neighbour, or of the last.
std::vector<double> scales_of(const Near& near, std::int64_t rows) {
    std::vector<double> out(at(rows));
    for (std::int64_t i = 0; i < rows; ++i) {
        const float* row = near.distances.data() + i * near.k;
        const std::int64_t to = std::min<std::int64_t>(6, near.k), from = near.k > 3 ? 3 : near.k - 1;
        out[at(i)] = std::max(least_scale,
                              std::accumulate(row + from, row + to, 0.0) / static_cast<double>(to - from));
    }
    return out;
}

// Columns (rows × k) of the neighbours with the smallest d² over the scales of both rows.
std::vector<std::int32_t> by_scale(const Near& near, std::int64_t rows, const std::vector<double>& own,
                                   const std::vector<double>& theirs, std::int64_t k, int n_threads,
                                   Watch& watch) {
    std::vector<float> scaled(near.distances.size()), values(at(rows * k));
    for (std::int64_t i = 0; i < rows; ++i) {
        const auto scale = static_cast<float>(own[at(i)]);
        for (std::int64_t j = i * near.k; j < (i + 1) * near.k; ++j) {
            const float d = near.distances[at(j)] / scale;
            scaled[at(j)] = d * d * (scale / static_cast<float>(theirs[at(near.indices[at(j)])]));
        }
    }
    std::vector<std::int32_t> columns(at(rows * k));
    smallest<float>(scaled.data(), rows, near.k, near.k, nullptr, k, columns.data(), values.data(), n_threads,
                    watch);
    return columns;
}

struct Counts {
    std::int64_t near, mid, further;
};

Counts pacmap_counts(const Settings& settings, std::int64_t n) {
    const std::int64_t own = pacmap_neighbors(settings, n);
    return {own, std::llround(static_cast<double>(own) * settings.MN_ratio),
            std::llround(static_cast<double>(own) * settings.FP_ratio)};
}

// Rows as PaCMAP sees them: themselves, or their scores on 100 principal axes.
std::vector<float> narrowed(const Table& table, const float* rows, std::int64_t count) {
    std::vector<float> out(at(count * widest_rows));
    table.scores(rows, count, widest_rows, out.data());
    return out;
}

bool is_wide(const Table& table) { return std::min(table.n, table.d) > widest_rows; }

Made by_pacmap(Table& table, const Settings& settings, float* Y, const Running& running) {
    const std::int64_t n = table.n;
    const Counts counts = pacmap_counts(settings, n);
    const std::int64_t k = std::min(n - 1, counts.near + extra_neighbors);
    demand_room(each_neighbor * static_cast<double>(n) * static_cast<double>(k));
    std::optional<Table> narrow;
    if (is_wide(table)) {
        narrow.emplace(n, widest_rows);
        const auto scores = narrowed(table, table.X.data(), n);
        std::copy(scores.begin(), scores.end(), narrow->X.data());
        Watch watch;
        narrow->prepare(running.n_threads, watch);
    }
    Table& rows = narrow ? *narrow : table;
    const Near* found = nullptr;
    running.stage(Stage::neighbors, n,
                  [&](Watch& watch) { found = &rows.near(k, running.n_threads, watch); });
    const Near near = first_of(*found, n, k);
    Random random(static_cast<std::uint64_t>(settings.seed));
    std::vector<std::int32_t> own(at(n * counts.near)), mid(at(n * counts.mid)),
        further(at(n * counts.further));
    running.stage(Stage::graph, 0, [&](Watch& watch) {
        const auto scales = scales_of(near, n);
        const auto columns = by_scale(near, n, scales, scales, counts.near, running.n_threads, watch);
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = i * counts.near; j < (i + 1) * counts.near; ++j)
                own[at(j)] = near.indices[at(i * k + columns[at(j)])];
        const std::int64_t few = std::min(candidates, n - 1), each = counts.mid * few;
        std::vector<std::int32_t> drawn(at(n * each));
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = i * each; j < (i + 1) * each; ++j) {
                drawn[at(j)] = random.below(n - 1);
                drawn[at(j)] += drawn[at(j)] >= i;
            }
        std::vector<double> apart(at(n * each)), values(at(2 * n * counts.mid));
        std::vector<std::int32_t> two(at(2 * n * counts.mid));
        if (each > 0) {
            squared_distances<float>({rows.X.data(), n, rows.d, static_cast<std::ptrdiff_t>(rows.d)},
                                     {nullptr, n}, drawn.data(), each, apart.data(), running.n_threads,
                                     watch);
            const std::int64_t kept = std::min<std::int64_t>(2, few);
            smallest<double>(apart.data(), n * counts.mid, few, few, nullptr, kept, two.data(), values.data(),
                             running.n_threads, watch);
            for (std::int64_t r = 0; r < n * counts.mid; ++r)
                mid[at(r)] = drawn[at(r * few + two[at(r * kept + kept - 1)])];
        }
        std::vector<std::int32_t> out(at(counts.near + 1));
        for (std::int64_t i = 0; i < n; ++i) {
            std::copy_n(own.data() + i * counts.near, counts.near, out.data());
            out.back() = static_cast<std::int32_t>(i);
            std::sort(out.begin(), out.end());
            for (std::int64_t j = i * counts.further; j < (i + 1) * counts.further; ++j) {
                std::int32_t one = random.below(n - 1 - counts.near); // among those that are not near
                for (const std::int32_t not_this : out)
                    one += one >= not_this;
                further[at(j)] = one;
            }
        }
    });
    if (!settings.continued)
        principal_start(table, Y, pacmap_size, random);
    share_places(table, Y, false);
    std::vector<std::int32_t> order(at(n));
    std::iota(order.begin(), order.end(), 0);
    const Pairs pairs{{own.data(), counts.near},
                      {mid.data(), counts.mid},
                      {further.data(), counts.further},
                      {order.data(), nullptr, nullptr, 0, 0},
                      n};
    PairPlan plan;
    plan.iterations = settings.iterations > 0 ? static_cast<std::int64_t>(settings.iterations) : 450;
    plan.every = static_cast<std::int64_t>(settings.every);
    plan.phased = !settings.continued;
    Made made;
    made.neighbors = static_cast<double>(counts.near);
    made.iterations =
        descend_watched(running, plan.iterations, 1, n, [&](const Report& report, Watch& watch) {
            return lower_pairs(pairs, Y, 2, plan, report, running.n_threads, watch);
        });
    share_places(table, Y, true);
    running.stage(Stage::scores, 0, [&](Watch& watch) {
        const double weights[3] = {1, 0, 1};
        std::vector<double> points(at(n));
        std::vector<float> gradient(at(2 * n));
        pair_loss(pairs, Y, 2, weights, 0, points.data(), gradient.data(), running.n_threads, watch);
        made.loss = std::accumulate(points.begin(), points.end(), 0.0);
    });
    return made;
}

// More weight on the nearest: see lowdim/relate/affinities.py.
void favour_nearest(const Near& near, std::int64_t m, std::vector<float>& weights, int n_threads,
                    Watch& watch) {
    std::vector<float> p(weights.size()), reached(at(m));
    const double most = std::min(nearest_perplexity, static_cast<double>(near.k));
    perplexity<float>({near.distances.data(), m, near.k}, {most}, p.data(), reached.data(), n_threads, watch);
    for (std::int64_t i = 0; i < m; ++i) {
        float* row = weights.data() + i * near.k;
        const auto sum = static_cast<float>(std::accumulate(row, row + near.k, 0.0));
        for (std::int64_t j = 0; j < near.k; ++j)
            row[j] = static_cast<float>(1 - nearest_share) * row[j] +
                     static_cast<float>(nearest_share) * sum * p[at(i * near.k + j)];
    }
}

// Mean distance of the places of some rows from their median place.
double spread_of(const float* Y, const std::int32_t* rows, std::int64_t k) {
    std::vector<double> x(at(k)), y(at(k));
    for (std::int64_t j = 0; j < k; ++j) {
        x[at(j)] = Y[2 * rows[j]];
        y[at(j)] = Y[2 * rows[j] + 1];
    }
    const auto middle = [&](std::vector<double> values) {
        std::sort(values.begin(), values.end());
        return (values[at((k - 1) / 2)] + values[at(k / 2)]) / 2;
    };
    const double a = middle(x), b = middle(y);
    double sum = 0;
    for (std::int64_t j = 0; j < k; ++j)
        sum += std::hypot(x[at(j)] - a, y[at(j)] - b);
    return sum / static_cast<double>(k);
}

std::vector<double> sorted(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values;
}

// Share of ascending values that are at least as large.
double share_above(const std::vector<double>& ascending, double value) {
    const auto first = std::lower_bound(ascending.begin(), ascending.end(), value * (1 - 1e-12));
    return 1 - static_cast<double>(first - ascending.begin()) / static_cast<double>(ascending.size());
}

void trust_in(std::int64_t n, const Near& own, const Near& near, std::int64_t m, const float* Y,
              float* trust) {
    const std::int64_t k = std::min(own.k, trust_neighbors);
    const auto mean = [&](const Near& of, std::int64_t i) {
        const float* row = of.distances.data() + i * of.k;
        return std::accumulate(row, row + k, 0.0) / static_cast<double>(k);
    };
    std::vector<double> spacing(at(n)), loose(at(n)), spread(at(n)), worse(at(n));
    for (std::int64_t i = 0; i < n; ++i)
        spacing[at(i)] = mean(own, i);
    const double average = std::accumulate(spacing.begin(), spacing.end(), 0.0) / static_cast<double>(n);
    const double least = average > 0 ? 0x1p-23 * average : 1;
    const auto looseness = [&](const Near& of, std::int64_t i, double distance) {
        double theirs = 0;
        for (std::int64_t j = 0; j < k; ++j)
            theirs += spacing[at(of.indices[at(i * of.k + j)])];
        return (distance + least) / (theirs / static_cast<double>(k) + least);
    };
    for (std::int64_t i = 0; i < n; ++i) {
        loose[at(i)] = looseness(own, i, spacing[at(i)]);
        spread[at(i)] = spread_of(Y, own.indices.data() + i * own.k, k);
    }
    const auto by_loose = sorted(loose), by_spread = sorted(spread);
    for (std::int64_t i = 0; i < n; ++i)
        worse[at(i)] = std::min(share_above(by_loose, loose[at(i)]), share_above(by_spread, spread[at(i)]));
    const auto by_worse = sorted(worse);
    for (std::int64_t i = 0; i < m; ++i) {
        const double both =
            std::min(share_above(by_loose, looseness(near, i, mean(near, i))),
                     share_above(by_spread, spread_of(Y, near.indices.data() + i * near.k, k)));
        const auto last = std::upper_bound(by_worse.begin(), by_worse.end(), both * (1 + 1e-12));
        trust[i] = static_cast<float>(static_cast<double>(last - by_worse.begin()) / static_cast<double>(n));
    }
}

} // namespace

Made embed(Table& table, const Settings& settings, float* Y, int n_threads, const Tell& tell) {
    if (table.n < 4)
        throw Refusal{"A map needs at least 4 rows; this table has " + std::to_string(table.n) +
                      ". Take more."};
    const Running running{n_threads, tell};
    Made made = settings.method == Method::tsne   ? by_tsne(table, settings, Y, running)
                : settings.method == Method::umap ? by_umap(table, settings, Y, running)
                                                  : by_pacmap(table, settings, Y, running);
    centre(Y, table.n);
    return made;
}

void place_rows(Table& table, const Settings& settings, const float* Y, const float* Q, std::int64_t m,
                float* out, float* trust, int n_threads, const Tell& tell) {
    const std::int64_t n = table.n;
    const Running running{n_threads, tell};
    const bool pacmap = settings.method == Method::pacmap;
    const Counts counts = pacmap ? pacmap_counts(settings, n) : Counts{};
    const std::int64_t k = pacmap                            ? std::min(n - 1, counts.near + extra_neighbors)
                           : settings.method == Method::umap ? umap_neighbors(settings, n) - 1
                                                             : neighbors_for(perplexity_of(settings, n), n);
    Near mine, used;
    running.stage(Stage::neighbors, m, [&](Watch& watch) {
        if (pacmap && is_wide(table)) {
            Table narrow(n, widest_rows);
            const auto scores = narrowed(table, table.X.data(), n), asking = narrowed(table, Q, m);
            std::copy(scores.begin(), scores.end(), narrow.X.data());
            narrow.prepare(n_threads, watch);
            mine = first_of(narrow.near(k, n_threads, watch), n, k);
            used = narrow.near_new(asking.data(), m, k, n_threads, watch);
        } else {
            mine = first_of(table.near(k, n_threads, watch), n, k);
            used = table.near_new(Q, m, k, n_threads, watch);
        }
    });
    running.stage(Stage::places, m, [&](Watch& watch) {
        std::vector<float> weights(used.distances.size());
        std::vector<std::int32_t> sample = Random(1).permutation(n);
        sample.resize(at(std::min(n, others)));
        std::sort(sample.begin(), sample.end());
        const auto sampled = static_cast<std::int64_t>(sample.size());
        if (settings.method == Method::tsne) {
            std::vector<float> reached(at(m));
            perplexity<float>({used.distances.data(), m, k}, {perplexity_of(settings, n)}, weights.data(),
                              reached.data(), n_threads, watch);
            favour_nearest(used, m, weights, n_threads, watch);
            for (float& weight : weights)
                weight *= static_cast<float>(settings.exaggeration);
            place({used.indices.data(), weights.data(), m, k}, Y, n, 2, Falloff{}, {}, spacing, placing_steps,
                  out, n_threads, watch);
        } else if (settings.method == Method::umap) {
            weights = memberships_of(used, m, typical_distance(mine.distances, n, k), n_threads, watch);
            favour_nearest(used, m, weights, n_threads, watch);
            const Curve curve = fitted_curve(settings.min_dist / settings.spread);
            std::vector<float> map(Y, Y + 2 * n);
            for (float& y : map)
                y /= static_cast<float>(settings.spread);
            place_new_cross_entropy({used.indices.data(), weights.data(), m, k}, map.data(), n, 2, curve,
                                    settings.negative_sample_rate * settings.repulsion_strength, {},
                                    sample.data(), sampled, placing_steps, out, n_threads, watch);
            for (std::int64_t i = 0; i < 2 * m; ++i)
                out[i] *= static_cast<float>(settings.spread);
        } else {
            const auto theirs = scales_of(mine, n);
            const auto columns = by_scale(used, m, scales_of(used, m), theirs, counts.near, n_threads, watch);
            for (std::int64_t i = 0; i < m; ++i)
                for (std::int64_t j = 0; j < counts.near; ++j)
                    weights[at(i * k + columns[at(i * counts.near + j)])] = 1;
            favour_nearest(used, m, weights, n_threads, watch);
            place_new_pairs({used.indices.data(), weights.data(), m, k}, Y, n, 2,
                            static_cast<double>(counts.further), sample.data(), sampled, placing_steps, out,
                            n_threads, watch);
        }
        trust_in(n, mine, used, m, Y, trust);
        for (std::int64_t i = 0; i < m; ++i)
            if (const std::int32_t same = table.equal_to(Q + i * table.d); same >= 0)
                std::copy_n(Y + 2 * same, 2, out + 2 * i);
    });
}

Kept kept(Table& table, const float* Y, std::int64_t k, const std::int64_t* rows, std::int64_t count,
          double* wrong, double* missing, int n_threads, Watch& watch) {
    const std::int64_t n = table.n;
    if (k < 1 || 2 * k >= n)
        throw Refusal{
            "Neighbourhoods must have fewer than half of the rows. Take fewer neighbours, or more rows."};
    Table map(n, 2);
    std::copy_n(Y, 2 * n, map.X.data());
    map.prepare(n_threads, watch);
    const Near &here = table.near(k, n_threads, watch), &there = map.near(k, n_threads, watch);
    const Asking asking{rows, count};
    const auto of = [&](const Near& near) {
        std::vector<std::int32_t> targets(at(count * k));
        for (std::int64_t p = 0; p < count; ++p)
            std::copy_n(near.indices.data() + asking.row(p) * near.k, k, targets.data() + p * k);
        return targets;
    };
    const auto in_data = of(here), on_map = of(there);
    const auto excess = [&](const Table& ranked, const std::vector<std::int32_t>& targets, double* each) {
        std::vector<std::int32_t> found(at(count * k));
        ranks<float>({ranked.X.data(), n, ranked.d, static_cast<std::ptrdiff_t>(ranked.d)}, asking,
                     targets.data(), k, found.data(), n_threads, watch);
        double total = 0;
        for (std::int64_t p = 0; p < count; ++p) {
            double beyond = 0;
            for (std::int64_t j = p * k; j < (p + 1) * k; ++j)
                beyond += static_cast<double>(std::max<std::int64_t>(0, found[at(j)] + 1 - k));
            const double share = 2 * beyond / static_cast<double>(k * (2 * n - 3 * k - 1));
            if (each)
                each[p] = share;
            total += share;
        }
        return 1 - total / static_cast<double>(count);
    };
    Kept out{};
    out.trustworthiness = excess(table, on_map, wrong);
    out.continuity = excess(map, in_data, missing);
    std::int64_t common = 0;
    for (std::int64_t p = 0; p < count; ++p)
        for (std::int64_t a = p * k; a < (p + 1) * k; ++a)
            common += std::find(on_map.begin() + p * k, on_map.begin() + (p + 1) * k, in_data[at(a)]) !=
                      on_map.begin() + (p + 1) * k;
    out.recall = static_cast<double>(common) / static_cast<double>(count * k);
    if (watch.stopped())
        throw Refusal{"Stopped."};
    return out;
}

} // namespace lowdim::wasm
