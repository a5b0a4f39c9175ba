// One visit of a node for all lanes, for one instruction set; see each_isa.inl.

// at[l] = min(at[l], from_e[l] + length_e) over the edges e of a node; whether any lane changed.
LOWDIM_TARGET inline bool pull(const Graph& graph, std::int64_t node, float* distances) {
    typedef float Vector __attribute__((vector_size(LOWDIM_BYTES), may_alias));
    typedef std::int32_t Mask __attribute__((vector_size(LOWDIM_BYTES), may_alias));
    constexpr int count = lanes * sizeof(float) / LOWDIM_BYTES;
    Vector* at = reinterpret_cast<Vector*>(distances + node * lanes);
    Vector best[count];
    LOWDIM_UNROLL
    for (int q = 0; q < count; ++q)
        best[q] = at[q];
    for (std::int64_t e = graph.starts[node]; e < graph.starts[node + 1]; ++e) {
        const Vector* from = reinterpret_cast<const Vector*>(distances + std::int64_t{graph.ends[e]} * lanes);
        const float length = graph.lengths[e];
        LOWDIM_UNROLL
        for (int q = 0; q < count; ++q) {
            const Vector there = from[q] + length;
            best[q] = there < best[q] ? there : best[q];
        }
    }
    Mask changed = {};
    LOWDIM_UNROLL
    for (int q = 0; q < count; ++q) {
        changed |= best[q] < at[q];
        at[q] = best[q];
    }
    std::int32_t any = 0;
    for (int l = 0; l < static_cast<int>(LOWDIM_BYTES / sizeof(float)); ++l)
        any |= changed[l];
    return any != 0;
}

// Visits the nodes in `order`, those marked dirty, again and again until none is; false if stopped.
LOWDIM_TARGET bool settle(const Graph& graph, const std::int32_t* order, std::uint8_t* dirty,
                          float* distances, Watch& watch, bool keeper) {
    for (bool again = true; again;) {
        again = false;
        for (std::int64_t place = 0; place < graph.nodes; ++place) {
            if ((place & 4095) == 0) {
                if (keeper)
                    watch.poll();
                if (watch.stopped())
                    return false;
            }
            const std::int64_t node = order[place];
            if (!dirty[node])
                continue;
            dirty[node] = 0;
            if (!pull(graph, node, distances))
                continue;
            again = true;
            for (std::int64_t e = graph.starts[node]; e < graph.starts[node + 1]; ++e)
                dirty[graph.ends[e]] = 1;
        }
    }
    return true;
}
