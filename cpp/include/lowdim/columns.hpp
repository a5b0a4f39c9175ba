// Sums down the columns of tall matrices, over the same parts of the rows for any number of threads.
#pragma once

#include <lowdim/pairs.hpp>
#include <lowdim/watch.hpp>

namespace lowdim {

// sums[j] = Σ_i w_i (x_ij − shift_j) and squares[j] = Σ_i w_i (x_ij − shift_j)².
template <class T>
void column_sums(const RowMajor<const T>& X, const double* shift, const double* weights, double* sums,
                 double* squares, int n_threads, Watch& watch);

// out = X less the mean of each column.
template <class T, class U>
void centre_columns(const RowMajor<const T>& X, const RowMajor<U>& out, int n_threads, Watch& watch);

} // namespace lowdim
