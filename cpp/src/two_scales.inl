// Ways between nodes and coarser nodes for one instruction set; see each_isa.inl.

using Native = Register<float, LOWDIM_BYTES>::Vector;
typedef float Loose __attribute__((vector_size(LOWDIM_BYTES), aligned(4), may_alias));
constexpr int lanes = Register<float, LOWDIM_BYTES>::lanes;

LOWDIM_TARGET LOWDIM_INLINE Native loose(const float* from) { return *reinterpret_cast<const Loose*>(from); }

// The charges of some rows of coarser nodes, `first` on: across the rows of nodes, then along.
LOWDIM_TARGET static void gather_rows(const Between& b, std::int64_t first, float* room) {
    // Plane p has the columns i with i % coarser = p side by side, behind zeros for the cells before the
    // first.
    const std::int64_t plane = b.coarse_stride + side;
    std::fill(room, room + at_once * coarser * plane, 0.0f);
    const std::int64_t from = std::max<std::int64_t>(0, first - width + 1),
                       to = std::min(first + at_once - 1, (b.rows - 1) / coarser);
    for (std::int64_t x = 0; x < b.columns; x += side) {
        Native sums[at_once][side / lanes] = {};
        for (std::int64_t cell = from; cell <= to; ++cell)
            for (int phase = 0; phase < coarser && cell * coarser + phase < b.rows; ++phase) {
                const float* row = b.nodes + (cell * coarser + phase) * b.stride + x;
                for (int part = 0; part < side / lanes; ++part) {
                    const Native value = loose(row + part * lanes);
                    for (int r = 0; r < at_once; ++r)
                        sums[r][part] += weights.of(phase, first + r - cell) * value;
                }
            }
        for (int r = 0; r < at_once; ++r) {
            const float* at = reinterpret_cast<const float*>(sums[r]);
            float* planes = room + r * coarser * plane + width - 1;
            for (std::int64_t i = x; i < std::min(b.columns, x + side); ++i)
                planes[i % coarser * plane + i / coarser] = at[i - x];
        }
    }
    for (int r = 0; r < at_once && first + r < b.coarse_rows; ++r)
        for (std::int64_t c = 0; c < b.coarse_columns; c += lanes) {
            Native sum{};
            for (int phase = 0; phase < coarser; ++phase)
                for (int node = 0; node < width; ++node)
                    sum += weights.of(phase, node) *
                           loose(room + (r * coarser + phase) * plane + width - 1 + c - node);
            *reinterpret_cast<Loose*>(b.coarse + (first + r) * b.coarse_stride + c) = sum;
        }
}

// The field of one row of coarser nodes at the columns of all nodes.
LOWDIM_TARGET static void widen_row(const Between& b, std::int64_t row) {
    const float* from = b.coarse + row * b.coarse_stride;
    float* to = b.lines + row * b.stride;
    const std::int64_t cells = b.coarse_columns - width + 1;
    for (std::int64_t c = 0; c < cells; c += lanes) {
        Native sums[coarser] = {};
        for (int node = 0; node < width; ++node) {
            const Native value = loose(from + c + node);
            for (int phase = 0; phase < coarser; ++phase)
                sums[phase] += weights.of(phase, node) * value;
        }
        for (int lane = 0; lane < lanes && c + lane < cells; ++lane)
            for (int phase = 0; phase < coarser; ++phase)
                to[(c + lane) * coarser + phase] = sums[phase][lane];
    }
}

// Adds the far field to the rows of nodes of one cell.
LOWDIM_TARGET static void add_far(const Between& b, std::int64_t cell) {
    const int rows = static_cast<int>(std::min<std::int64_t>(coarser, b.rows - cell * coarser));
    for (std::int64_t x = 0; x < b.columns; x += lanes) {
        Native sums[coarser] = {};
        for (int node = 0; node < width; ++node) {
            const Native value = loose(b.lines + (cell + node) * b.stride + x);
            for (int phase = 0; phase < coarser; ++phase)
                sums[phase] += weights.of(phase, node) * value;
        }
        for (int phase = 0; phase < rows; ++phase)
            *reinterpret_cast<Loose*>(b.nodes + (cell * coarser + phase) * b.stride + x) += sums[phase];
    }
}
