// Pairs of points near each other for one instruction set; see each_isa.inl.

using Native = Register<float, LOWDIM_BYTES>::Vector;
typedef float Loose __attribute__((vector_size(LOWDIM_BYTES), aligned(4), may_alias));
constexpr int lanes = Register<float, LOWDIM_BYTES>::lanes;

LOWDIM_TARGET LOWDIM_INLINE float total(const Native& v) {
    float sums[lanes];
    *reinterpret_cast<Loose*>(sums) = v;
    for (int half = lanes / 2; half > 0; half /= 2)
        for (int i = 0; i < half; ++i)
            sums[i] += sums[i + half];
    return sums[0];
}

// Adds the near part, exp(−t (1 + s)) / (1 + s), to the forces and phi of the points of one strip; returns
// its sum.
LOWDIM_TARGET static double add_pairs(const Rows& rows, std::int64_t strip, float* forces, float* phi) {
    constexpr auto limit = static_cast<float>(parting(spacing / coarser));
    const Gauss<float> gauss({});
    double all = 0;
    for (std::int64_t bin = 0; bin + 1 < rows.bins; ++bin) {
        const std::int32_t* at = rows.starts + strip * rows.bins + bin;
        for (std::int64_t p = at[0]; p < at[1]; ++p) {
            const float x = rows.x[p], y = rows.y[p];
            Native field{}, right{}, up{};
            each_row(rows, strip, bin, [&](std::int64_t from, std::int64_t to) LOWDIM_TARGET {
                for (std::int64_t j = from; j < to; j += lanes) {
                    const Native dx = x - *reinterpret_cast<const Loose*>(rows.x + j),
                                 dy = y - *reinterpret_cast<const Loose*>(rows.y + j);
                    const Native s = dx * dx + dy * dy + 1.0f, inverse = 1.0f / s;
                    Native near, one;
                    gauss.at(Native(limit * s), near, one);
                    near *= inverse;
                    field += near;
                    near *= inverse + limit;
                    right += near * dx;
                    up += near * dy;
                }
            });
            const std::int64_t i = rows.points[p];
            const float sum = total(field);
            forces[2 * i] += total(right);
            forces[2 * i + 1] += total(up);
            if (phi)
                phi[i] += sum;
            all += sum;
        }
    }
    return all;
}
