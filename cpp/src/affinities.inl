// Entropy of one row for one instruction set; see each_isa.inl.

using R = detail::Register<float, LOWDIM_BYTES>;
using Vector = R::Vector;

// Σ e, Σ e d and Σ e d² with e = exp(−beta d), over `size` times 16 entries; those beyond the row are huge
// and have no weight.
LOWDIM_TARGET static Sums sums_at(const float* d, std::int64_t size, float beta) {
    const detail::Gauss<float> gauss{Falloff{}};
    Sums sums{};
    for (int part = 0; part < R::parts; ++part) {
        Vector s0 = {}, s1 = {}, s2 = {};
        for (std::int64_t v = 0; v < size; ++v) {
            const Vector x = reinterpret_cast<const R::Stored*>(d)[v * R::parts + part];
            Vector e, one;
            gauss.at(Vector(x * beta), e, one);
            e = x < beyond ? e : Vector{};
            const Vector ex = e * (x < beyond ? x : Vector{});
            s0 += e;
            s1 += ex;
            s2 += ex * (x < beyond ? x : Vector{});
        }
        for (int lane = 0; lane < R::lanes; ++lane) {
            sums.s0 += s0[lane];
            sums.s1 += s1[lane];
            sums.s2 += s2[lane];
        }
    }
    return sums;
}

// p += share exp(−beta d) / Σ.
LOWDIM_TARGET static void add_row(const float* d, std::int64_t k, float beta, float share, float* p) {
    const detail::Gauss<float> gauss{Falloff{}};
    constexpr int lanes = detail::Wide<float>::lanes;
    const float scale = share / sums_at(d, (k + lanes - 1) / lanes, beta).s0;
    for (std::int64_t at = 0; at < k; at += R::lanes) {
        Vector e, one;
        gauss.at(Vector(*reinterpret_cast<const R::Stored*>(d + at) * beta), e, one);
        for (int lane = 0; lane < R::lanes && at + lane < k; ++lane)
            if (e[lane] > negligible)
                p[at + lane] += scale * e[lane];
    }
}
