// Entropy of one row for one instruction set; see each_isa.inl.

using Vector = detail::Wide<float>::Vector;

LOWDIM_TARGET static float total(const Vector& v) {
    float sum = 0;
    for (int lane = 0; lane < detail::Wide<float>::lanes; ++lane)
        sum += v[lane];
    return sum;
}

// Σ e, Σ e d and Σ e d² with e = exp(−beta d), over `size` vectors; entries beyond the row are huge and have
// no weight.
LOWDIM_TARGET static Sums sums_at(const float* d, std::int64_t size, float beta) {
    const detail::Gauss<float> gauss{Falloff{}};
    Vector s0 = {}, s1 = {}, s2 = {};
    for (std::int64_t v = 0; v < size; ++v) {
        const Vector x = reinterpret_cast<const Vector*>(d)[v];
        Vector e, one;
        gauss.at(Vector(x * beta), e, one);
        e = x < beyond ? e : Vector{};
        const Vector ex = e * (x < beyond ? x : Vector{});
        s0 += e;
        s1 += ex;
        s2 += ex * (x < beyond ? x : Vector{});
    }
    return {total(s0), total(s1), total(s2)};
}

// p += share exp(−beta d) / Σ.
LOWDIM_TARGET static void add_row(const float* d, std::int64_t k, float beta, float share, float* p) {
    const detail::Gauss<float> gauss{Falloff{}};
    constexpr int lanes = detail::Wide<float>::lanes;
    const std::int64_t size = (k + lanes - 1) / lanes;
    const float scale = share / sums_at(d, size, beta).s0;
    for (std::int64_t v = 0; v < size; ++v) {
        Vector e, one;
        gauss.at(Vector(reinterpret_cast<const Vector*>(d)[v] * beta), e, one);
        for (int lane = 0; lane < lanes && v * lanes + lane < k; ++lane)
            if (e[lane] > negligible)
                p[v * lanes + lane] += scale * e[lane];
    }
}
