// Values beside a mask, and small Cholesky factorisations of several rows at once, for one instruction set;
// see each_isa.inl.

template <class T>
LOWDIM_TARGET void observed_row(const T* __restrict x, std::int64_t d, const T* __restrict shift,
                                const T* __restrict rate, bool zeros, T* __restrict z, T* __restrict m,
                                double* count, double* square) {
    constexpr std::int64_t strip = 16; // partial sums in the order of the columns, whatever the vectors
    T counts[strip] = {}, squares[strip] = {};
    const T nothing = zeros ? T(0) : std::numeric_limits<T>::quiet_NaN();
    const auto one = [&](std::int64_t j, std::int64_t s) {
        const bool known = x[j] == x[j] && x[j] != nothing;
        const T value = known ? (x[j] - shift[j]) * rate[j] : T(0);
        z[j] = value;
        m[j] = known ? T(1) : T(0);
        counts[s] += m[j];
        squares[s] += value * value;
    };
    std::int64_t j = 0;
    for (; j + strip <= d; j += strip)
        LOWDIM_INDEPENDENT
    for (std::int64_t s = 0; s < strip; ++s)
        one(j + s, s);
    for (; j < d; ++j)
        one(j, j % strip);
    double all = 0, sum = 0;
    for (std::int64_t s = 0; s < strip; ++s) {
        all += static_cast<double>(counts[s]);
        sum += static_cast<double>(squares[s]);
    }
    *count = all;
    *square = sum;
}

// L (packed k × k, lanes side by side) + noise I is factored in place, and its inverse goes to V; t = inverse
// b.
LOWDIM_TARGET void solve_lanes(std::int64_t k, double noise, double* __restrict L, double* __restrict V,
                               const double* __restrict b, double* __restrict t, double* __restrict logdet,
                               double* __restrict fit) {
    double sum[lanes];
    for (int l = 0; l < lanes; ++l)
        logdet[l] = fit[l] = 0;
    for (std::int64_t i = 0; i < k; ++i)
        for (std::int64_t j = 0; j <= i; ++j) { // rows i and j of the factor so far
            double* const at = L + (triangle(i) + j) * lanes;
            const double *const a = L + triangle(i) * lanes, *const c = L + triangle(j) * lanes;
            for (int l = 0; l < lanes; ++l)
                sum[l] = at[l] + (i == j ? noise : 0.0);
            for (std::int64_t m = 0; m < j; ++m)
                for (int l = 0; l < lanes; ++l)
                    sum[l] -= a[m * lanes + l] * c[m * lanes + l];
            if (i == j)
                for (int l = 0; l < lanes; ++l) {
                    logdet[l] += std::log(sum[l]);
                    at[l] = 1.0 / std::sqrt(sum[l]); // the reciprocal of the diagonal
                }
            else
                for (int l = 0; l < lanes; ++l)
                    at[l] = sum[l] * c[j * lanes + l];
        }
    for (std::int64_t j = 0; j < k; ++j) // the inverse of the factor, by columns
        for (std::int64_t i = j; i < k; ++i) {
            double* const at = V + (triangle(i) + j) * lanes;
            const double* const row = L + triangle(i) * lanes;
            if (i == j) {
                for (int l = 0; l < lanes; ++l)
                    at[l] = row[i * lanes + l];
                continue;
            }
            for (int l = 0; l < lanes; ++l)
                sum[l] = 0;
            for (std::int64_t m = j; m < i; ++m)
                for (int l = 0; l < lanes; ++l)
                    sum[l] -= row[m * lanes + l] * V[(triangle(m) + j) * lanes + l];
            for (int l = 0; l < lanes; ++l)
                at[l] = sum[l] * row[i * lanes + l];
        }
    for (std::int64_t i = 0; i < k; ++i) // Σ_m inverse(m, i) inverse(m, j), m ≥ i: rows below are still there
        for (std::int64_t j = 0; j <= i; ++j) {
            for (int l = 0; l < lanes; ++l)
                sum[l] = 0;
            for (std::int64_t m = i; m < k; ++m)
                for (int l = 0; l < lanes; ++l)
                    sum[l] += V[(triangle(m) + i) * lanes + l] * V[(triangle(m) + j) * lanes + l];
            for (int l = 0; l < lanes; ++l)
                L[(triangle(i) + j) * lanes + l] = sum[l];
        }
    for (std::int64_t i = 0; i < k; ++i) {
        for (int l = 0; l < lanes; ++l)
            sum[l] = 0;
        for (std::int64_t j = 0; j < k; ++j) {
            const double* const at = L + (i >= j ? triangle(i) + j : triangle(j) + i) * lanes;
            for (int l = 0; l < lanes; ++l)
                sum[l] += at[l] * b[j * lanes + l];
        }
        for (int l = 0; l < lanes; ++l) {
            t[i * lanes + l] = sum[l];
            fit[l] += sum[l] * b[i * lanes + l];
        }
    }
    for (std::int64_t p = 0; p < triangle(k) * lanes; ++p)
        V[p] = L[p];
}
