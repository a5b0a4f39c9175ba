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

using Lane =
    double __attribute__((vector_size(LOWDIM_BYTES))); // one number of as many rows as fit in a vector
constexpr int lanes = LOWDIM_BYTES / sizeof(double);

// G[i * k + j] += inner product of Z[i] and Z[j] for j <= i, in as many rows of data as there are lanes; Z (k
// × width).
LOWDIM_TARGET void add_products(const Lane* Z, std::int64_t k, std::int64_t width, Lane* G) {
    for (std::int64_t i = 0; i < k; ++i) {
        const Lane* a = Z + i * width;
        std::int64_t j = 0;
        for (; j + 3 <= i; j += 4) {
            const Lane* b = Z + j * width;
            Lane s0{}, s1{}, s2{}, s3{};
            for (std::int64_t c = 0; c < width; ++c) {
                s0 += a[c] * b[c];
                s1 += a[c] * b[width + c];
                s2 += a[c] * b[2 * width + c];
                s3 += a[c] * b[3 * width + c];
            }
            Lane* g = G + i * k + j;
            g[0] += s0, g[1] += s1, g[2] += s2, g[3] += s3;
        }
        for (; j <= i; ++j) {
            Lane s{};
            for (std::int64_t c = 0; c < width; ++c)
                s += a[c] * Z[j * width + c];
            G[i * k + j] += s;
        }
    }
}

// Weights w (k) from the lower half of G (k × k), which is overwritten, as solve_weights has them; ok[l] is
// false where a row of data needs more care.
LOWDIM_TARGET void solve_lanes(Lane* G, std::int64_t k, double reg, Lane* w, Lane* inverse, bool* ok) {
    Lane trace{};
    for (std::int64_t j = 0; j < k; ++j)
        trace += G[j * k + j];
    for (int l = 0; l < lanes; ++l)
        ok[l] = trace[l] > 1e-200 && trace[l] < 1e200 && reg <= 1;
    const Lane unit = 1 / trace;
    for (std::int64_t i = 0; i < k; ++i) {
        for (std::int64_t j = 0; j <= i; ++j)
            G[i * k + j] *= unit;
        G[i * k + i] += reg;
    }
    for (std::int64_t j = 0; j < k; ++j) {
        const Lane* own = G + j * k;
        const Lane whole = own[j];
        Lane pivot = whole;
        for (std::int64_t p = 0; p < j; ++p)
            pivot -= own[p] * own[p];
        Lane root{};
        for (int l = 0; l < lanes; ++l) {
            ok[l] = ok[l] && pivot[l] > whole[l] * std::numeric_limits<double>::epsilon();
            root[l] = std::sqrt(ok[l] ? pivot[l] : 1.0);
        }
        inverse[j] = 1 / root;
        for (std::int64_t i = j + 1; i < k; ++i) {
            Lane sum = G[i * k + j];
            for (std::int64_t p = 0; p < j; ++p)
                sum -= G[i * k + p] * own[p];
            G[i * k + j] = sum * inverse[j];
        }
    }
    for (std::int64_t i = 0; i < k; ++i) { // L v = 1
        Lane sum = Lane{} + 1;
        for (std::int64_t p = 0; p < i; ++p)
            sum -= G[i * k + p] * w[p];
        w[i] = sum * inverse[i];
    }
    Lane total{};
    for (std::int64_t i = k - 1; i >= 0; --i) { // Lᵀ w = v
        for (std::int64_t p = i + 1; p < k; ++p)
            w[i] -= G[p * k + i] * w[p];
        w[i] *= inverse[i];
        total += w[i];
    }
    const Lane share = 1 / total;
    for (std::int64_t i = 0; i < k; ++i)
        w[i] *= share;
}

// Weights of the k neighbours of `rows` rows of Q, at most as many as there are lanes, one after another in
// `out`; `workspace` has room for k (k + columns + 2) vectors. The other lanes repeat the last row. ok[l] as
// above.
template <class T>
LOWDIM_TARGET void weights_of(const T* X, const T* Q, std::int64_t d, const std::int32_t* neighbors, int rows,
                              std::int64_t k, double reg, double* workspace, double* out, bool* ok) {
    Lane *G = reinterpret_cast<Lane*>(workspace), *Z = G + k * k, *w = Z + k * columns, *inverse = w + k;
    std::fill_n(G, k * k, Lane{});
    for (std::int64_t from = 0; from < d; from += columns) {
        const std::int64_t width = std::min(columns, d - from);
        for (int l = 0; l < lanes; ++l) {
            const int row = std::min(l, rows - 1);
            const T* at = Q + row * d + from;
            for (std::int64_t j = 0; j < k; ++j) {
                const T* x = X + std::int64_t{neighbors[row * k + j]} * d + from;
                for (std::int64_t c = 0; c < width; ++c)
                    Z[j * width + c][l] = static_cast<double>(x[c]) - static_cast<double>(at[c]);
            }
        }
        add_products(Z, k, width, G);
    }
    solve_lanes(G, k, reg, w, inverse, ok);
    for (int l = 0; l < rows; ++l)
        for (std::int64_t j = 0; j < k; ++j)
            out[l * k + j] = w[j][l];
}
