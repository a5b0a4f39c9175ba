// Contrasts of projected rows for one instruction set; see each_isa.inl.

// Vectors of rows, or columns, that are multiplied with `most_at_once` directions: as many as keep their sums
// in registers, of which there are 32 or 16.
#if defined(__aarch64__)
constexpr int deep = 4;
#else
constexpr int deep = LOWDIM_BYTES == 64 ? 4 : 2;
#endif

template <class T> struct Lanes {
    typedef T Vector __attribute__((vector_size(LOWDIM_BYTES), may_alias));
    static constexpr std::int64_t count = LOWDIM_BYTES / sizeof(T);
};

// exp(x) of x ≤ 0, as in gaussian.inl.
template <class T> LOWDIM_TARGET LOWDIM_INLINE T exp_below(T x) {
    using E = Exp<T>;
    using Bits = typename E::Bits;
    x = x < E::lowest ? E::lowest : x;
    const T shifted = x * E::log2e + E::magic;
    const T whole = shifted - E::magic;
    T f = x - whole * E::ln2_high;
    f = f - whole * E::ln2_low;
    T p = E::c[0];
    for (int i = 1; i < E::terms; ++i)
        p = p * f + E::c[i];
    p = (p * f) * f + f + 1;
    Bits bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << E::mantissa) + E::one;
    T scale;
    std::memcpy(&scale, &bits, sizeof scale);
    return p * scale;
}

// s becomes g(s); returns g'(s).
template <Contrast contrast, class T> LOWDIM_TARGET LOWDIM_INLINE T contrast_at(T& s, T alpha) {
    const T x = s;
    if constexpr (contrast == Contrast::logcosh) {
        const T e = exp_below(-2 * alpha * std::fabs(x)), t = (1 - e) / (1 + e);
        s = std::copysign(t, x);
        return alpha * (1 - t * t);
    } else if constexpr (contrast == Contrast::exp) {
        const T square = x * x, e = exp_below(-square / 2);
        s = x * e;
        return (1 - square) * e;
    } else {
        const T square = x * x;
        s = x * square;
        return 3 * square;
    }
}

// Each of n projections becomes g(s); returns the sum of the slopes.
template <Contrast contrast, class T>
LOWDIM_TARGET LOWDIM_INLINE double contrast_row(T* __restrict s, std::int64_t n, T alpha) {
    constexpr int side = 16; // sums, whose order the instruction set does not change
    T slopes[side] = {};
    std::int64_t i = 0;
    for (; i + side <= n; i += side)
        for (int q = 0; q < side; ++q)
            slopes[q] += contrast_at<contrast>(s[i + q], alpha);
    double sum = 0;
    for (; i < n; ++i)
        sum += static_cast<double>(contrast_at<contrast>(s[i], alpha));
    for (int q = 0; q < side; ++q)
        sum += static_cast<double>(slopes[q]);
    return sum;
}

// The same for any contrast.
template <class T> LOWDIM_TARGET double contrasts_of(T* s, std::int64_t n, Contrast contrast, T alpha) {
    return contrast == Contrast::logcosh ? contrast_row<Contrast::logcosh>(s, n, alpha)
           : contrast == Contrast::exp   ? contrast_row<Contrast::exp>(s, n, alpha)
                                         : contrast_row<Contrast::cube>(s, n, alpha);
}

// The first halves of two vectors by turns, or the second ones.
template <bool second, class Vector> LOWDIM_TARGET LOWDIM_INLINE Vector by_turns(Vector a, Vector b) {
    constexpr int lanes = sizeof(Vector) / sizeof(a[0]);
    if constexpr (lanes == 16)
        return second ? __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30,
                                                15, 31)
                      : __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    else if constexpr (lanes == 8)
        return second ? __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
                      : __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    else if constexpr (lanes == 4)
        return second ? __builtin_shufflevector(a, b, 2, 6, 3, 7) : __builtin_shufflevector(a, b, 0, 4, 1, 5);
    else
        return second ? __builtin_shufflevector(a, b, 1, 3) : __builtin_shufflevector(a, b, 0, 2);
}

// Rows z (n × k) as columns (k × n), tile_stride apart, followed by zeros up to `tall`.
template <class T>
LOWDIM_TARGET void turn_rows(const T* z, std::int64_t n, std::int64_t k, std::int64_t tall, T* turned) {
    using Vector = typename Lanes<T>::Vector;
    typedef T Loose __attribute__((vector_size(LOWDIM_BYTES), aligned(sizeof(T)), may_alias));
    constexpr std::int64_t lanes = Lanes<T>::count;
    for (std::int64_t r = 0; r < n; r += lanes)
        for (std::int64_t l = 0; l < k; l += lanes) {
            if (r + lanes > n || (r + lanes - 1) * k + l + lanes > n * k) { // a vector would end outside
                for (std::int64_t j = l; j < std::min(l + lanes, k); ++j)
                    for (std::int64_t i = r; i < std::min(r + lanes, n); ++i)
                        turned[j * tile_stride + i] = z[i * k + j];
                continue;
            }
            Vector v[lanes], w[lanes];
            LOWDIM_UNROLL
            for (std::int64_t i = 0; i < lanes; ++i)
                v[i] = *reinterpret_cast<const Loose*>(z + (r + i) * k + l);
            for (std::int64_t step = 1; step < lanes; step *= 2) {
                LOWDIM_UNROLL
                for (std::int64_t i = 0; i < lanes / 2; ++i) {
                    w[2 * i] = by_turns<false>(v[i], v[i + lanes / 2]);
                    w[2 * i + 1] = by_turns<true>(v[i], v[i + lanes / 2]);
                }
                LOWDIM_UNROLL
                for (std::int64_t i = 0; i < lanes; ++i)
                    v[i] = w[i];
            }
            for (std::int64_t j = 0; j < std::min(lanes, k - l); ++j)
                *reinterpret_cast<Vector*>(turned + (l + j) * tile_stride + r) = v[j];
        }
    for (std::int64_t j = 0; j < k; ++j)
        std::fill(turned + j * tile_stride + n, turned + j * tile_stride + tall, T(0));
}

// S (count × tall) = W (count × k) times the turned rows.
template <int count, class T>
LOWDIM_TARGET void project(const T* W, const T* turned, std::int64_t k, std::int64_t tall, T* S) {
    using Vector = typename Lanes<T>::Vector;
    constexpr std::int64_t lanes = Lanes<T>::count;
    for (std::int64_t r = 0; r < tall; r += deep * lanes) {
        Vector sum[count][deep] = {};
        const T* z = turned + r;
        for (std::int64_t l = 0; l < k; ++l, z += tile_stride) {
            Vector right[deep];
            LOWDIM_UNROLL
            for (int v = 0; v < deep; ++v)
                right[v] = *reinterpret_cast<const Vector*>(z + v * lanes);
            LOWDIM_UNROLL
            for (int i = 0; i < count; ++i) {
                LOWDIM_UNROLL
                for (int v = 0; v < deep; ++v)
                    sum[i][v] += W[i * k + l] * right[v];
            }
        }
        LOWDIM_UNROLL
        for (int i = 0; i < count; ++i) {
            LOWDIM_UNROLL
            for (int v = 0; v < deep; ++v)
                *reinterpret_cast<Vector*>(S + i * tile_stride + r + v * lanes) = sum[i][v];
        }
    }
}

// Adds the products of `count` rows of G (tall) with `deep` of the turned rows to a vector for each pair,
// whose lanes stand for rows.
template <int count, class T>
LOWDIM_TARGET void multiply(const T* G, const T* turned, std::int64_t tall, T* sums,
                            std::int64_t sums_stride) {
    using Vector = typename Lanes<T>::Vector;
    constexpr std::int64_t lanes = Lanes<T>::count;
    Vector sum[count][deep];
    LOWDIM_UNROLL
    for (int i = 0; i < count; ++i) {
        LOWDIM_UNROLL
        for (int v = 0; v < deep; ++v)
            sum[i][v] = *reinterpret_cast<Vector*>(sums + i * sums_stride + v * lanes);
    }
    for (std::int64_t r = 0; r < tall; r += lanes) {
        Vector right[deep];
        LOWDIM_UNROLL
        for (int v = 0; v < deep; ++v)
            right[v] = *reinterpret_cast<const Vector*>(turned + v * tile_stride + r);
        LOWDIM_UNROLL
        for (int i = 0; i < count; ++i) {
            const Vector left = *reinterpret_cast<const Vector*>(G + i * tile_stride + r);
            LOWDIM_UNROLL
            for (int v = 0; v < deep; ++v)
                sum[i][v] += left * right[v];
        }
    }
    LOWDIM_UNROLL
    for (int i = 0; i < count; ++i) {
        LOWDIM_UNROLL
        for (int v = 0; v < deep; ++v)
            *reinterpret_cast<Vector*>(sums + i * sums_stride + v * lanes) = sum[i][v];
    }
}

// Calls take(first, integral constant of how many) for p directions, at most `most_at_once` together.
template <class Take> LOWDIM_TARGET LOWDIM_INLINE void few_at_once(std::int64_t p, const Take& take) {
    const std::int64_t groups = (p + most_at_once - 1) / most_at_once;
    for (std::int64_t g = 0; g < groups; ++g) {
        const std::int64_t from = p * g / groups;
        switch (p * (g + 1) / groups - from) {
        case 1:
            take(from, std::integral_constant<int, 1>());
            break;
        case 2:
            take(from, std::integral_constant<int, 2>());
            break;
        case 3:
            take(from, std::integral_constant<int, 3>());
            break;
        case 4:
            take(from, std::integral_constant<int, 4>());
            break;
        case 5:
            take(from, std::integral_constant<int, 5>());
            break;
        default:
            take(from, std::integral_constant<int, most_at_once>());
            break;
        }
    }
}

template <class T> constexpr std::int64_t together() { return deep * Lanes<T>::count; }
template <class T> constexpr std::int64_t lanes_of() { return Lanes<T>::count; }
constexpr std::int64_t columns_at_once() { return deep; }

// Adds the sums of n ≤ tile_rows rows for p directions W to `sums`, a vector for each entry, and to `slopes`.
template <class T>
LOWDIM_TARGET void add_tile(const T* z, std::int64_t n, std::int64_t k, const T* W, std::int64_t p,
                            Contrast contrast, T alpha, T* turned, T* S, T* sums, double* slopes) {
    constexpr std::int64_t lanes = Lanes<T>::count, step = deep * lanes;
    const std::int64_t tall = (n + step - 1) / step * step, padded = (k + deep - 1) / deep * deep;
    turn_rows(z, n, k, tall, turned);
    few_at_once(p, [&](std::int64_t j, auto count) LOWDIM_TARGET {
        project<decltype(count)::value>(W + j * k, turned, k, tall, S + j * tile_stride);
    });
    for (std::int64_t j = 0; j < p; ++j)
        slopes[j] += contrasts_of(S + j * tile_stride, n, contrast, alpha);
    for (std::int64_t l = 0; l < k; l += deep)
        few_at_once(p, [&](std::int64_t j, auto count) LOWDIM_TARGET {
            multiply<decltype(count)::value>(S + j * tile_stride, turned + l * tile_stride, tall,
                                             sums + (j * padded + l) * lanes, padded * lanes);
        });
}

// Adds the lanes of each vector to `out` (p × k), and sets them to 0.
template <class T> LOWDIM_TARGET void add_lanes(T* sums, std::int64_t p, std::int64_t k, double* out) {
    using Vector = typename Lanes<T>::Vector;
    constexpr std::int64_t lanes = Lanes<T>::count;
    const std::int64_t padded = (k + deep - 1) / deep * deep;
    for (std::int64_t j = 0; j < p; ++j)
        for (std::int64_t first = 0; first < padded; first += lanes) {
            Vector* const at = reinterpret_cast<Vector*>(sums + (j * padded + first) * lanes);
            const std::int64_t some = std::min(lanes, padded - first);
            Vector v[lanes];
            for (std::int64_t i = 0; i < lanes; ++i)
                v[i] = i < some ? at[i] : Vector{};
            std::fill_n(at, some, Vector{});
            for (std::int64_t half = lanes / 2; half > 0; half /= 2)
                for (std::int64_t i = 0; i < half; ++i) // vectors i and i + half to one
                    v[i] = by_turns<false>(v[i], v[i + half]) + by_turns<true>(v[i], v[i + half]);
            for (std::int64_t i = 0; i < std::min(lanes, k - first); ++i)
                out[j * k + first + i] += static_cast<double>(v[0][i]);
        }
}
