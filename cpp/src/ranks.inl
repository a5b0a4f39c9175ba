// Products of two blocks of rows and counts of their distances for one instruction set; see each_isa.inl.

constexpr int rows = LOWDIM_BYTES == 64 ? 8 : 4, vectors = 3; // of the tile that stays in registers
typedef float Floats __attribute__((vector_size(LOWDIM_BYTES), aligned(sizeof(float)), may_alias));
typedef std::int32_t Counts __attribute__((vector_size(LOWDIM_BYTES)));
constexpr int lanes = LOWDIM_BYTES / sizeof(float);

// rows × (vectors · lanes) products over `steps` features of two packed panels.
LOWDIM_TARGET inline void small_tile(const float* a, const float* b, std::int64_t steps, float* out,
                                     bool first) {
    Floats sum[rows][vectors] = {};
    for (std::int64_t s = 0; s < steps; ++s, a += panel, b += panel) {
        __builtin_prefetch(a + ahead * panel);
        LOWDIM_UNROLL
        for (int v = 0; v < vectors; ++v)
            __builtin_prefetch(b + ahead * panel + v * lanes);
        Floats right[vectors];
        LOWDIM_UNROLL
        for (int v = 0; v < vectors; ++v)
            right[v] = *reinterpret_cast<const Floats*>(b + v * lanes);
        LOWDIM_UNROLL
        for (int r = 0; r < rows; ++r) {
            LOWDIM_UNROLL
            for (int v = 0; v < vectors; ++v)
                sum[r][v] += a[r] * right[v];
        }
    }
    LOWDIM_UNROLL
    for (int r = 0; r < rows; ++r) {
        LOWDIM_UNROLL
        for (int v = 0; v < vectors; ++v) {
            Floats* place = reinterpret_cast<Floats*>(out + r * side + v * lanes);
            *place = first ? sum[r][v] : *place + sum[r][v];
        }
    }
}

// G (side × side): products of two blocks of packed rows of d features, summed `chunk` features at a time.
LOWDIM_TARGET void products(const float* A, const float* B, std::int64_t d, float* G) {
    constexpr int width = vectors * lanes;
    for (std::int64_t start = 0; start < d; start += chunk) {
        const std::int64_t steps = std::min(chunk, d - start);
        for (int q = 0; q < side; q += panel)
            for (int p = 0; p < side; p += panel)
                for (int c = 0; c < panel; c += width)
                    for (int r = 0; r < panel; r += rows)
                        small_tile(A + p * d + start * panel + r, B + q * d + start * panel + c, steps,
                                   G + (p + r) * side + q + c, start == 0);
    }
}

// Bounds low ≤ ‖x − y‖² ≤ high from a row of products and the widened squared norms; returns the least of
// low.
LOWDIM_TARGET float bound(const float* g, float x_low, float x_high, const float* y_low, const float* y_high,
                          float* low, float* high) {
    Floats least = Floats{} + std::numeric_limits<float>::max();
    for (int c = 0; c < side; c += lanes) {
        const Floats twice = 2 * *reinterpret_cast<const Floats*>(g + c);
        const Floats l = (x_low + *reinterpret_cast<const Floats*>(y_low + c)) - twice;
        least = l < least ? l : least;
        *reinterpret_cast<Floats*>(low + c) = l;
        *reinterpret_cast<Floats*>(high + c) =
            (x_high + *reinterpret_cast<const Floats*>(y_high + c)) - twice;
    }
    float smallest = least[0];
    for (int l = 1; l < lanes; ++l)
        smallest = std::min(smallest, least[l]);
    return smallest;
}

// How many of `side` intervals lie below t, and how many begin below it.
LOWDIM_TARGET Below below(const float* low, const float* high, float t) {
    Counts all = {}, some = {};
    for (int c = 0; c < side; c += lanes) {
        const Floats h = *reinterpret_cast<const Floats*>(high + c),
                     l = *reinterpret_cast<const Floats*>(low + c);
        all = h < t ? all + 1 : all;
        some = l < t ? some + 1 : some;
    }
    alignas(LOWDIM_BYTES) std::int32_t parts[2 * lanes]; // both at once: fewer steps than lane by lane
    *reinterpret_cast<Counts*>(parts) = all;
    *reinterpret_cast<Counts*>(parts + lanes) = some;
    Below found = {0, 0};
    for (int l = 0; l < lanes; ++l) {
        found.all += parts[l];
        found.some += parts[lanes + l];
    }
    return found;
}

template <class T> LOWDIM_TARGET double square_apart(const T* x, const T* y, std::int64_t d) {
    constexpr int wide = LOWDIM_BYTES / sizeof(double);
    typedef double Doubles __attribute__((vector_size(LOWDIM_BYTES)));
    typedef T Part __attribute__((vector_size(wide * sizeof(T)), aligned(sizeof(T)), may_alias));
    Doubles sum[2] = {};
    std::int64_t s = 0;
    for (; s + 2 * wide <= d; s += 2 * wide)
        for (int v = 0; v < 2; ++v) {
            const Doubles gap =
                __builtin_convertvector(*reinterpret_cast<const Part*>(x + s + v * wide), Doubles) -
                __builtin_convertvector(*reinterpret_cast<const Part*>(y + s + v * wide), Doubles);
            sum[v] += gap * gap;
        }
    double total = 0;
    for (int l = 0; l < wide; ++l)
        total += sum[0][l] + sum[1][l];
    for (; s < d; ++s) {
        const double gap = static_cast<double>(x[s]) - static_cast<double>(y[s]);
        total += gap * gap;
    }
    return total;
}

template <class T> constexpr Kernels<T> kernels = {products, bound, below, square_apart<T>};
