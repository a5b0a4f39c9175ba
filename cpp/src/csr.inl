// Rows of a sparse matrix times a block of vectors for one instruction set; see each_isa.inl.

// The largest number, negative ones counting as larger than all others.
LOWDIM_TARGET std::uint32_t largest(const std::int32_t* numbers, std::int64_t count) {
    std::uint32_t found = 0;
    for (std::int64_t i = 0; i < count; ++i)
        found = std::max(found, static_cast<std::uint32_t>(numbers[i]));
    return found;
}

// Columns from j on, N of them in registers, of row i of A V.
template <std::int64_t N, class T>
LOWDIM_TARGET LOWDIM_INLINE void multiply_strip(const CsrOf<T>& A, const T* V, std::int64_t width,
                                                std::int64_t i, std::int64_t j, T* __restrict target) {
    T sum[N] = {};
    for (std::int32_t place = A.starts[i]; place < A.starts[i + 1]; ++place) {
        const T* __restrict row = V + A.columns[place] * width + j;
        for (std::int64_t c = 0; c < N; ++c)
            sum[c] += A.values[place] * row[c];
    }
    std::copy_n(sum, N, target);
}

template <class T>
LOWDIM_TARGET void multiply_rows(const CsrOf<T>& A, const T* V, std::int64_t width, std::int64_t first,
                                 std::int64_t last, T* out) {
    for (std::int64_t i = first; i < last; ++i) {
        T* __restrict target = out + i * width;
        std::int64_t j = 0;
        for (; j + strip <= width; j += strip)
            multiply_strip<strip>(A, V, width, i, j, target + j);
        for (; j + strip / 2 <= width; j += strip / 2)
            multiply_strip<strip / 2>(A, V, width, i, j, target + j);
        if (j == width)
            continue;
        std::fill(target + j, target + width, T(0));
        for (std::int32_t place = A.starts[i]; place < A.starts[i + 1]; ++place) {
            const T* __restrict row = V + A.columns[place] * width;
            for (std::int64_t c = j; c < width; ++c)
                target[c] += A.values[place] * row[c];
        }
    }
}
