// The core without Python: a table of rows, and maps of them. What Python does with NumPy, SciPy and LAPACK
// is done here for tables of the size that a page holds.
#pragma once

#include "aligned.hpp"

#include <lowdim/affinities.hpp>
#include <lowdim/groups.hpp>
#include <lowdim/watch.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lowdim::wasm {

// What was needed, what came, what to do: for the user of the page.
struct Refusal {
    std::string words;
};

// Refuses work that needs more bytes than a page has.
void demand_room(double bytes);

// Stages of a computation, as the page names them.
enum class Stage : int { axes, neighbors, graph, start, descent, scores, places };

// Called now and then with what is done of the total; in a descent with the loss, and with the map where it
// has moved. True stops.
using Tell =
    std::function<bool(Stage stage, std::int64_t done, std::int64_t total, double loss, const float* Y)>;

// BLAS's product, for outᵀ = Cᵀ Zᵀ as `assign` asks for it.
void gemm(char* turn_a, char* turn_b, int* m, int* n, int* depth, float* alpha, float* A, int* stride_a,
          float* B, int* stride_b, float* beta, float* out, int* stride);

// All eigenpairs of the symmetric A (d × d, overwritten by the vectors, one in each row), values descending.
void eigenpairs(double* A, std::int64_t d, double* values);

// Numbers from 0 on for any position of a sequence, by (seed, position).
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 1) {}
    std::uint64_t operator()();
    std::int32_t below(std::int64_t n) {
        return static_cast<std::int32_t>((*this)() % static_cast<std::uint64_t>(n));
    }
    double normal();
    // The rows 0 … n − 1 in random order.
    std::vector<std::int32_t> permutation(std::int64_t n);

private:
    std::uint64_t state_;
};

// Neighbours of rows, nearest first.
struct Near {
    std::int64_t k = 0;
    std::vector<std::int32_t> indices;
    std::vector<float> distances;
};

// Rows (n × d) with what maps of them share: principal axes, groups, neighbours. Each is computed once.
class Table {
public:
    Table(std::int64_t n, std::int64_t d) : n(n), d(d), X(n * d) {}

    const std::int64_t n, d;
    detail::Aligned<float> X;

    // Checks that all values are finite; finds principal axes.
    void prepare(int n_threads, Watch& watch);
    // Variance of each axis, the largest first; those of min(n − 1, d) axes at most.
    [[nodiscard]] const std::vector<double>& variances() const { return variances_; }
    [[nodiscard]] double total_variance() const { return total_; }
    [[nodiscard]] std::int64_t axes() const { return static_cast<std::int64_t>(variances_.size()); }
    // Principal scores (rows × k) of these rows (rows × d).
    void scores(const float* rows, std::int64_t count, std::int64_t k, float* out) const;
    void scores(const float* rows, std::int64_t count, const std::vector<double>& axes, double* out) const;
    [[nodiscard]] const double* axis(std::int64_t j) const { return vectors_.data() + j * d; }

    // The k nearest rows of each row, or more.
    const Near& near(std::int64_t k, int n_threads, Watch& watch);
    // The k nearest rows of each of m other rows.
    Near near_new(const float* Q, std::int64_t m, std::int64_t k, int n_threads, Watch& watch);
    // The first row equal to each row.
    const std::vector<std::int32_t>& first_equal();
    // The first row equal to another row, −1 where there is none.
    std::int32_t equal_to(const float* row);

private:
    struct Rows {
        detail::Aligned<float> values;
        std::vector<std::int32_t> order;
        std::vector<std::int64_t> starts;
    };
    [[nodiscard]] bool plain(std::int64_t m) const;
    Rows grouped(const float* rows, std::int64_t count, bool plain, int n_threads, Watch& watch);
    void set_scale(const float* rows, std::int64_t count);
    Near search(const float* Q, std::int64_t m, std::int64_t k, int n_threads, Watch& watch);
    void index_rows();

    std::vector<double> mean_, vectors_, variances_;
    double total_ = 0;
    double most_ = 0, scale_ = 1;
    std::vector<float> centres_;
    std::vector<std::int64_t> stages_;
    std::optional<Near> near_;
    std::vector<std::int32_t> first_, by_hash_;
    std::vector<std::uint64_t> hashes_;
};

enum class Method : int { tsne, umap, pacmap };

// Parameters of all methods, with the defaults of the Python classes; 0 is "auto".
struct Settings {
    Method method = Method::tsne;
    double perplexity = 0;                            // t-SNE
    double early_exaggeration = 12, exaggeration = 1; // t-SNE
    double n_neighbors = 0;                           // UMAP, PaCMAP
    double min_dist = 0.1, spread = 1;                // UMAP
    double repulsion_strength = 2, negative_sample_rate = 5;
    double MN_ratio = 0.5, FP_ratio = 2; // PaCMAP
    double iterations = 0, seed = 0;
    double every = 10;      // iterations between two reports
    bool continued = false; // Y is a map of this method, which moves on
};

struct Made {
    double loss = 0;
    std::int64_t iterations = 0;
    double neighbors = 0;  // perplexity or number of neighbours used
    bool spectral = false; // whether the start was eigenvectors of the graph
};

// Moves Y (n × 2) to a map of the table.
Made embed(Table& table, const Settings& settings, float* Y, int n_threads, const Tell& tell);

// Positions (m × 2) of other rows on the map Y, and the trust in each.
void place_rows(Table& table, const Settings& settings, const float* Y, const float* Q, std::int64_t m,
                float* out, float* trust, int n_threads, const Tell& tell);

// Smoothest coordinates (n × 2) of a graph; false where it is not connected.
bool spectral_start(const SparseRows& graph, float* Y, int n_threads, Watch& watch);

// How well a map keeps neighbourhoods of k rows, over the rows asked for (null: all).
struct Kept {
    double trustworthiness, continuity, recall;
};
// `wrong` and `missing` (count) are the shares by row; null where they are not needed.
Kept kept(Table& table, const float* Y, std::int64_t k, const std::int64_t* rows, std::int64_t count,
          double* wrong, double* missing, int n_threads, Watch& watch);

// A watch that tells the page of a stage.
Watch watching(const Tell& tell, Stage stage, std::int64_t total);

} // namespace lowdim::wasm
