// Products of dense matrices by pieces, each of which is one call of a BLAS that was found at run time.
#pragma once

#include <lowdim/watch.hpp>

#include <cstdint>

namespace lowdim {

// BLAS's gemm with its arguments by reference.
template <class T>
using Gemm = void (*)(char*, char*, int*, int*, int*, T*, T*, int*, T*, int*, T*, T*, int*);

// A matrix whose rows are contiguous, or whose columns are where `by_columns`; `stride` is from one to the
// next.
template <class T> struct Dense {
    T* data;
    std::int64_t rows, cols, stride;
    bool by_columns;
    [[nodiscard]] T* at(std::int64_t i, std::int64_t j) const {
        return data + (by_columns ? i + j * stride : i * stride + j);
    }
};

// out = A B, or where `less` out −= A B, in pieces of high × wide that are chosen by the shape alone; the
// rows of out are contiguous. With several parts, the sums are cut into as many, whose products stand below
// each other in out. BLAS itself must be limited to one thread.
template <class T>
void multiply(Gemm<T> gemm, const Dense<T>& A, const Dense<T>& B, const Dense<T>& out, std::int64_t high,
              std::int64_t wide, std::int64_t parts, bool less, int n_threads, Watch& watch);

// out = A B without a BLAS, for B of few columns: each of its rows, and of those of out, is contiguous. Sums
// are taken over blocks of the depth in turn, so that the bits do not depend on n_threads.
template <class T>
void multiply_few(const Dense<T>& A, const Dense<T>& B, const Dense<T>& out, int n_threads, Watch& watch);

// out[i] = the j with the largest zᵢ·cⱼ − halves[j], the first of several: with halves ‖cⱼ‖²/2, the nearest
// of the centres C to each row of Z. BLAS itself must be limited to one thread.
void assign(Gemm<float> gemm, const Dense<float>& Z, const Dense<float>& C, const float* halves,
            std::int64_t* out, int n_threads, Watch& watch);

} // namespace lowdim
