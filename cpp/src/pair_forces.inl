// Forces of pairs for one instruction set; see each_isa.inl.

typedef float Eight __attribute__((vector_size(32)));

LOWDIM_TARGET LOWDIM_INLINE float total(const Eight& v) {
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

// base root Σ √d̃/(shift + d̃) + arctan(√(d̃/shift))/√shift of the first `some` lanes.
LOWDIM_TARGET static double of_roots(const Eight& roots, const Eight& t, std::int64_t some,
                                     const Kind& kind) {
    const double wide = std::sqrt(static_cast<double>(kind.shift));
    double sum = 0;
    for (std::int64_t lane = 0; lane < 8 && lane < some; ++lane) {
        const auto root = static_cast<double>(roots[lane]);
        sum += root / static_cast<double>(t[lane]) + std::atan(root / wide) / wide;
    }
    return static_cast<double>(kind.base * kind.root) * sum;
}

// Gradient (rows × k) Σ factor/(shift + d̃)² (y_i − y_j) of rows from … to, over the kinds of pairs, and in
// `costs`, unless it is null, Σ base + factor/−2/(shift + d̃). Partners come in groups of 8, filled up by the
// row itself, which exerts no force. K is the number of coordinates, 0 for any. Roots: whether a kind has
// one; loops that ask for it take a third longer.
template <int K, bool Roots>
LOWDIM_TARGET static void rows_of_kinds(const Incident& of, const float* Y, int k, const Kind* kinds,
                                        std::int64_t from, std::int64_t to, float* gradient, double* costs) {
    const int dims = K ? K : k;
    Eight gap[K ? K : 64], sums[K ? K : 64];
    for (std::int64_t i = from; i < to; ++i) {
        const float* y = Y + i * dims;
        for (int d = 0; d < dims; ++d)
            sums[d] = Eight{};
        double cost = 0;
        for (int kind = 0; kind < n_kinds; ++kind) {
            const float factor = kinds[kind].factor, shift = kinds[kind].shift + 1.0f;
            if (factor == 0)
                continue;
            const std::int64_t begin = of.starts[n_kinds * i + kind], end = of.starts[n_kinds * i + kind + 1];
            const float root = Roots ? kinds[kind].root : 0.0f;
            Eight inverse = {};
            [[maybe_unused]] Eight roots = {};
            for (std::int64_t e = begin; e < end; e += 8) {
                const std::int32_t* q = of.partners + e;
                Eight t = Eight{} + shift;
                if constexpr (K == 2) {
                    typedef double Place __attribute__((may_alias, aligned(4)));
                    typedef double Four __attribute__((vector_size(32)));
                    const auto* places = reinterpret_cast<const Place*>(Y);
                    const Eight a = (Eight)Four{places[q[0]], places[q[1]], places[q[4]], places[q[5]]};
                    const Eight b = (Eight)Four{places[q[2]], places[q[3]], places[q[6]], places[q[7]]};
                    gap[0] = y[0] - __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14);
                    gap[1] = y[1] - __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
                    t += gap[0] * gap[0] + gap[1] * gap[1];
                } else {
                    for (int d = 0; d < dims; ++d) {
                        for (int lane = 0; lane < 8; ++lane)
                            gap[d][lane] = y[d] - Y[static_cast<std::int64_t>(q[lane]) * dims + d];
                        t += gap[d] * gap[d];
                    }
                }
                Eight c = factor / (t * t);
                if (Roots && root > 0) {
                    for (int lane = 0; lane < 8; ++lane) // √d̃
                        roots[lane] = __builtin_sqrtf(t[lane] - kinds[kind].shift);
                    c *= root / roots;
                }
                for (int d = 0; d < dims; ++d)
                    sums[d] += c * gap[d];
                if (Roots && costs && root > 0)
                    cost += of_roots(roots, t, of.counts[n_kinds * i + kind] - (e - begin), kinds[kind]);
                else if (costs)
                    inverse += 1.0f / t;
            }
            if (Roots && root > 0)
                continue;
            if (costs) { // those that fill up stand at 0
                const auto filled = static_cast<double>(end - begin - of.counts[n_kinds * i + kind]);
                const double sum = static_cast<double>(total(inverse)) - filled / shift;
                cost += static_cast<double>(kinds[kind].base) *
                            static_cast<double>(of.counts[n_kinds * i + kind]) -
                        0.5 * static_cast<double>(factor) * sum;
            }
        }
        for (int d = 0; d < dims; ++d)
            gradient[i * dims + d] = total(sums[d]);
        if (costs)
            costs[i] = 0.5 * cost;
    }
}

template <int K>
LOWDIM_TARGET static void pair_rows(const Incident& of, const float* Y, int k, const Kind* kinds,
                                    std::int64_t from, std::int64_t to, float* gradient, double* costs) {
    bool roots = false;
    for (int kind = 0; kind < n_kinds; ++kind)
        roots = roots || kinds[kind].root > 0;
    if (roots)
        rows_of_kinds<K, true>(of, Y, k, kinds, from, to, gradient, costs);
    else
        rows_of_kinds<K, false>(of, Y, k, kinds, from, to, gradient, costs);
}

// Forces (k columns of `stride`) factor/(1 + d̃)² (y_i − y_j) on the rows at positions from … to of the ring,
// by those `shifts` positions later and earlier, and in `costs`, unless it is null, Σ −½
// factor/(1 + d̃).
template <int K>
LOWDIM_TARGET static void ring_rows(const RingPlaces& ring, int k, float factor, std::int64_t from,
                                    std::int64_t to, float* forces, double* costs) {
    constexpr int bytes = LOWDIM_BYTES == 64 ? 64 : 32, lanes = bytes / static_cast<int>(sizeof(float));
    typedef float Held __attribute__((vector_size(bytes))); // what registers hold
    typedef float Loose __attribute__((vector_size(bytes), aligned(4), may_alias));
    const int dims = K ? K : k;
    Held own[K ? K : 64], sums[K ? K : 64], gap[K ? K : 64];
    for (std::int64_t i = from; i < to; i += lanes) {
        for (int d = 0; d < dims; ++d) {
            own[d] = *reinterpret_cast<const Loose*>(ring.places + d * ring.stride + i);
            sums[d] = Held{};
        }
        Held inverse = {};
        for (std::int64_t s = 0; s < 2 * ring.n_shifts; ++s) {
            const std::int64_t j = i + (s % 2 ? ring.n - ring.shifts[s / 2] : ring.shifts[s / 2]);
            Held t = Held{} + 2.0f;
            for (int d = 0; d < dims; ++d) {
                gap[d] = own[d] - *reinterpret_cast<const Loose*>(ring.places + d * ring.stride + j);
                t += gap[d] * gap[d];
            }
            const Held c = 1.0f / (t * t);
            for (int d = 0; d < dims; ++d)
                sums[d] += c * gap[d];
            if (costs)
                inverse += 1.0f / t;
        }
        for (int d = 0; d < dims; ++d)
            *reinterpret_cast<Loose*>(forces + d * ring.stride + i) = factor * sums[d];
        for (std::int64_t lane = 0; costs && lane < lanes && i + lane < to; ++lane)
            costs[i + lane] = -0.25 * static_cast<double>(factor) * static_cast<double>(inverse[lane]);
    }
}

// Of one point y beside `size` others in columns: Σ 1/(1 + d̃), and in `force` Σ 2/(1 + d̃)² (y − y_j).
LOWDIM_TARGET static double further_from(const float* y, int k, const float* columns, std::int64_t size,
                                         double* force) {
    double sum = 0;
    for (int d = 0; d < k; ++d)
        force[d] = 0;
    float inverse[64];
    for (std::int64_t start = 0; start < size; start += 64) {
        const std::int64_t some = size - start < 64 ? size - start : 64;
        for (std::int64_t j = 0; j < some; ++j) {
            float t = 2;
            for (int d = 0; d < k; ++d) {
                const float gap = y[d] - columns[d * size + start + j];
                t += gap * gap;
            }
            inverse[j] = 1 / t;
        }
        for (std::int64_t j = 0; j < some; ++j)
            sum += static_cast<double>(inverse[j]);
        for (int d = 0; d < k; ++d) {
            float part = 0;
            for (std::int64_t j = 0; j < some; ++j)
                part += 2 * inverse[j] * inverse[j] * (y[d] - columns[d * size + start + j]);
            force[d] += static_cast<double>(part);
        }
    }
    return sum;
}

template <int K> constexpr PairKernels kernels{pair_rows<K>, ring_rows<K>, further_from};
