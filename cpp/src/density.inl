// Local radii of a map and the forces of their correlation for one instruction set; see each_isa.inl. With
// w = w(s), a = −w′/w, N = Σ w s, D = Σ w and R = N/D, ∂R_i/∂s_ij = w_ij ((1 − a s) + a R_i)/D_i.

#include "map_lanes.inl"

// w and a at squared lengths s, to which the curve's ε was added in t.
template <SimilarityKind kind, class V>
LOWDIM_TARGET LOWDIM_INLINE void similar(const V& s, const V& t, const Fall& fall, V& w, V& a) {
    if constexpr (kind == SimilarityKind::curve) {
        const V u = near_power(t, fall.law);
        w = 1.0f / (u + 1.0f);
        a = fall.law.power * u * w / t;
    } else if constexpr (kind == SimilarityKind::cauchy) {
        a = w = 1.0f / (s + 1.0f);
    } else {
        const V log = log2_of(V(s / fall.dof + 1.0f));
        a = fall.power / (s + fall.dof);
        w = exp2_of(V(log * -fall.power));
    }
}

// The next entries of a row: gaps to y, squared lengths, w, which is 0 of entries of value 0, and a.
template <int K, SimilarityKind kind, class V>
LOWDIM_TARGET LOWDIM_INLINE void edges(const Padded& graph, std::int64_t e, const float* Y, const float* y,
                                       int dims, const Fall& fall, V* gap, V& s, V& w, V& a) {
    const float soft = kind == SimilarityKind::curve ? fall.law.soft : 0.0f;
    const V t = gaps<K, V>(Y, graph.columns + e, y, dims, soft, gap);
    s = t - soft;
    similar<kind>(s, t, fall, w, a);
    const V v = *reinterpret_cast<const typename Same<V>::Values*>(graph.values + e);
    w = v > 0.0f ? w : V{};
}

template <int K, SimilarityKind kind, class V>
LOWDIM_TARGET LOWDIM_INLINE void add_sums(const Padded& graph, std::int64_t e, const float* Y, const float* y,
                                          int dims, const Fall& fall, V& above, V& below) {
    V gap[K ? K : 64], s, w, a;
    edges<K, kind, V>(graph, e, Y, y, dims, fall, gap, s, w, a);
    above += w * s;
    below += w;
}

// N and D (n × 2) of the rows from … to.
template <int K, SimilarityKind kind>
LOWDIM_TARGET static void sum_rows(const Padded& graph, const float* Y, int k, const Fall& fall,
                                   std::int64_t from, std::int64_t to, float* sums) {
    const int dims = K ? K : k;
    for (std::int64_t i = from; i < to; ++i) {
        Held above = {}, below = {};
        Rest above_rest = {}, below_rest = {};
        std::int64_t e = graph.starts[i];
        const std::int64_t end = graph.starts[i + 1];
        for (; e + held <= end; e += held)
            add_sums<K, kind, Held>(graph, e, Y, Y + i * dims, dims, fall, above, below);
        if (e < end)
            add_sums<K, kind, Rest>(graph, e, Y, Y + i * dims, dims, fall, above_rest, below_rest);
        sums[2 * i] = total(above_rest + halves(above));
        sums[2 * i + 1] = total(below_rest + halves(below));
    }
}

template <int K, SimilarityKind kind, class V>
LOWDIM_TARGET LOWDIM_INLINE void add_forces(const Padded& graph, std::int64_t e, const float* Y,
                                            const float* nodes, std::int64_t i, int dims, const Fall& fall,
                                            V* sums, V& stiff) {
    V gap[K ? K : 64], s, w, a, other[2];
    edges<K, kind, V>(graph, e, Y, Y + i * dims, dims, fall, gap, s, w, a);
    const float none[2] = {};
    gaps<2, V>(nodes, graph.columns + e, none, 2, 0.0f, other);
    const V c = 2.0f * w * ((1.0f - a * s) * (other[0] + nodes[2 * i]) + a * (other[1] + nodes[2 * i + 1]));
    stiff += larger(c, V(-c));
    for (int d = 0; d < dims; ++d)
        sums[d] -= c * gap[d];
}

// Adds `scale` Σ_j 2 c_ij (y_i − y_j), c_ij = w ((1 − a s) (A_i + A_j) + a (B_i + B_j)) with A and B in
// `nodes` (n × 2), and `stiffening` times its stiffness, to the rows from … to of `forces` (n × pull_stride).
template <int K, SimilarityKind kind>
LOWDIM_TARGET static void force_rows(const Padded& graph, const float* Y, int k, const Fall& fall,
                                     const float* nodes, float scale, float stiffening, std::int64_t from,
                                     std::int64_t to, float* forces) {
    const int dims = K ? K : k;
    const std::int64_t stride = pull_stride(dims);
    Held wide[K ? K : 64];
    Rest sums[K ? K : 64];
    for (std::int64_t i = from; i < to; ++i) {
        for (int d = 0; d < dims; ++d) {
            wide[d] = Held{};
            sums[d] = Rest{};
        }
        Held stiff = {};
        Rest stiffness = {};
        std::int64_t e = graph.starts[i];
        const std::int64_t end = graph.starts[i + 1];
        for (; e + held <= end; e += held)
            add_forces<K, kind, Held>(graph, e, Y, nodes, i, dims, fall, wide, stiff);
        if (e < end)
            add_forces<K, kind, Rest>(graph, e, Y, nodes, i, dims, fall, sums, stiffness);
        float* out = forces + i * stride;
        for (int d = 0; d < dims; ++d)
            out[d] += scale * total(sums[d] + halves(wide[d]));
        out[dims] += stiffening * total(stiffness + halves(stiff));
    }
}

template <int K, SimilarityKind kind>
constexpr DensityKernels kernels{sizeof(Rest) / sizeof(float), sum_rows<K, kind>, force_rows<K, kind>};
