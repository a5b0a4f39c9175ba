// Euclidean distances from differences, summed in double: equal rows are at 0 and equal differences tie
// exactly.
#pragma once

#include <lowdim/pairs.hpp>
#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// D (m × n): distances of the rows of Q (m × d) from those of X (n × d), squared unless `root`. Every pair is
// summed separately, feature by feature.
template <class T>
void euclidean(const RowMajor<const T>& Q, const RowMajor<const T>& X, bool root, const RowMajor<double>& D,
               int n_threads, Watch& watch);

// out (m × classes): the sums of those distances over the rows of each class; class c are the rows starts[c]
// … starts[c + 1] − 1 of X. No distance is stored; sums have an order that does not depend on the number of
// threads. Progress is counted in rows of Q.
template <class T>
void class_distances(const RowMajor<const T>& Q, const RowMajor<const T>& X, const std::int64_t* starts,
                     std::int64_t classes, bool root, double* out, int n_threads, Watch& watch);

} // namespace lowdim
