// Second moments of a data matrix in one pass: column sums per class and the scatter matrix.
#pragma once

#include <lowdim/isa.hpp>
#include <lowdim/watch.hpp>

#include <cstddef>
#include <cstdint>

namespace lowdim {

// A view of n × d elements at any strides (counted in elements, negative ones included).
template <class T> struct Strided {
    const T* data;
    std::int64_t rows, cols;
    std::ptrdiff_t row_stride, col_stride;
};

struct ScatterTerms {
    const double* shift = nullptr;        // (d,); null for zeros
    const std::int32_t* labels = nullptr; // (n,); null puts every row in class 0
    const double* weights = nullptr;      // (n,), ≥ 0; null for ones
    std::int64_t n_classes = 1;
};

// sums (n_classes × d) = Σ_{i in class} w_i (x_i − shift), scatter (d × d) = Σ_i w_i (x_i − shift)(x_i −
// shift)ᵀ.
//
// T is uint8_t (both results exact; no shift, no weights), float (products in float over one chunk of rows,
// then double) or double. The bits do not depend on n_threads. A value that is not finite makes its column's
// sums not finite. Scratch memory is O(chunk·d + d²). Throws std::invalid_argument for labels out of range or
// negative weights. The results are unspecified when `watch` was stopped.
template <class T>
void scatter(const Strided<T>& X, const ScatterTerms& terms, double* sums, double* scatter, int n_threads,
             Watch& watch);

// The same for floats that are whole numbers from 0 to 255 divided by `divisor`, each rounded once: pixels
// that somebody scaled. The results are those of the whole numbers, exact. False, with the results
// unspecified, where a value is none of these.
template <class T>
bool scatter_integers(const Strided<T>& X, T divisor, const ScatterTerms& terms, double* sums,
                      double* scatter, int n_threads, Watch& watch);

} // namespace lowdim
