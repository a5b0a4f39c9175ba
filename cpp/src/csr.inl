// Rows of a sparse matrix times a block of vectors for one instruction set; see each_isa.inl.

// The largest number, negative ones counting as larger than all others.
LOWDIM_TARGET std::uint32_t largest(const std::int32_t* numbers, std::int64_t count) {
    std::uint32_t found = 0;
    for (std::int64_t i = 0; i < count; ++i)
        found = std::max(found, static_cast<std::uint32_t>(numbers[i]));
    return found;
}

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
