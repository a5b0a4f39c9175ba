// Threads take a few rows at a time; the map stays in the cache while distances are streamed.
#include "chunks.hpp"
#include "instructions.hpp"

#include <lowdim/guttman.hpp>

namespace lowdim {
namespace {

constexpr std::int64_t chunk = 512; // pairs whose sums stay in float
constexpr std::int64_t task = 16;   // rows of a piece of work

using Transform = void (*)(const float*, const float*, const float*, const float*, std::int64_t, std::int64_t,
                           double*, double*);

#define LOWDIM_KERNEL "guttman.inl"
#include "each_isa.inl"

} // namespace

void guttman(const float* D, const float* W, const float* points, const float* map, std::int64_t rows,
             std::int64_t n, std::int64_t k, double* out, double* sums, int n_threads, Watch& watch) {
    const auto transform = LOWDIM_PICK(transforms[k <= 3 ? k : 0][W != nullptr]);
    detail::each_chunk(rows, task, n_threads, watch,
                       [&](std::int64_t, std::int64_t first, std::int64_t last) {
                           for (std::int64_t i = first; i < last; ++i)
                               transform(D + i * n, W ? W + i * n : nullptr, points + i * k, map, n, k,
                                         out + i * k, sums + i * 2);
                           watch.advance(last - first);
                       });
}

} // namespace lowdim
