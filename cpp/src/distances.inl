// Distances of a few rows from a block of rows for one instruction set; see each_isa.inl.

constexpr int vectors = LOWDIM_BYTES == 64 ? 4 : 2; // that stay in registers for each of the few

// out (few × block): squared distances of packed rows of d features, or their roots.
LOWDIM_TARGET void tile(const double* q, const double* x, std::int64_t d, bool root, double* out) {
    typedef double Vector __attribute__((vector_size(LOWDIM_BYTES), aligned(sizeof(double)), may_alias));
    constexpr int lanes = LOWDIM_BYTES / sizeof(double), wide = vectors * lanes;
    for (int c = 0; c < block; c += wide) {
        Vector sum[few][vectors] = {};
        const double *a = q, *b = x + c;
        for (std::int64_t s = 0; s < d; ++s, a += few, b += block) {
            Vector right[vectors];
            LOWDIM_UNROLL
            for (int v = 0; v < vectors; ++v)
                right[v] = *reinterpret_cast<const Vector*>(b + v * lanes);
            LOWDIM_UNROLL
            for (int r = 0; r < few; ++r) {
                LOWDIM_UNROLL
                for (int v = 0; v < vectors; ++v) {
                    const Vector gap = a[r] - right[v];
                    sum[r][v] += gap * gap;
                }
            }
        }
        LOWDIM_UNROLL
        for (int r = 0; r < few; ++r) {
            LOWDIM_UNROLL
            for (int v = 0; v < vectors; ++v)
                *reinterpret_cast<Vector*>(out + r * block + c + v * lanes) = sum[r][v];
        }
    }
    if (root)
        for (int at = 0; at < few * block; ++at)
            out[at] = __builtin_sqrt(out[at]);
}

// Σ values[from … to − 1], in an order that depends on their number alone.
LOWDIM_TARGET double total(const double* values, int from, int to) {
    typedef double Eight __attribute__((vector_size(64), aligned(sizeof(double)), may_alias));
    Eight sums = {};
    for (; from + 8 <= to; from += 8)
        sums += *reinterpret_cast<const Eight*>(values + from);
    double out = ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
    for (; from < to; ++from)
        out += values[from];
    return out;
}

constexpr Kernels kernels = {tile, total};
