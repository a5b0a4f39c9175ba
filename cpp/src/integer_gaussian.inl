// Values from inner products of whole numbers for one instruction set; see each_isa.inl.

#include "gaussian.inl"

// out_j = exp(−gamma (square + squares_j − 2 (found_j + 128 sums_j))).
template <class T>
LOWDIM_TARGET void finish(const std::int32_t* __restrict found, std::int32_t square,
                          const std::int32_t* __restrict squares, const std::int32_t* __restrict sums,
                          T gamma, std::int64_t n, T* __restrict out) {
    const T zeros[panel] = {};
    for (std::int64_t j = 0; j < n; ++j) {
        const std::int32_t inner = found[j] + 128 * sums[j];
        // Twice the product may not fit in 32 bits, the distance does.
        out[j] = static_cast<T>(-0.5) * static_cast<T>((square - inner) + (squares[j] - inner));
    }
    gaussian_row<T>(out, T{0}, zeros, gamma, n);
}
