// Attraction and its cost for one instruction set; see each_isa.inl.

#if LOWDIM_BYTES == 16
using Eight = detail::TwoFours;
using detail::of_upper_halves;

LOWDIM_INLINE Eight loose(const float* from) { return Eight::at(from); }
LOWDIM_INLINE void put(const Eight& v, float* to) { v.put(to); }
#else
typedef float Eight __attribute__((vector_size(32)));
typedef float Loose __attribute__((vector_size(32), aligned(4), may_alias));

LOWDIM_TARGET LOWDIM_INLINE float total(const Eight& v) {
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

LOWDIM_TARGET LOWDIM_INLINE Eight loose(const float* from) { return *reinterpret_cast<const Loose*>(from); }
LOWDIM_TARGET LOWDIM_INLINE void put(const Eight& v, float* to) { *reinterpret_cast<Loose*>(to) = v; }

// The two coordinates of the eight points q of Y, one point a lane.
LOWDIM_TARGET LOWDIM_INLINE void coordinates(const float* Y, const std::uint16_t* q, Eight& x, Eight& y) {
    typedef double Place __attribute__((may_alias, aligned(4))); // the two floats of a point, moved as one
    typedef double Four __attribute__((vector_size(32)));
    const auto* at = reinterpret_cast<const Place*>(Y);
    const Eight a = (Eight)Four{at[q[0]], at[q[1]], at[q[4]], at[q[5]]};
    const Eight b = (Eight)Four{at[q[2]], at[q[3]], at[q[6]], at[q[7]]};
    x = __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14);
    y = __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
}

// Eight numbers of 16 bits, the upper halves of floats.
LOWDIM_TARGET LOWDIM_INLINE Eight of_upper_halves(const std::uint16_t* from) {
    typedef std::uint16_t Halves __attribute__((vector_size(16), aligned(2), may_alias));
    typedef std::uint32_t Bits __attribute__((vector_size(32)));
    return (Eight)(__builtin_convertvector(*reinterpret_cast<const Halves*>(from), Bits) << 16);
}
#endif

// Values of group g of P, the steps from its points to y, and their squared lengths plus `shift`.
template <int k>
LOWDIM_TARGET LOWDIM_INLINE void steps_of(const PackedAffinities::Rows& P, const float* Y, std::int64_t g,
                                          const float* y, float shift, Eight& w, Eight* steps, Eight& s) {
    const std::uint16_t* q = P.columns + 8 * g;
    if constexpr (k == 1) {
        const float* at = Y + P.bases[g];
        const float others[] = {at[q[0]], at[q[1]], at[q[2]], at[q[3]],
                                at[q[4]], at[q[5]], at[q[6]], at[q[7]]};
        steps[0] = y[0] - loose(others);
        s = steps[0] * steps[0] + shift;
    } else {
        Eight right, up;
        coordinates(Y + 2 * static_cast<std::int64_t>(P.bases[g]), q, right, up);
        steps[0] = y[0] - right;
        steps[1] = y[1] - up;
        s = steps[0] * steps[0] + (steps[1] * steps[1] + shift);
    }
    w = of_upper_halves(P.values + 8 * g);
}

// a(s) = factor/(s + shift), or 1 where `constant`.
template <int k, bool constant>
LOWDIM_TARGET void pull_packed(const PackedAffinities::Rows& P, const float* Y, float factor, float shift,
                               std::int64_t from, std::int64_t to, float* forces) {
    for (std::int64_t i = from; i < to; ++i) {
        Eight sums[k] = {};
        for (std::int64_t g = P.starts[i]; g < P.starts[i + 1]; ++g) {
            Eight w, steps[k], s;
            steps_of<k>(P, Y, g, Y + k * i, shift, w, steps, s);
            if constexpr (!constant)
                w /= s;
            for (int d = 0; d < k; ++d)
                sums[d] += w * steps[d];
        }
        for (int d = 0; d < k; ++d)
            forces[k * i + d] = factor * total(sums[d]);
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
template <int k, bool constant>
LOWDIM_TARGET void cost_packed(const PackedAffinities::Rows& P, const float* Y, float shift,
                               std::int64_t from, std::int64_t to, double* costs) {
    std::vector<float> terms, values;
    for (std::int64_t i = from; i < to; ++i) {
        const std::int64_t first = P.starts[i], count = 8 * (P.starts[i + 1] - first);
        terms.resize(static_cast<std::size_t>(count));
        values.resize(static_cast<std::size_t>(count));
        for (std::int64_t at = 0; at < count; at += 8) {
            Eight w, steps[k], s;
            steps_of<k>(P, Y, first + at / 8, Y + k * i, 0.0f, w, steps, s);
            if constexpr (!constant)
                s = s / shift + 1.0f;
            put(s, terms.data() + at);
            put(w, values.data() + at);
        }
        if constexpr (!constant)
            logs(terms.data(), count);
        double sum = 0;
        for (std::int64_t at = 0; at < count; at += 8)
            sum += total(Eight(loose(values.data() + at) * loose(terms.data() + at)));
        costs[i] = sum;
    }
}
