// One row of distances for one instruction set; see each_isa.inl. Compiled without fused multiply-add: every
// set gives the same bits, and ties stay ties.

// Bits of the lanes of a vector under a limit.
template <class T, class Vector> LOWDIM_TARGET inline std::uint64_t below(Vector x, T limit) {
#if LOWDIM_BYTES == 64
    if constexpr (sizeof(T) == 4)
        return _mm512_cmp_ps_mask((__m512)x, _mm512_set1_ps(limit), _CMP_LT_OQ);
    else
        return _mm512_cmp_pd_mask((__m512d)x, _mm512_set1_pd(limit), _CMP_LT_OQ);
#elif LOWDIM_BYTES == 32
    int bits;
    if constexpr (sizeof(T) == 4)
        bits = _mm256_movemask_ps(_mm256_cmp_ps((__m256)x, _mm256_set1_ps(limit), _CMP_LT_OQ));
    else
        bits = _mm256_movemask_pd(_mm256_cmp_pd((__m256d)x, _mm256_set1_pd(limit), _CMP_LT_OQ));
    return static_cast<std::uint64_t>(bits);
#else
    std::uint64_t bits = 0;
    for (unsigned l = 0; l < LOWDIM_BYTES / sizeof(T); ++l)
        bits |= static_cast<std::uint64_t>(x[l] < limit) << l;
    return bits;
#endif
}

// out = from ± (x − q)²; both may be the same row.
template <class T, bool joining>
LOWDIM_TARGET void move(const T* from, const T* __restrict x, T q, std::int64_t n, T* out) {
    LOWDIM_INDEPENDENT
    for (std::int64_t j = 0; j < n; ++j) {
        const T step = x[j] - q;
        if constexpr (joining)
            out[j] = from[j] + step * step;
        else
            out[j] = std::max(from[j] - step * step, T(0));
    }
}

// Puts a distance in its place among the k best so far, behind equal ones.
template <class T>
LOWDIM_TARGET inline void insert(T distance, std::int64_t j, std::int64_t k, std::int32_t* __restrict index,
                                 T* __restrict best) {
    if (!(distance < best[k - 1]))
        return;
    std::int64_t place = k - 1;
    for (; place > 0 && distance < best[place - 1]; --place) {
        best[place] = best[place - 1];
        index[place] = index[place - 1];
    }
    best[place] = distance;
    index[place] = static_cast<std::int32_t>(j);
}

// The k smallest of n distances base ± (x − q)², or of base itself where x is null, kept sorted, given that k
// of them are at most `bound`; a block is looked at closely only if one of it may be among them.
template <class T, bool joining>
LOWDIM_TARGET void nearest(const T* __restrict from, const T* __restrict x, T q, std::int64_t n,
                           std::int64_t k, T bound, std::int32_t* __restrict index, T* __restrict best) {
    typedef T Vector __attribute__((vector_size(LOWDIM_BYTES), aligned(sizeof(T)), may_alias));
    constexpr int lanes = LOWDIM_BYTES / sizeof(T), vectors = 4, block = vectors * lanes;
    alignas(64) T near[block];
    const T above = std::nextafter(bound, std::numeric_limits<T>::infinity());
    std::fill(best, best + k, std::numeric_limits<T>::infinity());
    std::fill(index, index + k, -1);
    std::int64_t start = 0;
    for (; start + block <= n; start += block) {
        const T screen = std::min(above, best[k - 1]);
        std::uint64_t hits = 0;
        Vector all[vectors];
        LOWDIM_UNROLL
        for (int v = 0; v < vectors; ++v) {
            const std::int64_t j = start + v * lanes;
            Vector now = *reinterpret_cast<const Vector*>(from + j);
            if (x != nullptr) {
                const Vector step = *reinterpret_cast<const Vector*>(x + j) - q;
                now = joining ? now + step * step : now - step * step;
            }
            all[v] = now;
            hits |= below<T>(now, screen) << (v * lanes);
        }
        if (hits == 0)
            continue;
        LOWDIM_UNROLL
        for (int v = 0; v < vectors; ++v)
            *reinterpret_cast<Vector*>(near + v * lanes) = all[v];
        for (; hits != 0; hits &= hits - 1) {
            const int j = __builtin_ctzll(hits);
            insert(joining ? near[j] : std::max(near[j], T(0)), start + j, k, index, best);
        }
    }
    for (; start < n; ++start) {
        const T step = x != nullptr ? x[start] - q : T(0);
        insert(joining ? from[start] + step * step : std::max(from[start] - step * step, T(0)), start, k,
               index, best);
    }
}

template <class T, bool joining>
LOWDIM_TARGET void one_query(const Distances<T>& given, std::int64_t i, std::int64_t k, T* __restrict row,
                             std::int32_t* indices, T* distances) {
    const std::int64_t n = given.n_points, q = given.n_queries;
    const T* base = given.base + i * n;
    // The points nearest so far: their distances with a unit bound the k-th smallest.
    std::vector<T> best(static_cast<std::size_t>(k), std::numeric_limits<T>::infinity());
    std::vector<std::int32_t> close(static_cast<std::size_t>(k), 0);
    nearest<T, true>(base, nullptr, T(0), n, k, std::numeric_limits<T>::max(), close.data(), best.data());
    for (std::int64_t u = 0; u < given.n_units; ++u) {
        const std::int32_t *member = given.members + given.offsets[u],
                           *end = given.members + given.offsets[u + 1];
        const T* from = base;
        for (; member + 1 < end; ++member, from = row)
            move<T, joining>(from, given.points + *member * n, given.queries[*member * q + i], n, row);
        const T *x = given.points + *member * n, at = given.queries[*member * q + i];
        T bound = 0;
        for (std::int32_t j : close) {
            const T step = x[j] - at;
            bound = std::max(bound, joining ? from[j] + step * step : from[j] - step * step); // at least 0
        }
        const std::int64_t out = (u * q + i) * k;
        nearest<T, joining>(from, x, at, n, k, bound, indices + out, distances + out);
    }
}
