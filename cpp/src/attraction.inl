// Attraction and its cost for one instruction set; see each_isa.inl.

typedef float Eight __attribute__((vector_size(32)));
typedef double Four __attribute__((vector_size(32)));
typedef double Place __attribute__((may_alias, aligned(4))); // the two floats of a point, moved as one

LOWDIM_TARGET LOWDIM_INLINE float total(const Eight& v) {
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

// Values of group g of P, and the steps from its points to (x, y).
LOWDIM_TARGET LOWDIM_INLINE void steps_of(const PlaneAffinities::Rows& P, const float* Y, std::int64_t g,
                                          float x, float y, Eight& w, Eight& dx, Eight& dy) {
    typedef std::uint16_t Halves __attribute__((vector_size(16), aligned(2), may_alias));
    typedef std::uint32_t Bits __attribute__((vector_size(32)));
    const auto* places = reinterpret_cast<const Place*>(Y) + P.bases[g];
    const std::uint16_t* q = P.columns + 8 * g;
    const Eight a = (Eight)Four{places[q[0]], places[q[1]], places[q[4]], places[q[5]]};
    const Eight b = (Eight)Four{places[q[2]], places[q[3]], places[q[6]], places[q[7]]};
    dx = x - __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14);
    dy = y - __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
    const Halves upper = *reinterpret_cast<const Halves*>(P.values + 8 * g);
    w = (Eight)(__builtin_convertvector(upper, Bits) << 16);
}

// a(s) = factor/(s + shift), or 1 where `constant`.
template <bool constant>
LOWDIM_TARGET void pull_plane(const PlaneAffinities::Rows& P, const float* Y, float factor, float shift,
                              std::int64_t from, std::int64_t to, float* forces) {
    for (std::int64_t i = from; i < to; ++i) {
        Eight fx = {}, fy = {};
        for (std::int64_t g = P.starts[i]; g < P.starts[i + 1]; ++g) {
            Eight w, dx, dy;
            steps_of(P, Y, g, Y[2 * i], Y[2 * i + 1], w, dx, dy);
            if constexpr (!constant)
                w /= dx * dx + (dy * dy + shift);
            fx += w * dx;
            fy += w * dy;
        }
        forces[2 * i] = factor * total(fx);
        forces[2 * i + 1] = factor * total(fy);
    }
}

// x_j = log x_j for positive numbers: the exponent, and a polynomial of the mantissa between √½ and √2.
// Within 2 ulp or 1e-7.
LOWDIM_TARGET static void logs(float* x, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) {
        std::int32_t bits;
        std::memcpy(&bits, x + j, sizeof bits);
        const std::int32_t shifted = bits - 0x3F3504F3;
        const std::int32_t exponent = shifted >> 23;
        bits = (shifted & 0x007FFFFF) + 0x3F3504F3;
        float m;
        std::memcpy(&m, &bits, sizeof m);
        m -= 1.0f;
        float p = 7.0376836292e-2f;
        p = p * m - 1.1514610310e-1f;
        p = p * m + 1.1676998740e-1f;
        p = p * m - 1.2420140846e-1f;
        p = p * m + 1.4249322787e-1f;
        p = p * m - 1.6668057665e-1f;
        p = p * m + 2.0000714765e-1f;
        p = p * m - 2.4999993993e-1f;
        p = p * m + 3.3333331174e-1f;
        const float square = m * m;
        x[j] = p * m * square - 0.5f * square + m + static_cast<float>(exponent) * 0.69314718056f;
    }
}

// Σ w log(1 + s/shift) of each row, or Σ w s where `constant`.
template <bool constant>
LOWDIM_TARGET void cost_plane(const PlaneAffinities::Rows& P, const float* Y, float shift, std::int64_t from,
                              std::int64_t to, double* costs) {
    typedef float Loose __attribute__((vector_size(32), aligned(4), may_alias));
    std::vector<float> terms, values;
    for (std::int64_t i = from; i < to; ++i) {
        const std::int64_t first = P.starts[i], count = 8 * (P.starts[i + 1] - first);
        terms.resize(static_cast<std::size_t>(count));
        values.resize(static_cast<std::size_t>(count));
        for (std::int64_t at = 0; at < count; at += 8) {
            Eight w, dx, dy;
            steps_of(P, Y, first + at / 8, Y[2 * i], Y[2 * i + 1], w, dx, dy);
            Eight s = dx * dx + dy * dy;
            if constexpr (!constant)
                s = s / shift + 1.0f;
            *reinterpret_cast<Loose*>(terms.data() + at) = s;
            *reinterpret_cast<Loose*>(values.data() + at) = w;
        }
        if constexpr (!constant)
            logs(terms.data(), count);
        double sum = 0;
        for (std::int64_t at = 0; at < count; at += 8)
            sum += total(*reinterpret_cast<Loose*>(values.data() + at) *
                         *reinterpret_cast<Loose*>(terms.data() + at));
        costs[i] = sum;
    }
}
