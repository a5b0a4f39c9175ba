// Groups of rows about centres, by which the search for neighbours skips what is far away; they change its
// time, never its result.
#pragma once

#include <lowdim/products.hpp>
#include <lowdim/watch.hpp>

#include <cstdint>
#include <vector>

namespace lowdim {

// The rule behind the groups, for every caller of the search.
struct Grouping {
    static constexpr double plain = 2e9;         // multiplications below which there is nothing to gain
    static constexpr std::int64_t widest = 1500; // columns up to which principal axes save time
    static constexpr std::int64_t least = 8;     // coordinates of a stage
    static constexpr std::int64_t axes = 48;     // coordinates that the centres use
    static constexpr std::int64_t each = 32;     // rows for each centre in the sample that finds them
    static constexpr int steps = 3;              // of k-means

    // Number of groups of n rows.
    static std::int64_t count(std::int64_t n);
};

// Numbers of coordinates after which a partial distance is checked, given the variances (d) of principal
// axes, the largest first: those that hold shares of the variance, and d.
std::vector<std::int64_t> stages_of(const double* variances, std::int64_t d);

// centres (count × cols) from some steps of k-means on `sample` (rows × cols), whose first `count` rows are
// the first centres. The bits do not depend on n_threads.
void centres_of(Gemm<float> gemm, const Dense<float>& sample, std::int64_t count, float* centres,
                int n_threads, Watch& watch);

// Rows in the order of their groups, the nearest to the centre first, and where each group starts (groups +
// 1): Z (n × d) in whole rows, centres (groups × d) that are 0 beyond the first Grouping::axes coordinates.
void group(Gemm<float> gemm, const Dense<float>& Z, const float* centres, std::int64_t groups,
           std::int32_t* order, std::int64_t* starts, int n_threads, Watch& watch);

} // namespace lowdim
