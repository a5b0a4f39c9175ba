// Contrasts of projected rows for one instruction set; see each_isa.inl.

// exp(x) of x ≤ 0, as in gaussian.inl.
template <class T> LOWDIM_TARGET LOWDIM_INLINE T exp_below(T x) {
    using E = Exp<T>;
    using Bits = typename E::Bits;
    x = x < E::lowest ? E::lowest : x;
    const T shifted = x * E::log2e + E::magic;
    const T whole = shifted - E::magic;
    T f = x - whole * E::ln2_high;
    f = f - whole * E::ln2_low;
    T p = E::c[0];
    for (int i = 1; i < E::terms; ++i)
        p = p * f + E::c[i];
    p = (p * f) * f + f + 1;
    Bits bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << E::mantissa) + E::one;
    T scale;
    std::memcpy(&scale, &bits, sizeof scale);
    return p * scale;
}

// Each s becomes g(s); the slopes g'(s) are summed over the rows.
template <Contrast contrast, class T>
LOWDIM_TARGET LOWDIM_INLINE void contrast_rows(T* __restrict S, std::int64_t n, std::int64_t p, T alpha,
                                               T* __restrict slope) {
    for (std::int64_t i = 0; i < n; ++i) {
        T* __restrict s = S + i * p;
        for (std::int64_t j = 0; j < p; ++j) {
            const T x = s[j];
            if constexpr (contrast == Contrast::logcosh) {
                const T size = x < 0 ? -alpha * x : alpha * x;
                const T e = exp_below(-2 * size), t = (1 - e) / (1 + e);
                s[j] = x < 0 ? -t : t;
                slope[j] += alpha * (1 - t * t);
            } else if constexpr (contrast == Contrast::exp) {
                const T square = x * x, e = exp_below(-square / 2);
                s[j] = x * e;
                slope[j] += (1 - square) * e;
            } else {
                const T square = x * x;
                s[j] = x * square;
                slope[j] += 3 * square;
            }
        }
    }
}

// The same for any contrast; the sums of slopes are added to `sums`.
template <class T>
LOWDIM_TARGET void contrasts_of(T* S, std::int64_t n, std::int64_t p, Contrast contrast, T alpha,
                                double* sums, T* slope) {
    std::fill(slope, slope + p, T(0));
    if (contrast == Contrast::logcosh)
        contrast_rows<Contrast::logcosh>(S, n, p, alpha, slope);
    else if (contrast == Contrast::exp)
        contrast_rows<Contrast::exp>(S, n, p, alpha, slope);
    else
        contrast_rows<Contrast::cube>(S, n, p, alpha, slope);
    for (std::int64_t j = 0; j < p; ++j)
        sums[j] += static_cast<double>(slope[j]);
}
