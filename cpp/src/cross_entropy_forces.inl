// Attraction and repulsion of UMAP's loss for one instruction set; see each_isa.inl. Both need u = a t^b of
// t = s + ε: −log w = log(1 + u) has the slope b u/(t (1 + u)) in s, −log(1 − w) = log(1 + 1/u) the slope
// −b/(t (1 + u)).

typedef float Wide __attribute__((vector_size(64)));
typedef float Loose __attribute__((vector_size(64), aligned(4), may_alias));
typedef float Eight __attribute__((vector_size(32)));

template <class V> struct BitsOf;
template <> struct BitsOf<Wide> {
    typedef std::int32_t Type __attribute__((vector_size(64)));
};
template <> struct BitsOf<Eight> {
    typedef std::int32_t Type __attribute__((vector_size(32)));
};

// log₂ of positive numbers: the exponent and a polynomial of the mantissa between √½ and √2, within 3e-7.
template <class V> LOWDIM_TARGET LOWDIM_INLINE V log2_of(const V& x) {
    using Bits = typename BitsOf<V>::Type;
    const Bits shifted = (Bits)x - 0x3F3504F3;
    const Bits exponent = shifted >> 23;
    const V m = (V)((shifted & 0x007FFFFF) + 0x3F3504F3) - 1.0f;
    V p = m * 7.0376836292e-2f - 1.1514610310e-1f;
    p = p * m + 1.1676998740e-1f;
    p = p * m - 1.2420140846e-1f;
    p = p * m + 1.4249322787e-1f;
    p = p * m - 1.6668057665e-1f;
    p = p * m + 2.0000714765e-1f;
    p = p * m - 2.4999993993e-1f;
    p = p * m + 3.3333331174e-1f;
    const V square = m * m;
    return (p * m * square - 0.5f * square + m) * 1.44269504089f + __builtin_convertvector(exponent, V);
}

// 2^x between 2^−126 and 2^126, within 3e-7 of it.
template <class V> LOWDIM_TARGET LOWDIM_INLINE V exp2_of(V x) {
    using Bits = typename BitsOf<V>::Type;
    x = x < -126.0f ? V{} - 126.0f : x;
    x = x > 126.0f ? V{} + 126.0f : x;
    const V shifted = x + 12582912.0f;
    const V f = x - (shifted - 12582912.0f);
    V p = f * 1.5403530e-4f + 1.3333558e-3f;
    p = p * f + 9.6181291e-3f;
    p = p * f + 5.5504109e-2f;
    p = p * f + 2.4022651e-1f;
    p = p * f + 6.9314718e-1f;
    p = p * f + 1.0f;
    return p * (V)(((Bits)shifted << 23) + 0x3F800000);
}

template <class V> LOWDIM_TARGET LOWDIM_INLINE V clamped(const V& x, float limit) {
    const V low = x < -limit ? V{} - limit : x;
    return low > limit ? V{} + limit : low;
}

LOWDIM_TARGET LOWDIM_INLINE float total(const Eight& v) {
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

// Forces (rows × k) 2 Σ_j v_ij ∂log w_ij/∂y_i and their stiffness (rows), the factors of y_j − y_i summed, of
// rows whose entries come in groups of 8. K is the number of coordinates, 0 for any.
template <int K>
LOWDIM_TARGET static void pull_rows(const Padded& V, const float* Y, int k, const Law& law, std::int64_t from,
                                    std::int64_t to, float* forces, float* stiffness) {
    const int dims = K ? K : k;
    Eight gap[K ? K : 64], sums[K ? K : 64];
    for (std::int64_t i = from; i < to; ++i) {
        const float* y = Y + i * dims;
        for (int d = 0; d < dims; ++d)
            sums[d] = Eight{};
        Eight stiff = {};
        for (std::int64_t e = V.starts[i]; e < V.starts[i + 1]; e += 8) {
            const std::int32_t* q = V.columns + e;
            Eight t = Eight{} + law.soft;
            if constexpr (K == 2) {
                typedef double Place __attribute__((may_alias, aligned(4)));
                typedef double Four __attribute__((vector_size(32)));
                const auto* places = reinterpret_cast<const Place*>(Y);
                const Eight a = (Eight)Four{places[q[0]], places[q[1]], places[q[4]], places[q[5]]};
                const Eight b = (Eight)Four{places[q[2]], places[q[3]], places[q[6]], places[q[7]]};
                gap[0] = __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14) - y[0];
                gap[1] = __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15) - y[1];
                t += gap[0] * gap[0] + gap[1] * gap[1];
            } else {
                for (int d = 0; d < dims; ++d) {
                    for (int lane = 0; lane < 8; ++lane)
                        gap[d][lane] = Y[static_cast<std::int64_t>(q[lane]) * dims + d] - y[d];
                    t += gap[d] * gap[d];
                }
            }
            const Eight u = exp2_of(log2_of(t) * law.power + law.log_scale);
            const Eight v = *reinterpret_cast<const Eight*>(V.values + e);
            const Eight c = v * (4.0f * law.power) * u / (t * (u + 1.0f));
            stiff += c;
            for (int d = 0; d < dims; ++d)
                sums[d] += c * gap[d];
        }
        for (int d = 0; d < dims; ++d)
            forces[i * dims + d] = total(sums[d]);
        stiffness[i] = total(stiff);
    }
}

// Forces (k columns of `stride`) on the points at places from … to, 16 at a time, by their partners in both
// directions: Σ (d_i + d_j) b/(t (1 + u)) (y_i − y_j), each pair's factor of its degrees cut at `longest`.
template <int K>
LOWDIM_TARGET static void push_rows(const Ring& ring, const std::int32_t* shifts, std::int64_t each, int k,
                                    const Law& law, std::int64_t from, std::int64_t to, float* forces) {
    const int dims = K ? K : k;
    Wide own[K ? K : 64], sums[K ? K : 64], gap[K ? K : 64];
    for (std::int64_t i = from; i < to; i += 16) {
        for (int d = 0; d < dims; ++d) {
            own[d] = *reinterpret_cast<const Loose*>(ring.places + d * ring.stride + i);
            sums[d] = Wide{};
        }
        const Wide degree = *reinterpret_cast<const Loose*>(ring.degrees + i);
        for (std::int64_t s = 0; s < 2 * each; ++s) {
            const std::int64_t j = i + (s % 2 ? ring.n - shifts[s / 2] : shifts[s / 2]);
            Wide t = Wide{} + law.soft;
            for (int d = 0; d < dims; ++d) {
                gap[d] = own[d] - *reinterpret_cast<const Loose*>(ring.places + d * ring.stride + j);
                t += gap[d] * gap[d];
            }
            const Wide u = exp2_of(log2_of(t) * law.power + law.log_scale);
            const Wide c = (2.0f * law.power) / (t * (u + 1.0f));
            const Wide both = degree + *reinterpret_cast<const Loose*>(ring.degrees + j);
            for (int d = 0; d < dims; ++d)
                sums[d] += both * clamped(c * gap[d], law.longest);
        }
        for (int d = 0; d < dims; ++d)
            *reinterpret_cast<Loose*>(forces + d * ring.stride + i) = sums[d] * 0.5f;
    }
}

// log(1 + u) of each entry of rows from … to times its v, summed: −Σ_j v_ij log w_ij.
LOWDIM_TARGET static void pull_costs(const Affinities& V, const float* Y, int k, const Law& law,
                                     std::int64_t from, std::int64_t to, double* out) {
    for (std::int64_t i = from; i < to; ++i) {
        double sum = 0;
        for (std::int64_t e = V.starts[i]; e < V.starts[i + 1]; e += 8) {
            Eight t = Eight{} + law.soft, v = {};
            for (int lane = 0; lane < 8 && e + lane < V.starts[i + 1]; ++lane) {
                const float* other = Y + static_cast<std::int64_t>(V.columns[e + lane]) * k;
                for (int d = 0; d < k; ++d)
                    t[lane] += (Y[i * k + d] - other[d]) * (Y[i * k + d] - other[d]);
                v[lane] = V.values[e + lane];
            }
            const Eight u = exp2_of(log2_of(t) * law.power + law.log_scale);
            sum += static_cast<double>(total(v * log2_of(u + 1.0f)));
        }
        out[i] = 0.69314718056 * sum;
    }
}

// Σ over places from … to of ½ (d_i + d_j)/2 log(1 + 1/u) with the partner `shift` places on.
LOWDIM_TARGET static double push_costs(const Ring& ring, std::int64_t shift, int k, const Law& law,
                                       std::int64_t from, std::int64_t to) {
    double sum = 0;
    for (std::int64_t i = from; i < to; i += 16) {
        Wide t = Wide{} + law.soft;
        for (int d = 0; d < k; ++d) {
            const float* column = ring.places + d * ring.stride;
            const Wide gap = *reinterpret_cast<const Loose*>(column + i) -
                             *reinterpret_cast<const Loose*>(column + i + shift);
            t += gap * gap;
        }
        const Wide power = log2_of(t) * law.power + law.log_scale; // log₂ u
        const Wide cost = log2_of(exp2_of(power) + 1.0f) - power;
        const Wide both = *reinterpret_cast<const Loose*>(ring.degrees + i) +
                          *reinterpret_cast<const Loose*>(ring.degrees + i + shift);
        const Wide term = both * cost;
        for (int lane = 0; lane < 16 && i + lane < to; ++lane)
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
    for (std::int64_t j = 0; j < size; j += 16) {
        Wide t = Wide{} + law.soft;
        for (int d = 0; d < k; ++d) {
            const Wide gap = y[d] - *reinterpret_cast<const Loose*>(columns + d * size + j);
            t += gap * gap;
        }
        const Wide some = *reinterpret_cast<const Loose*>(counts + j);
        const Wide power = log2_of(t) * law.power + law.log_scale;
        const Wide u = exp2_of(power);
        const Wide c = some * (2.0f * law.power) / (t * (u + 1.0f));
        const Wide term = some * (log2_of(u + 1.0f) - power);
        for (int lane = 0; lane < 16; ++lane)
            cost += static_cast<double>(term[lane]);
        for (int d = 0; d < k; ++d) {
            const Wide part = c * (y[d] - *reinterpret_cast<const Loose*>(columns + d * size + j));
            float sum = 0;
            for (int lane = 0; lane < 16; ++lane)
                sum += part[lane];
            force[d] += static_cast<double>(sum);
        }
    }
    return 0.69314718056 * cost;
}
