// Columns on the right are laid out in panels of a few vectors, which six rows pass at a time.
#include "aligned.hpp"
#include "chunks.hpp"
#include "instructions.hpp"

#include <lowdim/products.hpp>

#include <algorithm>
#include <cstdint>

namespace lowdim {
namespace {

constexpr std::int64_t deep = 128;                     // rows of a panel that stay in the cache
constexpr std::int64_t few_rows = 24, most_rows = 192; // of a piece, in multiples of 6
constexpr std::int64_t pieces = 16;                    // wanted
constexpr std::int64_t packed_at_once = 512;           // rows of the right side

#define LOWDIM_KERNEL "few_columns.inl"
#include "each_isa.inl"

} // namespace

template <class T>
void multiply_few(const Dense<T>& A, const Dense<T>& B, const Dense<T>& out, int n_threads, Watch& watch) {
    const std::int64_t lanes = LOWDIM_PICK(lanes_of<T>()), p = B.cols, depth = A.cols,
                       panel = std::min(LOWDIM_PICK(most_vectors()) * lanes, (p + lanes - 1) / lanes * lanes),
                       panels = (p + panel - 1) / panel, width = panels * panel;
    const auto add = LOWDIM_PICK(add_panel<T>);
    detail::Aligned<T> packed(panels * depth * panel); // panel after panel
    detail::each_chunk(depth, packed_at_once, n_threads, watch,
                       [&](std::int64_t, std::int64_t first, std::int64_t last) {
                           for (std::int64_t q = 0; q < panels; ++q)
                               for (std::int64_t l = first; l < last; ++l) {
                                   T* const to = packed.data() + (q * depth + l) * panel;
                                   const std::int64_t some = std::min(panel, p - q * panel);
                                   std::copy_n(B.data + l * B.stride + q * panel, some, to);
                                   std::fill(to + some, to + panel, T(0));
                               }
                       });
    // Columns that are contiguous are read in longer runs, and copied, since they are far apart.
    const std::int64_t fair = (A.rows / pieces + 5) / 6 * 6,
                       high = A.by_columns ? std::clamp(fair, few_rows, most_rows) : few_rows;
    struct Space {
        Space(std::int64_t sums_size, std::int64_t turned_size) : sums(sums_size), turned(turned_size) {}
        detail::Aligned<T> sums, turned;
    };
    detail::Workspaces<Space> spaces(n_threads);
    detail::each_chunk(A.rows, high, n_threads, watch,
                       [&](std::int64_t, std::int64_t first, std::int64_t last, int place) {
                           Space& space = spaces.at(place, high * width, A.by_columns ? deep * high : 0);
                           T *const sums = space.sums.data(), *const turned = space.turned.data();
                           std::fill_n(sums, high * width, T(0));
                           const std::int64_t rows = last - first;
                           for (std::int64_t l = 0; l < depth; l += deep) {
                               const std::int64_t some = std::min(deep, depth - l);
                               if (A.by_columns)
                                   for (std::int64_t s = 0; s < some; ++s)
                                       std::copy_n(A.at(first, l + s), rows, turned + s * high);
                               const T* const a = A.by_columns ? turned : A.at(first, l);
                               for (std::int64_t q = 0; q < panels; ++q)
                                   add(a, A.by_columns ? 1 : A.stride, A.by_columns ? high : 1,
                                       packed.data() + (q * depth + l) * panel, panel, some, sums + q * panel,
                                       width, rows, std::min(panel, p - q * panel));
                           }
                           for (std::int64_t i = 0; i < rows; ++i)
                               std::copy_n(sums + i * width, p, out.at(first + i, 0));
                           watch.advance(rows);
                       });
}

template void multiply_few(const Dense<float>&, const Dense<float>&, const Dense<float>&, int, Watch&);
template void multiply_few(const Dense<double>&, const Dense<double>&, const Dense<double>&, int, Watch&);

} // namespace lowdim
