// Rows of a sparse matrix times a block of vectors for one instruction set; see each_isa.inl.

LOWDIM_TARGET void multiply_rows(const Csr& A, const double* V, std::int64_t width, std::int64_t first,
                                 std::int64_t last, double* out) {
    for (std::int64_t i = first; i < last; ++i)
        for (std::int64_t j = 0; j < width; j += strip) {
            double* __restrict target = out + i * width + j;
            const std::int64_t n = std::min(strip, width - j);
            if (n == strip) {
                double sum[strip] = {};
                for (std::int32_t place = A.starts[i]; place < A.starts[i + 1]; ++place) {
                    const double* __restrict row = V + A.columns[place] * width + j;
                    for (std::int64_t c = 0; c < strip; ++c)
                        sum[c] += A.values[place] * row[c];
                }
                std::copy_n(sum, strip, target);
            } else {
                std::fill_n(target, n, 0.0);
                for (std::int32_t place = A.starts[i]; place < A.starts[i + 1]; ++place) {
                    const double* __restrict row = V + A.columns[place] * width + j;
                    for (std::int64_t c = 0; c < n; ++c)
                        target[c] += A.values[place] * row[c];
                }
            }
        }
}
