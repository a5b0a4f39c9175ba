// Guttman's transform of one point for one instruction set; see each_isa.inl.

// K coordinates, or `k` where K is 0; weighted or not.
template <int K, bool weighted>
LOWDIM_TARGET void transform_row(const float* D, const float* W, const float* point, const float* map,
                                 std::int64_t n, std::int64_t k, double* out, double* sums) {
    typedef float Vector __attribute__((vector_size(LOWDIM_BYTES), aligned(sizeof(float)), may_alias));
    constexpr int lanes = LOWDIM_BYTES / sizeof(float);
    const std::int64_t dims = K ? K : k;
    for (std::int64_t c = 0; c < dims; ++c)
        out[c] = 0;
    sums[0] = sums[1] = 0;
    for (std::int64_t start = 0; start < n; start += chunk) {
        const std::int64_t stop = start + chunk < n ? start + chunk : n;
        alignas(64) float ratio[chunk];
        Vector stress = {}, square = {}, moved[K ? K : 1] = {};
        std::int64_t j = start;
        for (; j + lanes <= stop; j += lanes) {
            Vector d2 = {}, step[K ? K : 1];
            for (std::int64_t c = 0; c < dims; ++c) {
                const Vector gap = point[c] - *reinterpret_cast<const Vector*>(map + c * n + j);
                d2 += gap * gap;
                if constexpr (K)
                    step[c] = gap;
            }
            Vector d;
            for (int l = 0; l < lanes; ++l)
                d[l] = __builtin_sqrtf(d2[l]);
            const Vector delta = *reinterpret_cast<const Vector*>(D + j);
            const Vector apart = delta - d;
            Vector share = d2 > 0 ? delta / d : Vector{};
            if constexpr (weighted) {
                const Vector w = *reinterpret_cast<const Vector*>(W + j);
                stress += w * apart * apart;
                square += w * d2;
                share *= w;
            } else {
                stress += apart * apart;
                square += d2;
            }
            if constexpr (K) {
                for (int c = 0; c < K; ++c)
                    moved[c] += share * step[c];
            } else {
                *reinterpret_cast<Vector*>(ratio + (j - start)) = share;
            }
        }
        for (std::int64_t c = 0; c < (K ? dims : 0); ++c) {
            double sum = 0;
            for (int l = 0; l < lanes; ++l)
                sum += static_cast<double>(moved[K ? c : 0][l]);
            out[c] += sum;
        }
        for (int l = 0; l < lanes; ++l) {
            sums[0] += static_cast<double>(stress[l]);
            sums[1] += static_cast<double>(square[l]);
        }
        for (; j < stop; ++j) {
            float d2 = 0;
            for (std::int64_t c = 0; c < dims; ++c) {
                const float gap = point[c] - map[c * n + j];
                d2 += gap * gap;
            }
            const float d = __builtin_sqrtf(d2), apart = D[j] - d, w = weighted ? W[j] : 1.0F;
            const float share = d2 > 0 ? w * (D[j] / d) : 0.0F;
            sums[0] += static_cast<double>(w * apart * apart);
            sums[1] += static_cast<double>(w * d2);
            if constexpr (K) {
                for (int c = 0; c < K; ++c)
                    out[c] += static_cast<double>(share * (point[c] - map[c * n + j]));
            } else {
                ratio[j - start] = share;
            }
        }
        if constexpr (!K)
            for (std::int64_t c = 0; c < dims; ++c) {
                double sum = 0;
                for (std::int64_t i = start; i < stop; ++i)
                    sum += static_cast<double>(ratio[i - start] * (point[c] - map[c * n + i]));
                out[c] += sum;
            }
    }
}

constexpr Transform transforms[4][2] = {{transform_row<0, false>, transform_row<0, true>},
                                        {transform_row<1, false>, transform_row<1, true>},
                                        {transform_row<2, false>, transform_row<2, true>},
                                        {transform_row<3, false>, transform_row<3, true>}};
