// What kernels that follow the edges of a map have in common, for one instruction set; see each_isa.inl:
// registers, the curve of UMAP, and the gaps between points.

typedef float Wide __attribute__((vector_size(64)));
typedef float Eight __attribute__((vector_size(32)));
typedef float Four __attribute__((vector_size(16)));
typedef float LooseFour __attribute__((vector_size(16), aligned(4), may_alias));

// The sum of its halves, unless it is one.
LOWDIM_TARGET LOWDIM_INLINE Eight halves(const Eight& v) { return v; }

LOWDIM_TARGET LOWDIM_INLINE Eight halves(const Wide& v) {
    return __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
           __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
}

LOWDIM_TARGET LOWDIM_INLINE Four halves(const Four& v) { return v; }

// Vectors of the same size.
template <class V> struct Same;
template <> struct Same<Four> {
    typedef std::int32_t Bits __attribute__((vector_size(16)));
    typedef double Pairs __attribute__((vector_size(16)));
    typedef float Values __attribute__((vector_size(16), aligned(4), may_alias));
};
template <> struct Same<Wide> {
    typedef std::int32_t Bits __attribute__((vector_size(64)));
    typedef double Pairs __attribute__((vector_size(64)));
    typedef float Values __attribute__((vector_size(64), aligned(4), may_alias));
};
template <> struct Same<Eight> {
    typedef std::int32_t Bits __attribute__((vector_size(32)));
    typedef double Pairs __attribute__((vector_size(32)));
    typedef float Values __attribute__((vector_size(32), aligned(4), may_alias));
};

// What a register holds, and what takes the last entries of a row, whose number is a multiple of its lanes.
using Held =
    std::conditional_t<LOWDIM_BYTES == 64, Wide, std::conditional_t<LOWDIM_BYTES == 32, Eight, Four>>;
using Rest = std::conditional_t<LOWDIM_BYTES == 16, Four, Eight>;
using Loose = Same<Held>::Values;
constexpr int held = sizeof(Held) / sizeof(float);

template <class V> LOWDIM_TARGET LOWDIM_INLINE V log2_of(const V& x) {
    V out;
    lowdim::detail::log2_of(x, out);
    return out;
}

template <class V> LOWDIM_TARGET LOWDIM_INLINE V exp2_of(const V& x) {
    V out;
    lowdim::detail::exp2_of(x, out);
    return out;
}

// The lesser and the larger of two, lane by lane.
template <class V> LOWDIM_TARGET LOWDIM_INLINE V lesser(const V& a, const V& b) {
#if LOWDIM_BYTES == 64
    if constexpr (sizeof(V) == 64)
        return V(_mm512_maskz_min_ps(0xFFFF, __m512(a), __m512(b)));
    else
#endif
#if LOWDIM_BYTES >= 32
        if constexpr (sizeof(V) == 32)
        return V(_mm256_min_ps(__m256(a), __m256(b)));
    else
#endif
#if LOWDIM_X86 // GCC compares and blends by four instructions
        if constexpr (sizeof(V) == 16)
            return V(_mm_min_ps(__m128(a), __m128(b)));
        else
#endif
            return a < b ? a : b;
}

template <class V> LOWDIM_TARGET LOWDIM_INLINE V larger(const V& a, const V& b) {
#if LOWDIM_BYTES == 64
    if constexpr (sizeof(V) == 64)
        return V(_mm512_maskz_max_ps(0xFFFF, __m512(a), __m512(b)));
    else
#endif
#if LOWDIM_BYTES >= 32
        if constexpr (sizeof(V) == 32)
        return V(_mm256_max_ps(__m256(a), __m256(b)));
    else
#endif
#if LOWDIM_X86 // GCC compares and blends by four instructions
        if constexpr (sizeof(V) == 16)
            return V(_mm_max_ps(__m128(a), __m128(b)));
        else
#endif
            return a > b ? a : b;
}

#if LOWDIM_BYTES == 64
// The entries of the table of octaves at these exponents.
template <class Bits> LOWDIM_TARGET LOWDIM_INLINE auto octave_powers(const Bits& exponents, const Law& law) {
    const __m512 low = _mm512_loadu_ps(law.two), high = _mm512_loadu_ps(law.two + 16);
    if constexpr (sizeof(Bits) == 64) {
        return Wide(_mm512_permutex2var_ps(low, __m512i(exponents), high));
    } else {
        const auto twice =
            __builtin_shufflevector(exponents, exponents, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
        const auto found = Wide(_mm512_permutex2var_ps(low, __m512i(twice), high));
        return Eight(__builtin_shufflevector(found, found, 0, 1, 2, 3, 4, 5, 6, 7));
    }
}
#elif LOWDIM_BYTES == 16 && !defined(__ARM_NEON)
// t^b a: the table has the power of its exponent, the polynomial that of its mantissa. Without fused products
// four loads cost less than the logarithm.
template <std::size_t N>
LOWDIM_TARGET LOWDIM_INLINE Four power_by_table(const Four& t, const Law& law, const float (&mantissa)[N]) {
    using Bits = Same<Four>::Bits;
    const Four m = (Four)(((Bits)t & 0x007FFFFF) | 0x3F800000);
    Four p = Four{} + mantissa[N - 1];
    LOWDIM_UNROLL
    for (std::size_t i = 1; i < N; ++i)
        p = p * m + mantissa[N - 1 - i];
    const Bits e = (Bits)t >> 23;
    return p * Four{law.octaves[e[0]], law.octaves[e[1]], law.octaves[e[2]], law.octaves[e[3]]};
}
#endif

LOWDIM_TARGET LOWDIM_INLINE Held root_of(Held x) {
#if LOWDIM_BYTES == 64
    return Held(_mm512_maskz_sqrt_ps(0xFFFF, __m512(x)));
#elif LOWDIM_BYTES == 32
    return Held(_mm256_sqrt_ps(__m256(x)));
#elif LOWDIM_X86
    return Held(_mm_sqrt_ps(__m128(x)));
#else
    for (int lane = 0; lane < held; ++lane)
        x[lane] = __builtin_sqrtf(x[lane]);
    return x;
#endif
}

// u = a t^b within 2e-5 of it, as forces need it: beyond 2^±60, where forces of float32 no longer tell u,
// that. With AVX-512 the power of the exponent of t comes from a table in two registers, without AVX2 from
// one in memory. Elsewhere short polynomials in pairs of terms: what counts is how long the result of one
// step takes until the next may begin.
template <class V> LOWDIM_TARGET LOWDIM_INLINE V near_power(const V& t, const Law& law) {
#if LOWDIM_BYTES == 64
    using Bits = typename Same<V>::Bits;
    const V kept = lesser(t, V{} + 4194303.0f); // 2^22
    const V m = (V)(((Bits)kept & 0x007FFFFF) | 0x3F800000);
    const V p =
        (((law.mantissas[4] * m + law.mantissas[3]) * m + law.mantissas[2]) * m + law.mantissas[1]) * m +
        law.mantissas[0];
    return p * octave_powers((Bits)kept >> 23, law);
#elif LOWDIM_BYTES == 16 && !defined(__ARM_NEON)
    return power_by_table(t, law, law.mantissas);
#else
    using Bits = typename Same<V>::Bits;
    const Bits shifted = (Bits)t - 0x3F3504F3;
    const V m = (V)((shifted & 0x007FFFFF) + 0x3F3504F3) - 1.0f;
    const V square = m * m;
    const V high = (m * -0.206584349f + 0.322152883f) * square + (m * -0.367491066f + 0.479348212f);
    const V low = m * -0.721131802f + 1.442713499f;
    const V log = (high * square + low) * m + __builtin_convertvector(shifted >> 23, V); // log₂ t
    const V x = larger(lesser(log * law.power + law.log_scale, V{} + 60.0f), V{} - 60.0f);
    const V rounded = x + 12582912.0f;
    const V f = x - (rounded - 12582912.0f);
    const V twice = f * f;
    const V p = ((f * 9.57008172e-3f + 5.59178591e-2f) * f + 0.240247458f) * twice +
                (f * 0.693121791f + 0.999999285f); // 2^f
    return p * (V)(((Bits)rounded << 23) + 0x3F800000);
#endif
}

LOWDIM_TARGET LOWDIM_INLINE float total(Four v) {
    v += __builtin_shufflevector(v, v, 2, 3, 0, 1);
    return v[0] + v[1];
}

LOWDIM_TARGET LOWDIM_INLINE float total(Eight v) {
    v += __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3);
    v += __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5);
    return v[0] + v[1];
}

// Gaps from y to the points `q`, one a lane, in all coordinates; returns their squares summed and `soft`.
template <int K, class V>
LOWDIM_TARGET LOWDIM_INLINE V gaps(const float* Y, const std::int32_t* q, const float* y, int dims,
                                   float soft, V* gap) {
    V t = V{} + soft;
    if constexpr (K == 2) {
        typedef double Place __attribute__((may_alias, aligned(4)));
        using Places = typename Same<V>::Pairs;
        const auto* places = reinterpret_cast<const Place*>(Y);
        if constexpr (sizeof(V) == 64) {
            const V a = (V)Places{places[q[0]], places[q[1]], places[q[4]],  places[q[5]],
                                  places[q[8]], places[q[9]], places[q[12]], places[q[13]]};
            const V b = (V)Places{places[q[2]],  places[q[3]],  places[q[6]],  places[q[7]],
                                  places[q[10]], places[q[11]], places[q[14]], places[q[15]]};
            gap[0] = __builtin_shufflevector(a, b, 0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30);
            gap[1] = __builtin_shufflevector(a, b, 1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31);
        } else if constexpr (sizeof(V) == 16) {
            const V a = (V)Places{places[q[0]], places[q[1]]}, b = (V)Places{places[q[2]], places[q[3]]};
            gap[0] = __builtin_shufflevector(a, b, 0, 2, 4, 6);
            gap[1] = __builtin_shufflevector(a, b, 1, 3, 5, 7);
        } else {
            const V a = (V)Places{places[q[0]], places[q[1]], places[q[4]], places[q[5]]};
            const V b = (V)Places{places[q[2]], places[q[3]], places[q[6]], places[q[7]]};
            gap[0] = __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14);
            gap[1] = __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
        }
    } else {
        for (int d = 0; d < dims; ++d) {
            V others = {};
            for (std::size_t lane = 0; lane < sizeof(V) / sizeof(float); ++lane)
                others[lane] = Y[static_cast<std::int64_t>(q[lane]) * dims + d];
            gap[d] = others;
        }
    }
    for (int d = 0; d < dims; ++d) {
        gap[d] -= y[d];
        t += gap[d] * gap[d];
    }
    return t;
}
