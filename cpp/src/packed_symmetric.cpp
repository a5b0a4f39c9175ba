// Products with a half-stored matrix. Its rows are cut into parts of about equal size, by n alone. A block of
// a panel is multiplied twice while it is in the cache: as it is, into rows that are the part's own, and
// transposed, into a sum of the part's own. These sums are added up in the end.
#include "aligned.hpp"
#include "chunks.hpp"

#include <lowdim/packed_symmetric.hpp>

#include <cmath>
#include <vector>

namespace lowdim {
namespace {

constexpr std::int64_t wide = PackedSymmetric<float>::wide;
constexpr std::int64_t parts = 16, tall = 8 * wide; // rows of a block

// Adds A B (rows × width), or Aᵀ B, to `out`; A has `wide` values from one row to the next, the others
// `width`.
void add_product(Gemm<float> gemm, bool transposed, const float* A, std::int64_t rows, std::int64_t depth,
                 const float* B, std::int64_t width, float* out) {
    char plain = 'N', turn = transposed ? 'T' : 'N';
    int m = static_cast<int>(width), n = static_cast<int>(rows), k = static_cast<int>(depth),
        stride = static_cast<int>(wide);
    float one = 1;
    gemm(&plain, &turn, &m, &n, &k, &one, const_cast<float*>(B), &m, const_cast<float*>(A), &stride, &one,
         out, &m);
}

} // namespace

void multiply_packed(Gemm<float> gemm, const PackedSymmetric<const float>& A, const float* V,
                     std::int64_t width, float* out, int n_threads, Watch& watch) {
    const std::int64_t n = A.n;
    std::vector<std::int64_t> cuts; // √ makes the areas of a triangle equal
    for (std::int64_t part = 0; part <= parts; ++part)
        cuts.push_back(std::min(n, static_cast<std::int64_t>(std::llround(
                                       static_cast<double>(A.panels()) *
                                       std::sqrt(static_cast<double>(part) / static_cast<double>(parts)))) *
                                       wide));
    detail::Aligned<float> turned(parts * n * width);
    const auto add_part = [&](std::int64_t part, int) {
        const std::int64_t from = cuts[part], to = cuts[part + 1];
        float* sums = turned.data() + part * n * width;
        std::fill_n(sums, to * width, 0.0f);
        std::fill(out + from * width, out + to * width, 0.0f);
        for (std::int64_t panel = 0; panel * wide < to && !watch.stopped(); ++panel) {
            const std::int64_t left = panel * wide, columns = A.columns(panel);
            for (std::int64_t row = std::max(from, left); row < to; row += tall) {
                const std::int64_t last = std::min(to, row + tall);
                add_product(gemm, false, A.at(panel, row), last - row, columns, V + left * width, width,
                            out + row * width);
                const std::int64_t below =
                    std::max(row, left + wide); // what is above was multiplied as it is
                if (below < last)
                    add_product(gemm, true, A.at(panel, below), columns, last - below, V + below * width,
                                width, sums + left * width);
            }
        }
    };
    const auto add_up = [&](std::int64_t panel, int) {
        const std::int64_t begin = panel * wide * width, end = begin + A.columns(panel) * width;
        for (std::int64_t part = 0; part < parts; ++part)
            if (panel * wide < cuts[part + 1])
                for (std::int64_t i = begin; i < end; ++i)
                    out[i] += turned[part * n * width + i];
    };
    detail::each_phase(n_threads, watch, detail::Phase{parts, add_part}, detail::Phase{A.panels(), add_up});
}

} // namespace lowdim
