// Gram matrices of neighbours for one instruction set; see each_isa.inl.

// Inner products of the rows of Z (k × d), one half; sums run in eight lanes, in a fixed order.
LOWDIM_TARGET void inner_products(const double* Z, std::int64_t k, std::int64_t d, double* G) {
    constexpr int lanes = 8;
    for (std::int64_t i = 0; i < k; ++i)
        for (std::int64_t j = 0; j <= i; ++j) {
            const double *a = Z + i * d, *b = Z + j * d;
            double sum[lanes] = {};
            std::int64_t c = 0;
            for (; c + lanes <= d; c += lanes)
                for (int l = 0; l < lanes; ++l)
                    sum[l] += a[c + l] * b[c + l];
            for (; c < d; ++c)
                sum[0] += a[c] * b[c];
            double total = 0;
            for (int l = 0; l < lanes; ++l)
                total += sum[l];
            G[i * k + j] = G[j * k + i] = total;
        }
}
