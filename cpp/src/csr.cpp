// Rows are shared among threads in fixed chunks; each is summed separately.
#include "chunks.hpp"
#include "instructions.hpp"

#include <lowdim/csr.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace lowdim {

namespace {

constexpr std::int64_t strip = 16;           // columns of V summed at a time, in registers
constexpr std::int64_t rows_at_a_time = 256; // of a task
constexpr double thread_work = 1 << 18; // products below which waking another thread costs more than it saves

#define LOWDIM_KERNEL "csr.inl"
#include "each_isa.inl"

} // namespace

void check(const Csr& A, std::int64_t stored) {
    bool rising = A.starts[0] == 0 && A.starts[A.rows] == stored;
    for (std::int64_t i = 0; i < A.rows; ++i)
        rising &= A.starts[i] <= A.starts[i + 1];
    if (!rising)
        throw std::invalid_argument("csr: starts must rise from 0 to the number of stored values (" +
                                    std::to_string(stored) + "); they do not. Rebuild the matrix.");
    if (stored == 0 || LOWDIM_PICK(largest(A.columns, stored)) < static_cast<std::uint64_t>(A.cols))
        return;
    for (std::int64_t place = 0; place < stored; ++place)
        if (A.columns[place] < 0 || A.columns[place] >= A.cols)
            throw std::invalid_argument("csr: columns must be from 0 to " + std::to_string(A.cols - 1) +
                                        "; got " + std::to_string(A.columns[place]) +
                                        ". Rebuild the matrix.");
}

template <class T>
void product(const CsrOf<T>& A, const T* V, std::int64_t width, T* out, int n_threads, Watch& watch) {
    const double work = static_cast<double>(A.starts[A.rows]) * static_cast<double>(width);
    const int team = std::clamp(n_threads, 1, static_cast<int>(std::min(work / thread_work, 1023.0)) + 1);
    const auto multiply = LOWDIM_PICK(multiply_rows<T>);
    detail::each_chunk(A.rows, rows_at_a_time, team, watch,
                       [&](std::int64_t, std::int64_t first, std::int64_t last) {
                           multiply(A, V, width, first, last, out);
                           watch.advance(last - first);
                       });
}

template void product(const CsrOf<float>&, const float*, std::int64_t, float*, int, Watch&);
template void product(const CsrOf<double>&, const double*, std::int64_t, double*, int, Watch&);

} // namespace lowdim
