// Attraction and repulsion of UMAP's loss for one instruction set; see each_isa.inl. Both need u = a t^b of
// t = s + ε: −log w = log(1 + u) has the slope b u/(t (1 + u)) in s, −log(1 − w) = log(1 + 1/u) the slope
// −b/(t (1 + u)).

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
    const __m512 low = _mm512_loadu_ps(law.octaves), high = _mm512_loadu_ps(law.octaves + 16);
    if constexpr (sizeof(Bits) == 64) {
        return Wide(_mm512_permutex2var_ps(low, __m512i(exponents), high));
    } else {
        const auto twice =
            __builtin_shufflevector(exponents, exponents, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
        const auto found = Wide(_mm512_permutex2var_ps(low, __m512i(twice), high));
        return Eight(__builtin_shufflevector(found, found, 0, 1, 2, 3, 4, 5, 6, 7));
    }
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
// that. With AVX-512 the power of the exponent of t comes from a table in two registers. Elsewhere short
// polynomials in pairs of terms: what counts is how long the result of one step takes until the next may
// begin.
template <class V> LOWDIM_TARGET LOWDIM_INLINE V near_power(const V& t, const Law& law) {
    using Bits = typename Same<V>::Bits;
#if LOWDIM_BYTES == 64
    const V kept = lesser(t, V{} + 4194303.0f); // 2^22
    const V m = (V)(((Bits)kept & 0x007FFFFF) | 0x3F800000);
    const V p =
        (((law.mantissas[4] * m + law.mantissas[3]) * m + law.mantissas[2]) * m + law.mantissas[1]) * m +
        law.mantissas[0];
    return p * octave_powers((Bits)kept >> 23, law);
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

// The totals of a, b and c, which is there twice.
LOWDIM_TARGET LOWDIM_INLINE Four totals(const Four& a, const Four& b, const Four& c) {
    const Four ab =
        __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7); // a b a b
    const Four cc = c + __builtin_shufflevector(c, c, 2, 3, 0, 1);
    return __builtin_shufflevector(ab, cc, 0, 1, 4, 4) + __builtin_shufflevector(ab, cc, 2, 3, 5, 5);
}

LOWDIM_TARGET LOWDIM_INLINE Four totals(const Eight& a, const Eight& b, const Eight& c) {
    const Eight ab = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14) +
                     __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
    const Eight cc = c + __builtin_shufflevector(c, c, 1, 0, 3, 2, 5, 4, 7, 6);
    const Eight all = __builtin_shufflevector(ab, cc, 0, 1, 8, 9, 4, 5, 12, 13) +
                      __builtin_shufflevector(ab, cc, 2, 3, 10, 11, 6, 7, 14, 15);
    return __builtin_shufflevector(all, all, 0, 1, 2, 3) + __builtin_shufflevector(all, all, 4, 5, 6, 7);
}

// Gaps from y to the points `q`, one a lane, in all coordinates; returns their squares summed and ε.
template <int K, class V>
LOWDIM_TARGET LOWDIM_INLINE V gaps(const float* Y, const std::int32_t* q, const float* y, int dims,
                                   const Law& law, V* gap) {
    V t = V{} + law.soft;
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

// Adds the pulls of as many entries as V has lanes, and the factors of their gaps.
template <int K, class V>
LOWDIM_TARGET LOWDIM_INLINE void add_pulls(const Padded& graph, std::int64_t e, const float* Y,
                                           const float* y, int dims, const Law& law, V* sums, V& stiff) {
    using Values = typename Same<V>::Values;
    V gap[K ? K : 64];
    const V t = gaps<K, V>(Y, graph.columns + e, y, dims, law, gap);
    const V u = near_power(t, law);
    const V v = *reinterpret_cast<const Values*>(graph.values + e);
    const V c = v * (4.0f * law.power) * u / (t * (u + 1.0f));
    stiff += c;
    for (int d = 0; d < dims; ++d)
        sums[d] += c * gap[d];
}

// Forces 2 Σ_j v_ij ∂log w_ij/∂y_i on rows from … to and their stiffness, the factors of y_j − y_i summed. K
// is the number of coordinates, 0 for any.
template <int K>
LOWDIM_TARGET static void pull_rows(const Padded& graph, const float* Y, int k, const Law& law,
                                    std::int64_t from, std::int64_t to, float* pulls) {
    const int dims = K ? K : k;
    const std::int64_t stride = pull_stride(dims);
    Held wide[K ? K : 64];
    Rest sums[K ? K : 64];
    for (std::int64_t i = from; i < to; ++i) {
        const float* y = Y + i * dims;
        std::int64_t e = graph.starts[i];
        const std::int64_t end = graph.starts[i + 1];
        for (int d = 0; d < dims; ++d) {
            wide[d] = Held{};
            sums[d] = Rest{};
        }
        Held stiff = {};
        Rest stiffness = {};
        for (; e + held <= end; e += held)
            add_pulls<K, Held>(graph, e, Y, y, dims, law, wide, stiff);
        if (e < end)
            add_pulls<K, Rest>(graph, e, Y, y, dims, law, sums, stiffness);
        float* out = pulls + i * stride;
        if constexpr (K == 2) {
            *reinterpret_cast<LooseFour*>(out) =
                totals(sums[0] + halves(wide[0]), sums[1] + halves(wide[1]), stiffness + halves(stiff));
        } else {
            for (int d = 0; d < dims; ++d)
                out[d] = total(sums[d] + halves(wide[d]));
            out[dims] = total(stiffness + halves(stiff));
        }
    }
}

// Forces (k columns of the ring's stride) on the points at places from … to, by their partners
// in both directions: Σ (d_i + d_j) b/(t (1 + u)) (y_i − y_j), each pair's factor of its degrees cut at
// `longest`.
template <int K>
LOWDIM_TARGET static void push_rows(const Ring& ring, const std::int32_t* shifts, std::int64_t each, int k,
                                    const Law& law, std::int64_t from, std::int64_t to, float* pushes) {
    const int dims = K ? K : k;
    Held own[K ? K : 64], sums[K ? K : 64], gap[K ? K : 64];
    for (std::int64_t i = from; i < to; i += held) {
        for (int d = 0; d < dims; ++d) {
            own[d] = *reinterpret_cast<const Loose*>(ring.places + d * ring.stride + i);
            sums[d] = Held{};
        }
        const Held degree = *reinterpret_cast<const Loose*>(ring.degrees + i);
        for (std::int64_t s = 0; s < 2 * each; ++s) {
            const std::int64_t j = i + (s % 2 ? ring.n - shifts[s / 2] : shifts[s / 2]);
            Held t = Held{} + law.soft;
            for (int d = 0; d < dims; ++d) {
                gap[d] = own[d] - *reinterpret_cast<const Loose*>(ring.places + d * ring.stride + j);
                t += gap[d] * gap[d];
            }
            const Held c = (2.0f * law.power) / (t * (near_power(t, law) + 1.0f));
            const Held both = degree + *reinterpret_cast<const Loose*>(ring.degrees + j);
            for (int d = 0; d < dims; ++d)
                sums[d] += both * larger(lesser(c * gap[d], Held{} + law.longest), Held{} - law.longest);
        }
        for (int d = 0; d < dims; ++d)
            *reinterpret_cast<Loose*>(pushes + d * ring.stride + i) = sums[d] * 0.5f;
    }
}

// Moves the points at places from … to of the ring, there and in the map's order; anchors are of those drawn.
template <int K, bool drawn>
LOWDIM_TARGET static void move_points(const Ring& ring, const Move& by, int k, std::int64_t from,
                                      std::int64_t to) {
    const int dims = K ? K : k;
    const std::int64_t stride = pull_stride(dims);
    alignas(64) float pulls[(K ? K : 64) + 1][held] = {}, places[held * (K ? K : 64)];
    for (std::int64_t i = from; i < to; i += held) {
        const std::int64_t some = to - i < held ? to - i : held;
        for (std::int64_t lane = 0; lane < some; ++lane)
            for (int d = 0; d <= dims; ++d)
                pulls[d][lane] = by.pulls[by.where[i + lane] * stride + d];
        const Held step =
            by.rate / (EpochPlan::damping * by.rate * *reinterpret_cast<const Held*>(pulls[dims]) + 1.0f);
        Held velocity[K ? K : 64], square = Held{} + 1e-30f;
        for (int d = 0; d < dims; ++d) {
            const std::int64_t e = d * ring.stride + i;
            velocity[d] = by.kept * *reinterpret_cast<const Loose*>(by.velocity + e) +
                          step * (*reinterpret_cast<const Held*>(pulls[d]) +
                                  by.weight * *reinterpret_cast<const Loose*>(by.pushes + e));
            if constexpr (drawn) {
                const std::int64_t to_anchor = d * (ring.n + 16) + i;
                const Held c = *reinterpret_cast<const Loose*>(by.drawn + i);
                const Held gap = *reinterpret_cast<const Loose*>(by.anchors + to_anchor) -
                                 *reinterpret_cast<const Loose*>(ring.places + e);
                velocity[d] = *reinterpret_cast<const Loose*>(by.movable + i) *
                              ((velocity[d] + step * (c * gap)) / (step * c + 1.0f));
            }
            square += velocity[d] * velocity[d];
        }
        const Held scale = lesser(by.longest / root_of(square), Held{} + 1.0f);
        for (int d = 0; d < dims; ++d) {
            const std::int64_t e = d * ring.stride + i;
            const Held moved = velocity[d] * scale;
            const Held place = *reinterpret_cast<const Loose*>(ring.places + e) + moved;
            *reinterpret_cast<Loose*>(by.velocity + e) = moved;
            for (int lane = 0; lane < held; ++lane)
                places[lane * dims + d] = place[lane];
            if (some == held) // it stands there once again, or more often
                for (std::int64_t j = i; j + held <= ring.stride; j += ring.n)
                    *reinterpret_cast<Loose*>(by.next + d * ring.stride + j) = place;
            else
                for (std::int64_t lane = 0; lane < some; ++lane)
                    for (std::int64_t j = i + lane; j < ring.stride; j += ring.n)
                        by.next[d * ring.stride + j] = place[lane];
        }
        for (std::int64_t lane = 0; lane < some; ++lane)
            for (int d = 0; d < dims; ++d)
                by.y[by.where[i + lane] * dims + d] = places[lane * dims + d];
    }
}

// log(1 + u) of each entry of rows from … to times its v, summed: −Σ_j v_ij log w_ij.
template <int K>
LOWDIM_TARGET static void pull_costs(const Affinities& V, const float* Y, int k, const Law& law,
                                     std::int64_t from, std::int64_t to, double* out) {
    using Values = typename Same<Rest>::Values;
    constexpr int lanes = sizeof(Rest) / sizeof(float);
    Rest gap[K ? K : 64];
    for (std::int64_t i = from; i < to; ++i) {
        double sum = 0;
        for (std::int64_t e = V.starts[i]; e < V.starts[i + 1]; e += lanes) {
            // Missing entries of the last few are the point itself, with weight 0.
            std::int32_t columns[lanes];
            float values[lanes];
            for (int lane = 0; lane < lanes; ++lane) {
                const bool there = e + lane < V.starts[i + 1];
                columns[lane] = there ? V.columns[e + lane] : static_cast<std::int32_t>(i);
                values[lane] = there ? V.values[e + lane] : 0.0f;
            }
            const Rest t = gaps<K, Rest>(Y, columns, Y + i * k, k, law, gap);
            const Rest u = exp2_of(log2_of(t) * law.power + law.log_scale);
            sum += static_cast<double>(total(*reinterpret_cast<const Values*>(values) * log2_of(u + 1.0f)));
        }
        out[i] = 0.69314718056 * sum;
    }
}

// Σ over places from … to of ½ (d_i + d_j)/2 log(1 + 1/u) with the partner `shift` places on.
LOWDIM_TARGET static double push_costs(const Ring& ring, std::int64_t shift, int k, const Law& law,
                                       std::int64_t from, std::int64_t to) {
    double sum = 0;
    for (std::int64_t i = from; i < to; i += held) {
        Held t = Held{} + law.soft;
        for (int d = 0; d < k; ++d) {
            const float* column = ring.places + d * ring.stride;
            const Held gap = *reinterpret_cast<const Loose*>(column + i) -
                             *reinterpret_cast<const Loose*>(column + i + shift);
            t += gap * gap;
        }
        const Held power = log2_of(t) * law.power + law.log_scale; // log₂ u
        const Held cost = log2_of(exp2_of(power) + 1.0f) - power;
        const Held both = *reinterpret_cast<const Loose*>(ring.degrees + i) +
                          *reinterpret_cast<const Loose*>(ring.degrees + i + shift);
        const Held term = both * cost;
        for (int lane = 0; lane < held && i + lane < to; ++lane)
            sum += static_cast<double>(term[lane]);
    }
    return 0.25 * 0.69314718056 * sum;
}

// Of one point y beside `size` others in columns, a multiple of 16: Σ log(1 + 1/u), and in `force` Σ 2b/(t (1
// + u)) (y − y_j) of those that count (weights 1 and 0).
LOWDIM_TARGET static double push_at(const float* y, int k, const float* columns, const float* counts,
                                    std::int64_t size, const Law& law, double* force) {
    double cost = 0;
    for (int d = 0; d < k; ++d)
        force[d] = 0;
    for (std::int64_t j = 0; j < size; j += held) {
        Held t = Held{} + law.soft;
        for (int d = 0; d < k; ++d) {
            const Held gap = y[d] - *reinterpret_cast<const Loose*>(columns + d * size + j);
            t += gap * gap;
        }
        const Held some = *reinterpret_cast<const Loose*>(counts + j);
        const Held power = log2_of(t) * law.power + law.log_scale;
        const Held u = exp2_of(power);
        const Held c = some * (2.0f * law.power) / (t * (u + 1.0f));
        const Held term = some * (log2_of(u + 1.0f) - power);
        for (int lane = 0; lane < held; ++lane)
            cost += static_cast<double>(term[lane]);
        for (int d = 0; d < k; ++d) {
            const Held part = c * (y[d] - *reinterpret_cast<const Loose*>(columns + d * size + j));
            float sum = 0;
            for (int lane = 0; lane < held; ++lane)
                sum += part[lane];
            force[d] += static_cast<double>(sum);
        }
    }
    return 0.69314718056 * cost;
}

template <int K>
constexpr CrossEntropyKernels kernels{
    sizeof(Rest) / sizeof(float), pull_rows<K>,  push_rows<K>, move_points<K, false>,
    move_points<K, true>,         pull_costs<K>, push_costs,   push_at};
