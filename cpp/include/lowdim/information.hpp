// Mutual information of columns with a target, by nearest neighbours along each column.
#pragma once

#include <lowdim/pairs.hpp>
#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// out (columns × targets): mutual information in nats of each row of X (a column of the data, n values) with
// each row of `labels` (targets × n, classes 0 … n_classes − 1), by the k nearest values of the same class
// (Ross 2014). Where the k-th is an equal value, equal values are counted. Classes of one row are left out.
void information_with_labels(const RowMajor<const double>& X, const RowMajor<const std::int32_t>& labels,
                             std::int64_t n_classes, std::int64_t k, double* out, int n_threads,
                             Watch& watch);

// The same with numbers (targets × n), by the k nearest points (x, y) in the larger of both distances
// (Kraskov, Stögbauer and Grassberger 2004).
void information_with_numbers(const RowMajor<const double>& X, const RowMajor<const double>& targets,
                              std::int64_t k, double* out, int n_threads, Watch& watch);

} // namespace lowdim
