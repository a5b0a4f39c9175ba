// The two halves of a step for one instruction set; see each_isa.inl.

// Row i of A V.
template <class T>
LOWDIM_TARGET LOWDIM_INLINE void row_product(const CsrOf<T>& A, std::int64_t i, const T* V, T* sum) {
    for (std::int64_t c = 0; c < width; ++c)
        sum[c] = 0;
    for (std::int32_t place = A.starts[i]; place < A.starts[i + 1]; ++place) {
        const T value = A.values[place];
        const T* row = V + std::int64_t{A.columns[place]} * width;
        for (std::int64_t c = 0; c < width; ++c)
            sum[c] += value * row[c];
    }
}

// Rows from first to last of out = A V.
template <class T>
LOWDIM_TARGET void multiply(const CsrOf<T>& A, const T* V, T* out, std::int64_t first,
                            std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
        T sum[width];
        row_product(A, i, V, sum);
        std::copy_n(sum, width, out + i * width);
    }
}

// Rows from first to last of one step: out = scale (A W − centre V) − before, where before may be out itself.
template <class T>
LOWDIM_TARGET void advance(const CsrOf<T>& A, const T* W, const T* V, T scale, T centre,
                           const T* before, T* out, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
        T sum[width];
        row_product(A, i, W, sum);
        const T* at = V + i * width;
        for (std::int64_t c = 0; c < width; ++c)
            sum[c] = scale * (sum[c] - centre * at[c]);
        if (before)
            for (std::int64_t c = 0; c < width; ++c)
                sum[c] -= before[i * width + c];
        std::copy_n(sum, width, out + i * width);
    }
}
