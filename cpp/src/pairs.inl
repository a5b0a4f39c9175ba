// City-block sums for one instruction set; see each_isa.inl.

#include "gaussian.inl"

// out[r * stride + c] = Σ_k |x_rk − y_ck| for a tile of `rows` × `cols` pairs.
template <class T, int rows, int cols>
LOWDIM_TARGET void manhattan_tile(const T* x, std::ptrdiff_t x_stride, const T* y, std::ptrdiff_t y_stride,
                                  std::int64_t d, T* out, std::ptrdiff_t stride) {
    typedef T Vector __attribute__((vector_size(LOWDIM_BYTES), aligned(sizeof(T)), may_alias));
    constexpr int lanes = LOWDIM_BYTES / sizeof(T);
    Vector sum[rows][cols] = {};
    std::int64_t k = 0;
    for (; k + lanes <= d; k += lanes) {
        LOWDIM_UNROLL
        for (int r = 0; r < rows; ++r) {
            const Vector left = *reinterpret_cast<const Vector*>(x + r * x_stride + k);
            LOWDIM_UNROLL
            for (int c = 0; c < cols; ++c) {
                const Vector step = left - *reinterpret_cast<const Vector*>(y + c * y_stride + k);
                sum[r][c] += step < 0 ? -step : step;
            }
        }
    }
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c) {
            T total = 0;
            for (int l = 0; l < lanes; ++l)
                total += sum[r][c][l];
            for (std::int64_t rest = k; rest < d; ++rest)
                total += std::abs(x[r * x_stride + rest] - y[c * y_stride + rest]);
            out[r * stride + c] = total;
        }
}

// The rows of a strip of D, all columns.
template <class T>
LOWDIM_TARGET void manhattan_strip(const RowMajor<const T>& X, const RowMajor<const T>& Y,
                                   const RowMajor<T>& D, std::int64_t from, std::int64_t to) {
    constexpr int tall = 4, wide = 2;
    std::int64_t j = 0;
    for (; j + wide <= Y.rows; j += wide) {
        std::int64_t i = from;
        for (; i + tall <= to; i += tall)
            manhattan_tile<T, tall, wide>(X.data + i * X.stride, X.stride, Y.data + j * Y.stride, Y.stride,
                                          X.cols, D.data + i * D.stride + j, D.stride);
        for (; i < to; ++i)
            manhattan_tile<T, 1, wide>(X.data + i * X.stride, X.stride, Y.data + j * Y.stride, Y.stride,
                                       X.cols, D.data + i * D.stride + j, D.stride);
    }
    for (; j < Y.rows; ++j)
        for (std::int64_t i = from; i < to; ++i)
            manhattan_tile<T, 1, 1>(X.data + i * X.stride, X.stride, Y.data + j * Y.stride, Y.stride, X.cols,
                                    D.data + i * D.stride + j, D.stride);
}
