// Attraction and repulsion of UMAP's loss for one instruction set; see each_isa.inl. Both need u = a t^b of
// t = s + ε: −log w = log(1 + u) has the slope b u/(t (1 + u)) in s, −log(1 − w) = log(1 + 1/u) the slope
// −b/(t (1 + u)).

#include "map_lanes.inl"

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

// Adds the pulls of as many entries as V has lanes, and the factors of their gaps.
template <int K, class V>
LOWDIM_TARGET LOWDIM_INLINE void add_pulls(const Padded& graph, std::int64_t e, const float* Y,
                                           const float* y, int dims, const Law& law, V* sums, V& stiff) {
    using Values = typename Same<V>::Values;
    V gap[K ? K : 64];
    const V t = gaps<K, V>(Y, graph.columns + e, y, dims, law.soft, gap);
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
            const Rest t = gaps<K, Rest>(Y, columns, Y + i * k, k, law.soft, gap);
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
#if LOWDIM_BYTES == 16 && !defined(__ARM_NEON)
        const Held cost = log2_of(1.0f / power_by_table(t, law, law.mantissa) + 1.0f);
#else
        const Held power = log2_of(t) * law.power + law.log_scale; // log₂ u
        const Held cost = log2_of(exp2_of(power) + 1.0f) - power;
#endif
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
