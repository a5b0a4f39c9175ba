// The two halves of a step for one instruction set; see each_isa.inl.

// Row i of A V.
LOWDIM_TARGET LOWDIM_INLINE void row_product(const Csr& A, std::int64_t i, const double* V, double* sum) {
    for (std::int64_t c = 0; c < width; ++c)
        sum[c] = 0;
    for (std::int32_t place = A.starts[i]; place < A.starts[i + 1]; ++place) {
        const double value = A.values[place];
        const double* row = V + std::int64_t{A.columns[place]} * width;
        for (std::int64_t c = 0; c < width; ++c)
            sum[c] += value * row[c];
    }
}

// Rows from first to last of out = A V.
LOWDIM_TARGET void multiply(const Csr& A, const double* V, double* out, std::int64_t first,
                            std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
        double sum[width];
        row_product(A, i, V, sum);
        std::copy_n(sum, width, out + i * width);
    }
}

// Rows from first to last of one step: out = scale (A W − centre V) − before, where before may be out itself.
LOWDIM_TARGET void advance(const Csr& A, const double* W, const double* V, double scale, double centre,
                           const double* before, double* out, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
        double sum[width];
        row_product(A, i, W, sum);
        const double* at = V + i * width;
        for (std::int64_t c = 0; c < width; ++c)
            sum[c] = scale * (sum[c] - centre * at[c]);
        if (before)
            for (std::int64_t c = 0; c < width; ++c)
                sum[c] -= before[i * width + c];
        std::copy_n(sum, width, out + i * width);
    }
}
