// Products with few columns for one instruction set; see each_isa.inl.

// Six rows times `most` vectors of columns keep their sums in registers, of which there are 32 or 16.
#if defined(__aarch64__)
constexpr int most = 4;
#else
constexpr int most = LOWDIM_BYTES == 64 ? 4 : 2;
#endif

template <class T> constexpr std::int64_t lanes_of() { return LOWDIM_BYTES / sizeof(T); }
constexpr std::int64_t most_vectors() { return most; }

// Adds `rows` rows of A, whose entry (i, l) is a[i * down + l * right], times the panel b (depth × panel) to
// out.
template <int rows, int vectors, class T>
LOWDIM_TARGET void add_tile(const T* a, std::int64_t down, std::int64_t right, const T* b, std::int64_t panel,
                            std::int64_t depth, T* out, std::int64_t stride) {
    typedef T Vector __attribute__((vector_size(LOWDIM_BYTES), may_alias));
    constexpr std::int64_t lanes = LOWDIM_BYTES / sizeof(T);
    Vector sum[rows][vectors] = {};
    for (std::int64_t l = 0; l < depth; ++l, a += right, b += panel) {
        Vector columns[vectors];
        LOWDIM_UNROLL
        for (int v = 0; v < vectors; ++v)
            columns[v] = *reinterpret_cast<const Vector*>(b + v * lanes);
        LOWDIM_UNROLL
        for (int i = 0; i < rows; ++i) {
            LOWDIM_UNROLL
            for (int v = 0; v < vectors; ++v)
                sum[i][v] += a[i * down] * columns[v];
        }
    }
    LOWDIM_UNROLL
    for (int i = 0; i < rows; ++i) {
        LOWDIM_UNROLL
        for (int v = 0; v < vectors; ++v)
            *reinterpret_cast<Vector*>(out + i * stride + v * lanes) += sum[i][v];
    }
}

template <int vectors, class T>
LOWDIM_TARGET void add_rows(const T* a, std::int64_t down, std::int64_t right, const T* b, std::int64_t panel,
                            std::int64_t depth, T* out, std::int64_t stride, std::int64_t rows) {
    std::int64_t i = 0;
    for (; i + 6 <= rows; i += 6)
        add_tile<6, vectors>(a + i * down, down, right, b, panel, depth, out + i * stride, stride);
    for (; i < rows; ++i)
        add_tile<1, vectors>(a + i * down, down, right, b, panel, depth, out + i * stride, stride);
}

// The same for any number of rows and for the first `wanted` columns of the panel, in whole vectors.
template <class T>
LOWDIM_TARGET void add_panel(const T* a, std::int64_t down, std::int64_t right, const T* b,
                             std::int64_t panel, std::int64_t depth, T* out, std::int64_t stride,
                             std::int64_t rows, std::int64_t wanted) {
    constexpr std::int64_t lanes = LOWDIM_BYTES / sizeof(T);
    const std::int64_t vectors = (wanted + lanes - 1) / lanes;
    if constexpr (most == 4) {
        if (vectors == 4)
            return add_rows<4>(a, down, right, b, panel, depth, out, stride, rows);
        if (vectors == 3)
            return add_rows<3>(a, down, right, b, panel, depth, out, stride, rows);
    }
    if (vectors == 2)
        return add_rows<2>(a, down, right, b, panel, depth, out, stride, rows);
    add_rows<1>(a, down, right, b, panel, depth, out, stride, rows);
}
