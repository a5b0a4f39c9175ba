// The sums of one row, for one instruction set; see each_isa.inl.

// Σx, Σx² and Σxy of a chunk, added to three totals.
LOWDIM_TARGET LOWDIM_INLINE void add(const float* x, const float* y, std::int64_t n, double* totals) {
    double sum[lanes] = {}, square[lanes] = {}, both[lanes] = {};
    for (std::int64_t j = 0; j + lanes <= n; j += lanes)
        for (int l = 0; l < lanes; ++l) {
            const double a = x[j + l], b = y[j + l];
            sum[l] += a;
            square[l] += a * a;
            both[l] += a * b;
        }
    for (std::int64_t j = n - n % lanes; j < n; ++j) {
        const double a = x[j], b = y[j];
        sum[0] += a;
        square[0] += a * a;
        both[0] += a * b;
    }
    for (int l = 0; l < lanes; ++l) {
        totals[0] += sum[l];
        totals[1] += square[l];
        totals[2] += both[l];
    }
}

LOWDIM_TARGET void sum_row(const float* D, std::int64_t place, const float* Y, std::int64_t n, std::int64_t k,
                           bool squared, bool beyond, double* out) {
    float d[chunk], e2[chunk], e[chunk];
    std::fill_n(out, 2 + 3 * k, 0.0);
    for (std::int64_t start = beyond ? place + 1 : 0; start < n; start += chunk) {
        const std::int64_t m = std::min(chunk, n - start);
        for (std::int64_t j = 0; j < m; ++j) {
            d[j] = squared ? std::sqrt(D[start + j]) : D[start + j];
            e2[j] = 0;
        }
        double own[3] = {};
        add(d, d, m, own);
        out[0] += own[0];
        out[1] += own[1];
        for (std::int64_t c = 0; c < k; ++c) {
            const float* y = Y + c * n;
            const float at = y[place];
            for (std::int64_t j = 0; j < m; ++j) {
                const float step = y[start + j] - at;
                e2[j] += step * step;
                e[j] = std::sqrt(e2[j]);
            }
            add(e, d, m, out + 2 + 3 * c);
        }
    }
}

// The sums over the pairs of a panel, each once: of its columns with the rows after them.
LOWDIM_TARGET void sum_panel(const PackedSymmetric<const float>& D2, std::int64_t panel, const float* Y,
                             std::int64_t k, double* out) {
    constexpr std::int64_t wide = PackedSymmetric<float>::wide, some = chunk / wide;
    float d[chunk], e2[chunk], e[chunk];
    const std::int64_t n = D2.n, left = panel * wide, columns = D2.columns(panel);
    std::fill_n(out, 2 + 3 * k, 0.0);
    for (std::int64_t start = left; start < n; start += some) {
        const std::int64_t stop = std::min(n, start + some);
        std::int64_t m = 0;
        for (std::int64_t row = start; row < stop; ++row) {
            const float* from = D2.at(panel, row);
            const std::int64_t before = std::min(columns, row - left);
            for (std::int64_t j = 0; j < before; ++j) {
                d[m + j] = std::sqrt(from[j]);
                e2[m + j] = 0;
            }
            m += before;
        }
        double own[3] = {};
        add(d, d, m, own);
        out[0] += own[0];
        out[1] += own[1];
        for (std::int64_t c = 0; c < k; ++c) {
            const float* y = Y + c * n;
            std::int64_t at = 0;
            for (std::int64_t row = start; row < stop; ++row) {
                const std::int64_t before = std::min(columns, row - left);
                for (std::int64_t j = 0; j < before; ++j) {
                    const float step = y[left + j] - y[row];
                    e2[at + j] += step * step;
                    e[at + j] = std::sqrt(e2[at + j]);
                }
                at += before;
            }
            add(e, d, m, out + 2 + 3 * c);
        }
    }
}
