// Floating-point packing and tiles for one instruction set; see each_isa.inl.

// A tile of r × v vectors keeps r·v accumulators in registers and leaves room for v vectors of the right side
// and a broadcast of the left: 8 × 3 or 6 × 3 of 32 registers, 4 × 3 of 16.
#if defined(__aarch64__)
constexpr int rows = 6;
#else
constexpr int rows = LOWDIM_BYTES == 64 ? 8 : 4;
#endif

template <class T> struct Shape {
    typedef T Vector __attribute__((vector_size(LOWDIM_BYTES), may_alias));
    static constexpr int lanes = LOWDIM_BYTES / sizeof(T);
    static constexpr int most = lanes * 3 % rows == 0 ? 3 : 2; // a panel holds whole tiles
    static constexpr int panel = lanes * most;
};

template <class T, int vectors>
LOWDIM_TARGET void multiply(const std::byte* a_bytes, const std::byte* b_bytes, std::int64_t steps,
                            double* __restrict tile) {
    using S = Shape<T>;
    using Vector = typename S::Vector;
    constexpr int most = S::most;
    const T* a = reinterpret_cast<const T*>(a_bytes);
    const Vector* b = reinterpret_cast<const Vector*>(b_bytes);
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < vectors * S::lanes; j += 8)
            __builtin_prefetch(tile + i * S::panel + j, 1);

    Vector sum[rows][vectors] = {};
    for (std::int64_t k = 0; k < steps; ++k, a += S::panel, b += most) {
        Vector right[vectors];
        LOWDIM_UNROLL
        for (int v = 0; v < vectors; ++v) {
            right[v] = b[v];
            if (LOWDIM_BYTES == 64 || v * LOWDIM_BYTES % 64 == 0)
                __builtin_prefetch(b + ahead * most + v);
        }
        __builtin_prefetch(a + ahead * S::panel);
        LOWDIM_UNROLL
        for (int i = 0; i < rows; ++i) {
            LOWDIM_UNROLL
            for (int v = 0; v < vectors; ++v)
                sum[i][v] += a[i] * right[v];
        }
    }

    LOWDIM_UNROLL
    for (int i = 0; i < rows; ++i) {
        alignas(64) T row[vectors * S::lanes];
        LOWDIM_UNROLL
        for (int v = 0; v < vectors; ++v)
            *reinterpret_cast<Vector*>(row + v * S::lanes) = sum[i][v];
        for (int j = 0; j < vectors * S::lanes; ++j)
            tile[i * S::panel + j] += static_cast<double>(row[j]);
    }
}

template <class In, class T> LOWDIM_TARGET inline T packed_value(In x) {
    if constexpr (sizeof(In) == 1)
        return static_cast<T>(static_cast<int>(x) - 128);
    else
        return x;
}

template <class In, class T> LOWDIM_TARGET void pack_plain(const PackBlock& block) {
    constexpr int panel = Shape<T>::panel;
    const In* __restrict source = static_cast<const In*>(block.source);
    T* __restrict out = static_cast<T*>(block.packed);
    std::int64_t r = 0;
    if (!block.labels) { // four rows to one reading and writing of the sums
        double* __restrict sums = block.sums;
        for (; r + 4 <= block.rows; r += 4, source += 4 * block.stride, out += 4 * panel) {
            const In *s0 = source, *s1 = s0 + block.stride, *s2 = s1 + block.stride, *s3 = s2 + block.stride;
            for (int j = 0; j < panel; ++j) {
                sums[j] = sums[j] + static_cast<double>(s0[j]) + static_cast<double>(s1[j]) +
                          static_cast<double>(s2[j]) + static_cast<double>(s3[j]);
                out[j] = packed_value<In, T>(s0[j]);
                out[j + panel] = packed_value<In, T>(s1[j]);
                out[j + 2 * panel] = packed_value<In, T>(s2[j]);
                out[j + 3 * panel] = packed_value<In, T>(s3[j]);
            }
        }
    }
    for (; r < block.rows; ++r, source += block.stride, out += panel) {
        double* __restrict sums = block.sums + (block.labels ? block.labels[r] * block.class_stride : 0);
        for (int j = 0; j < panel; ++j) {
            sums[j] += static_cast<double>(source[j]);
            out[j] = packed_value<In, T>(source[j]);
        }
    }
}

template <class T> LOWDIM_TARGET void pack_full(const PackBlock& block) {
    constexpr int panel = Shape<T>::panel;
    const double* __restrict shift = block.shift;
    std::int64_t r = 0;
    if (!block.labels && !block.weights) { // four rows to one reading and writing of the sums
        double* __restrict sums = block.sums;
        for (; r + 4 <= block.rows; r += 4) {
            const T* s0 = static_cast<const T*>(block.source) + r * block.stride;
            const T *s1 = s0 + block.stride, *s2 = s1 + block.stride, *s3 = s2 + block.stride;
            T* __restrict out = static_cast<T*>(block.packed) + r * panel;
            for (int j = 0; j < panel; ++j) {
                const double x0 = static_cast<double>(s0[j]) - shift[j],
                             x1 = static_cast<double>(s1[j]) - shift[j],
                             x2 = static_cast<double>(s2[j]) - shift[j],
                             x3 = static_cast<double>(s3[j]) - shift[j];
                sums[j] = sums[j] + x0 + x1 + x2 + x3;
                out[j] = static_cast<T>(x0);
                out[j + panel] = static_cast<T>(x1);
                out[j + 2 * panel] = static_cast<T>(x2);
                out[j + 3 * panel] = static_cast<T>(x3);
            }
        }
    }
    for (; r < block.rows; ++r) {
        const T* __restrict source = static_cast<const T*>(block.source) + r * block.stride;
        T* __restrict out = static_cast<T*>(block.packed) + r * panel;
        double* __restrict sums = block.sums + (block.labels ? block.labels[r] * block.class_stride : 0);
        double weight = block.weights ? block.weights[r] : 1.0;
        double root = std::sqrt(weight);
        for (int j = 0; j < panel; ++j) {
            double x = static_cast<double>(source[j]) - shift[j];
            sums[j] += weight * x;
            out[j] = static_cast<T>(root * x);
        }
    }
}

template <class In, class T> Kernel kernel(int fold) {
    static_assert(Shape<T>::panel % rows == 0);
    Kernel k{};
    k.tile_rows = rows;
    k.panel = Shape<T>::panel;
    k.lanes = Shape<T>::lanes;
    k.group = 1;
    k.item = sizeof(T);
    k.fold = fold;
    k.bias = sizeof(In) == 1 ? Bias::both : Bias::none;
    k.pack = pack_plain<In, T>;
    if constexpr (sizeof(In) != 1)
        k.pack_full = pack_full<T>;
    k.multiply[1] = multiply<T, 1>;
    k.multiply[2] = multiply<T, 2>;
    if constexpr (Shape<T>::most > 2)
        k.multiply[3] = multiply<T, 3>;
    return k;
}

inline Kernel select(Element element) {
    switch (element) {
    case Element::u8: // |x − 128|² ≤ 2^14, so up to 2^10 rows stay exact in a float's 24 bits
        return kernel<std::uint8_t, float>(512);
    case Element::f32:
        return kernel<float, float>(256);
    default:
        return kernel<double, double>(256);
    }
}
