// The C interface of the module: one table at a time. Arguments are numbers and positions in memory that
// `lowdim_room` gave; an error ends the call by the page's own exception, with words for its user.
#include "engine.hpp"

#include <lowdim/cross_entropy.hpp>
#include <lowdim/nearest.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace lowdim::detail {
[[noreturn]] void help(); // of team.cpp
}

namespace {

using namespace lowdim;
using namespace lowdim::wasm;

// True stops; see Tell.
extern "C" __attribute__((import_module("page"), import_name("tell"))) int
page_tell(int stage, double done, double total, double loss, const float* Y);

std::unique_ptr<Table> table;
int n_threads = 1;

bool told(Stage stage, std::int64_t done, std::int64_t total, double loss, const float* Y) {
    return page_tell(static_cast<int>(stage), static_cast<double>(done), static_cast<double>(total), loss,
                     Y) != 0;
}
const Tell tell = told;

Table& known() {
    if (!table)
        throw Refusal{"There are no rows yet. Open a file first."};
    return *table;
}

// Parameters in the order that the page writes them.
Settings settings_of(int method, const double* given) {
    if (method < 0 || method > static_cast<int>(Method::pacmap))
        throw Refusal{"A page computes t-SNE, UMAP and PaCMAP. Choose one of them."};
    for (int i = 0; i < 13; ++i)
        if (!std::isfinite(given[i]) || given[i] < 0)
            throw Refusal{"Parameters must be finite and not negative. Correct them."};
    Settings out;
    out.method = static_cast<Method>(method);
    double* const fields[] = {&out.perplexity,
                              &out.early_exaggeration,
                              &out.exaggeration,
                              &out.n_neighbors,
                              &out.min_dist,
                              &out.spread,
                              &out.repulsion_strength,
                              &out.negative_sample_rate,
                              &out.MN_ratio,
                              &out.FP_ratio,
                              &out.iterations,
                              &out.seed,
                              &out.every};
    for (int i = 0; i < 13; ++i)
        *fields[i] = given[i];
    if (out.every < 1 || out.early_exaggeration < 1 || !(out.exaggeration > 0) || !(out.spread > 0))
        throw Refusal{
            "Iterations between frames and early_exaggeration must be 1 or more, exaggeration and spread "
            "positive. Correct them."};
    if (out.iterations > 100'000 || out.MN_ratio > 100 || out.FP_ratio > 100)
        throw Refusal{"At most 100,000 iterations, and ratios of pairs up to 100, are possible. Lower them."};
    return out;
}

} // namespace

#define LOWDIM_EXPORT(name) extern "C" __attribute__((export_name(#name)))

LOWDIM_EXPORT(lowdim_room) void* lowdim_room(std::uint32_t bytes) {
    return ::operator new(bytes, std::align_val_t{64});
}
LOWDIM_EXPORT(lowdim_free) void lowdim_free(void* room) { ::operator delete(room, std::align_val_t{64}); }
LOWDIM_EXPORT(lowdim_threads) void lowdim_threads(int count) { n_threads = std::clamp(count, 1, 64); }
LOWDIM_EXPORT(lowdim_help) void lowdim_help() { lowdim::detail::help(); }

// Room for the rows (n × d) of a new table, which the page fills before it calls lowdim_prepare.
LOWDIM_EXPORT(lowdim_table) float* lowdim_table(std::int32_t n, std::int32_t d) {
    table.reset();
    if (n < 2 || d < 1)
        throw Refusal{"A table needs 2 rows and a column of numbers at least. Open another file."};
    demand_room(12.0 * n * d);
    table = std::make_unique<Table>(n, d);
    return table->X.data();
}

LOWDIM_EXPORT(lowdim_prepare) void lowdim_prepare() {
    Watch watch = watching(tell, Stage::axes, 0);
    known().prepare(n_threads, watch);
}

// Scores (n × k) and the shares (k) of the variance.
LOWDIM_EXPORT(lowdim_scores) void lowdim_scores(std::int32_t k, float* out, double* shares) {
    const Table& own = known();
    own.scores(own.X.data(), own.n, k, out);
    for (std::int32_t j = 0; j < k; ++j)
        shares[j] = j < own.axes() && own.total_variance() > 0
                        ? own.variances()[static_cast<std::size_t>(j)] / own.total_variance()
                        : 0;
}

LOWDIM_EXPORT(lowdim_scores_of)
void lowdim_scores_of(const float* rows, std::int32_t m, std::int32_t k, float* out) {
    known().scores(rows, m, k, out);
}

// The first k principal axes (k × d), 0 where there are fewer.
LOWDIM_EXPORT(lowdim_axes) void lowdim_axes(std::int32_t k, float* out) {
    const Table& own = known();
    for (std::int64_t j = 0; j < k; ++j)
        for (std::int64_t c = 0; c < own.d; ++c)
            out[j * own.d + c] = j < own.axes() ? static_cast<float>(own.axis(j)[c]) : 0;
}

// The k nearest rows of each row: indices and distances (n × k).
LOWDIM_EXPORT(lowdim_near) void lowdim_near(std::int32_t k, std::int32_t* indices, float* distances) {
    Table& own = known();
    if (k < 1 || k >= own.n)
        throw Refusal{"The number of neighbours must be from 1 to the rows less one. Lower it."};
    Watch watch = watching(tell, Stage::neighbors, own.n);
    const Near& near = own.near(k, n_threads, watch);
    for (std::int64_t i = 0; i < own.n; ++i) {
        std::copy_n(near.indices.data() + i * near.k, k, indices + i * k);
        std::copy_n(near.distances.data() + i * near.k, k, distances + i * k);
    }
}

// The k nearest rows of each of m rows (m × d), as if these were new.
LOWDIM_EXPORT(lowdim_near_new)
void lowdim_near_new(const float* rows, std::int32_t m, std::int32_t k, std::int32_t* indices,
                     float* distances) {
    Table& own = known();
    if (k < 1 || k > own.n)
        throw Refusal{"The number of neighbours must be from 1 to the rows. Lower it."};
    Watch watch = watching(tell, Stage::neighbors, m);
    const Near near = own.near_new(rows, m, k, n_threads, watch);
    std::copy(near.indices.begin(), near.indices.end(), indices);
    std::copy(near.distances.begin(), near.distances.end(), distances);
}

// Moves Y (n × 2), where `continued` from the map that it is; `made` gains the loss, the iterations, the
// perplexity or neighbours used, and 1 where the start was eigenvectors of the graph.
LOWDIM_EXPORT(lowdim_embed)
void lowdim_embed(int method, const double* parameters, int continued, float* Y, double* made) {
    Settings settings = settings_of(method, parameters);
    settings.continued = continued != 0;
    const Made found = embed(known(), settings, Y, n_threads, tell);
    made[0] = found.loss;
    made[1] = static_cast<double>(found.iterations);
    made[2] = found.neighbors;
    made[3] = found.spectral;
}

// Positions (m × 2) of new rows on the map Y, and the trust (m) in them.
LOWDIM_EXPORT(lowdim_place)
void lowdim_place(int method, const double* parameters, const float* Y, const float* rows, std::int32_t m,
                  float* out, float* trust) {
    if (m < 1)
        throw Refusal{"There are no rows to place. Choose a file with some."};
    if (!std::all_of(rows, rows + static_cast<std::int64_t>(m) * known().d,
                     [](float x) { return std::fabs(x) < 1e18F; }))
        throw Refusal{"Every value must be a finite number below 1e18; some are not. Correct them."};
    place_rows(known(), settings_of(method, parameters), Y, rows, m, out, trust, n_threads, tell);
}

// Trustworthiness, continuity and share of k neighbours kept by the map Y (n × 2), over `count` rows.
LOWDIM_EXPORT(lowdim_kept)
void lowdim_kept(const float* Y, std::int32_t k, const std::int32_t* rows, std::int32_t count, double* out) {
    Watch watch = watching(tell, Stage::scores, 0);
    const std::vector<std::int64_t> wide(rows, rows + count);
    const Kept found = kept(known(), Y, k, wide.data(), count, nullptr, nullptr, n_threads, watch);
    out[0] = found.trustworthiness;
    out[1] = found.continuity;
    out[2] = found.recall;
}

// Shares (n) of the k neighbours on the map Y that are not among the 2k nearest in the data, and the reverse.
LOWDIM_EXPORT(lowdim_misplaced)
void lowdim_misplaced(const float* Y, std::int32_t k, float* wrong, float* missing) {
    Table& own = known();
    const std::int64_t n = own.n, wide = std::min<std::int64_t>(2 * k, n - 1);
    if (k < 1 || k >= n)
        throw Refusal{"The number of neighbours must be from 1 to the rows less one. Lower it."};
    Watch watch = watching(tell, Stage::scores, n);
    Table map(n, 2);
    std::copy_n(Y, 2 * n, map.X.data());
    map.prepare(n_threads, watch);
    const Near &here = own.near(wide, n_threads, watch), &there = map.near(wide, n_threads, watch);
    const auto outside = [&](const Near& few, const Near& all, float* out) {
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int32_t *a = few.indices.data() + i * few.k, *b = all.indices.data() + i * all.k;
            std::int64_t lost = 0;
            for (std::int64_t j = 0; j < k; ++j)
                lost += std::find(b, b + wide, a[j]) == b + wide;
            out[i] = static_cast<float>(lost) / static_cast<float>(k);
        }
    };
    outside(there, here, wrong);
    outside(here, there, missing);
}

// a and b of UMAP's curve.
LOWDIM_EXPORT(lowdim_curve) void lowdim_curve(double min_dist, double* out) {
    const auto [a, b] = fitted_curve(min_dist);
    out[0] = a;
    out[1] = b;
}
