// Visits of nodes for all lanes at once, for one instruction set; see each_isa.inl.

typedef float Vector __attribute__((vector_size(LOWDIM_BYTES), may_alias));
typedef std::int32_t Mask __attribute__((vector_size(LOWDIM_BYTES), may_alias));
constexpr int vectors = lanes * sizeof(float) / LOWDIM_BYTES;

LOWDIM_TARGET LOWDIM_INLINE bool any_of(const Mask& mask) {
#if LOWDIM_BYTES == 64
    return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#elif LOWDIM_BYTES == 32
    return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
#else
    return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
#endif
}

// own[l] = at[l] = min(at[l], from_e[l] + length_e) over the edges e of a node.
LOWDIM_TARGET LOWDIM_INLINE void pull(const Graph& graph, std::int64_t node, float* distances, Vector* own) {
    Vector* at = reinterpret_cast<Vector*>(distances + node * lanes);
    LOWDIM_UNROLL
    for (int q = 0; q < vectors; ++q)
        own[q] = at[q];
    for (std::int64_t e = graph.starts[node]; e < graph.starts[node + 1]; ++e) {
        const Vector* from = reinterpret_cast<const Vector*>(distances + std::int64_t{graph.ends[e]} * lanes);
        const float length = graph.lengths[e];
        LOWDIM_UNROLL
        for (int q = 0; q < vectors; ++q) {
            const Vector there = from[q] + length;
            own[q] = there < own[q] ? there : own[q];
        }
    }
    LOWDIM_UNROLL
    for (int q = 0; q < vectors; ++q)
        at[q] = own[q];
}

// to[l] = min(to[l], from[l] + length); whether any lane changed.
LOWDIM_TARGET LOWDIM_INLINE bool lower(const Vector* from, float length, float* to) {
    Vector* at = reinterpret_cast<Vector*>(to);
    Vector there[vectors];
    Mask changed = {};
    LOWDIM_UNROLL
    for (int q = 0; q < vectors; ++q) {
        there[q] = from[q] + length;
        changed |= there[q] < at[q];
    }
    if (!any_of(changed))
        return false;
    LOWDIM_UNROLL
    for (int q = 0; q < vectors; ++q)
        at[q] = there[q] < at[q] ? there[q] : at[q];
    return true;
}

// Distances of the nodes from `known` on, in `order`; those before are final. First each node is lowered from
// all its neighbours and lowers those visited before; then nodes that were lowered since their last visit
// lower their neighbours, until there are none. `state` is 0 for a node not visited yet, 2 for one that was
// lowered since, 1 otherwise. The ends of a node's edges rise. False if stopped.
LOWDIM_TARGET bool relax(const Graph& graph, const std::int32_t* order, std::int64_t known,
                         std::uint8_t* state, float* distances, Watch& watch, bool keeper) {
    Vector own[vectors];
    for (bool again = true, first = true; again; first = false) {
        again = false;
        for (std::int64_t place = 0; place < graph.nodes - known; ++place) {
            if ((place & 4095) == 0) {
                if (keeper)
                    watch.poll();
                if (watch.stopped())
                    return false;
            }
            const std::int64_t node = order[place];
            if (first)
                pull(graph, node, distances, own);
            else if (state[node] == 2)
                std::copy_n(reinterpret_cast<const Vector*>(distances + node * lanes), vectors, own);
            else
                continue;
            state[node] = 1;
            for (std::int64_t e = graph.starts[node + 1] - 1; e >= graph.starts[node]; --e) {
                const std::int64_t end = graph.ends[e];
                if (end < known)
                    break;
                if (state[end] == 0 || !lower(own, graph.lengths[e], distances + end * lanes))
                    continue;
                state[end] = 2;
                again = true;
            }
        }
    }
    return true;
}
