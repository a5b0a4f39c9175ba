// Rows with gaps: their values beside a mask, and many small Gaussian posteriors.
#pragma once

#include <lowdim/pairs.hpp>
#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// Z = (X − shift) · rate where a value was observed, 0 elsewhere, and M = 1 there, 0 elsewhere (n × d each).
// NaN was not observed, nor was 0 where `zeros` is set. counts and squares (n,) are Σ M and Σ Z² of each row.
template <class T>
void observed(const RowMajor<const T>& X, const T* shift, const T* rate, bool zeros, const RowMajor<T>& Z,
              const RowMajor<T>& M, double* counts, double* squares, int n_threads, Watch& watch);

// For each row, with P = A + noise I (k × k) from its packed lower triangle A (n × k(k+1)/2, row by row) and
// b from B (n × k): t = P⁻¹ b in means (n × (k+1), its last entry 1), the packed u uᵀ + noise P⁻¹ of u = (t,
// 1) in products (n × (k+1)(k+2)/2), both times the row's weight, log det P in logs and t·b in fits. A pivot
// that is not positive gives NaN.
template <class T>
void posteriors(const RowMajor<const T>& A, const RowMajor<const T>& B, double noise, const double* weights,
                const RowMajor<T>& means, const RowMajor<T>& products, double* logs, double* fits,
                int n_threads, Watch& watch);

} // namespace lowdim
