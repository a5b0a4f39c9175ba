// A block of rows is projected, its contrasts are taken and multiplied with the rows while all are in the
// cache.
#include "aligned.hpp"
#include "chunks.hpp"
#include "exp.hpp"
#include "instructions.hpp"

#include <lowdim/contrast.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace lowdim {
namespace {

using detail::Exp;

constexpr std::int64_t block_bytes = 1 << 17; // of projected rows
constexpr std::int64_t most_parts = 64, least_rows = 512;

#define LOWDIM_KERNEL "contrast.inl"
#include "each_isa.inl"

} // namespace

template <class T>
void contrast_sums(Gemm<T> gemm, const T* Z, const T* W, std::int64_t rows, std::int64_t k, std::int64_t p,
                   Contrast contrast, double alpha, double* products, double* slopes, int n_threads,
                   Watch& watch) {
    const std::int64_t block =
        std::max<std::int64_t>(16, block_bytes / static_cast<std::int64_t>(sizeof(T)) / std::max(k, p));
    const std::int64_t parts = std::clamp<std::int64_t>(rows / least_rows, 1, most_parts);
    const std::int64_t size = p * k + p;
    std::vector<double> sums(static_cast<std::size_t>(parts * size), 0.0);
    detail::Workspaces<detail::Aligned<T>> workspaces(n_threads);
    const auto take = LOWDIM_PICK(contrasts_of<T>);
    detail::each_piece(parts, n_threads, watch, [&](std::int64_t part, int place) {
        T *const S = workspaces.at(place, block * p + p * k + p).data(), *const product = S + block * p,
                 *const slope = product + p * k;
        double* const sum = sums.data() + part * size;
        const std::int64_t from = rows * part / parts, to = rows * (part + 1) / parts;
        for (std::int64_t first = from; first < to && !watch.stopped(); first += block) {
            char turn = 'T', plain = 'N';
            int n = static_cast<int>(std::min(block, to - first)), d = static_cast<int>(k),
                width = static_cast<int>(p);
            T one = 1, zero = 0;
            T* const z = const_cast<T*>(Z) + first * k;
            gemm(&turn, &plain, &width, &n, &d, &one, const_cast<T*>(W), &d, z, &d, &zero, S, &width);
            take(S, n, p, contrast, static_cast<T>(alpha), sum + p * k, slope);
            gemm(&plain, &turn, &d, &width, &n, &one, z, &d, S, &width, &zero, product, &d);
            for (std::int64_t i = 0; i < p * k; ++i)
                sum[i] += static_cast<double>(product[i]);
        }
        watch.advance(to - from);
    });
    for (std::int64_t part = 1; part < parts; ++part)
        for (std::int64_t i = 0; i < size; ++i)
            sums[static_cast<std::size_t>(i)] += sums[static_cast<std::size_t>(part * size + i)];
    std::copy_n(sums.data(), p * k, products);
    std::copy_n(sums.data() + p * k, p, slopes);
}

template void contrast_sums(Gemm<float>, const float*, const float*, std::int64_t, std::int64_t, std::int64_t,
                            Contrast, double, double*, double*, int, Watch&);
template void contrast_sums(Gemm<double>, const double*, const double*, std::int64_t, std::int64_t,
                            std::int64_t, Contrast, double, double*, double*, int, Watch&);

} // namespace lowdim
