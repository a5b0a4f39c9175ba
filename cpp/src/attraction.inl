// Attraction and its cost for one instruction set; see each_isa.inl.

typedef float Eight __attribute__((vector_size(32)));
typedef double Four __attribute__((vector_size(32)));
typedef double Place __attribute__((may_alias, aligned(4))); // the two floats of a point, moved as one

LOWDIM_TARGET LOWDIM_INLINE float total(const Eight& v) {
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

// a(s) = factor/(s + shift), or 1 where `constant`.
template <bool constant>
LOWDIM_TARGET void pull_plane(const PlaneAffinities::Rows& P, const float* Y, float factor, float shift,
                              std::int64_t from, std::int64_t to, float* forces) {
    typedef std::uint16_t Halves __attribute__((vector_size(16), aligned(2), may_alias));
    typedef std::uint32_t Bits __attribute__((vector_size(32)));
    for (std::int64_t i = from; i < to; ++i) {
        const float x = Y[2 * i], y = Y[2 * i + 1];
        Eight fx = {}, fy = {};
        for (std::int64_t g = P.starts[i]; g < P.starts[i + 1]; ++g) {
            const auto* places = reinterpret_cast<const Place*>(Y) + P.bases[g];
            const std::uint16_t* q = P.columns + 8 * g;
            const Eight a = (Eight)Four{places[q[0]], places[q[1]], places[q[4]], places[q[5]]};
            const Eight b = (Eight)Four{places[q[2]], places[q[3]], places[q[6]], places[q[7]]};
            const Eight dx = x - __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14);
            const Eight dy = y - __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
            const Halves upper = *reinterpret_cast<const Halves*>(P.values + 8 * g);
            Eight w = (Eight)(__builtin_convertvector(upper, Bits) << 16);
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
