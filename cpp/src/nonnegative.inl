// Non-negative factors for one instruction set; see each_isa.inl.

template <class T> constexpr std::int64_t tile_rows() { return together * LOWDIM_BYTES / sizeof(T); }

// Rows first to last − 1 of W. `space` holds 2 tile_rows k + k numbers.
template <class T>
LOWDIM_TARGET void descend_tile(const T* G, const T* B, T* W, std::int64_t first, std::int64_t last,
                                std::int64_t k, std::int64_t most, T tol2, T* space, Watch& watch) {
    typedef T Vector __attribute__((vector_size(LOWDIM_BYTES), aligned(sizeof(T)), may_alias));
    constexpr std::int64_t lanes = LOWDIM_BYTES / sizeof(T), tile = together * lanes;
    T *const w = space, *const b = w + tile * k, *const inverse = b + tile * k;
    for (std::int64_t j = 0; j < k; ++j) {
        inverse[j] = G[j * k + j] > 0 ? 1 / G[j * k + j] : T(0);
        for (std::int64_t r = 0; r < tile; ++r) {
            const bool there = first + r < last;
            w[j * tile + r] = there ? W[(first + r) * k + j] : T(0);
            b[j * tile + r] = there ? B[(first + r) * k + j] : T(0);
        }
    }
    Vector start[together] = {}, going[together];
    for (int v = 0; v < together; ++v)
        going[v] = Vector{} + 1;
    for (std::int64_t sweep = 0; sweep < most; ++sweep) {
        if (sweep % 64 == 63 && watch.stopped())
            return;
        Vector moved[together] = {};
        // Two coordinates share the loads of a row, and their chains of sums run side by side; the step of
        // the first is added to the sum of the second.
        for (std::int64_t j = 0; j < k; j += 2) {
            Vector sum[2][together] = {}, step[together];
            const bool pair = j + 1 < k;
            const T *const first = G + j * k, *const second = first + (pair ? k : 0);
            for (std::int64_t l = 0; l < k; ++l)
                for (int v = 0; v < together; ++v) {
                    const Vector now = *reinterpret_cast<const Vector*>(w + l * tile + v * lanes);
                    sum[0][v] += first[l] * now;
                    sum[1][v] += second[l] * now;
                }
            const auto take = [&](std::int64_t at, const Vector(&total)[together], const T* g) LOWDIM_TARGET {
                for (int v = 0; v < together; ++v) {
                    Vector& now = *reinterpret_cast<Vector*>(w + at * tile + v * lanes);
                    const Vector right = *reinterpret_cast<const Vector*>(b + at * tile + v * lanes);
                    Vector next = now + (right - total[v]) * inverse[at];
                    next = next > 0 ? next : Vector{};
                    next = inverse[at] > 0 ? next : Vector{};
                    step[v] = (next - now) * going[v];
                    now += step[v];
                    now = now > 0 ? now : Vector{};
                    moved[v] += step[v] * step[v] * g[at];
                }
            };
            take(j, sum[0], first);
            if (!pair)
                continue;
            for (int v = 0; v < together; ++v)
                sum[1][v] += second[j] * step[v];
            take(j + 1, sum[1], second);
        }
        bool any = false;
        for (int v = 0; v < together; ++v) {
            if (sweep == 0)
                start[v] = moved[v];
            going[v] = moved[v] > tol2 * start[v] ? going[v] : Vector{};
            for (int r = 0; r < lanes; ++r)
                any |= going[v][r] > 0;
        }
        if (!any)
            break;
    }
    for (std::int64_t r = 0; first + r < last && r < tile; ++r)
        for (std::int64_t j = 0; j < k; ++j)
            W[(first + r) * k + j] = w[j * tile + r];
}

// Sum of products of k numbers, by lanes that the length decides.
template <class T> LOWDIM_TARGET LOWDIM_INLINE T dot_of(const T* a, const T* b, std::int64_t k) {
    constexpr std::int64_t lanes = 8;
    T sum[lanes] = {};
    std::int64_t l = 0;
    for (; l + lanes <= k; l += lanes)
        for (std::int64_t c = 0; c < lanes; ++c)
            sum[c] += a[l + c] * b[l + c];
    T all = ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
    for (; l < k; ++l)
        all += a[l] * b[l];
    return all;
}

template <class T>
LOWDIM_TARGET void ratios_of_rows(const CsrOf<T>& X, const T* W, const T* H, std::int64_t k, T least,
                                  std::int64_t first, std::int64_t last, T* out, double* losses) {
    for (std::int64_t i = first; i < last; ++i) {
        const T* w = W + i * k;
        T* __restrict target = out + i * k;
        std::fill(target, target + k, T(0));
        double loss = 0;
        for (std::int32_t place = X.starts[i]; place < X.starts[i + 1]; ++place) {
            const T x = X.values[place];
            if (!(x > 0))
                continue;
            const T* h = H + X.columns[place] * k;
            const T product = std::max(dot_of(w, h, k), least), ratio = x / product;
            if (losses) // a logarithm takes as long as the rest
                loss +=
                    static_cast<double>(x) * std::log(static_cast<double>(x) / static_cast<double>(product));
            for (std::int64_t l = 0; l < k; ++l)
                target[l] += ratio * h[l];
        }
        if (losses)
            losses[i] = loss;
    }
}
