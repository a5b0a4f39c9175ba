// Spreading and reading of the grid for one instruction set; see each_isa.inl.

// One value a node of the spline's width.
#if LOWDIM_BYTES == 16
using Cells = TwoFours;

LOWDIM_INLINE Cells loose(const float* from) { return Cells::at(from); }
LOWDIM_INLINE void put(const Cells& v, float* to) { v.put(to); }
#else
typedef float Cells __attribute__((vector_size(32)));
typedef float LooseCells __attribute__((vector_size(32), aligned(4), may_alias));

LOWDIM_TARGET LOWDIM_INLINE Cells loose(const float* from) {
    return *reinterpret_cast<const LooseCells*>(from);
}
LOWDIM_TARGET LOWDIM_INLINE void put(const Cells& v, float* to) { *reinterpret_cast<LooseCells*>(to) = v; }

LOWDIM_TARGET LOWDIM_INLINE float total(const Cells& v) {
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}
#endif

LOWDIM_TARGET LOWDIM_INLINE void weights(const float (*table)[8], int terms, float t, Cells& out) {
    out = loose(table[terms - 1]);
    for (int power = terms - 2; power >= 0; --power)
        out = out * t + loose(table[power]);
}

LOWDIM_TARGET LOWDIM_INLINE void spread_one(const Spline& spline, const View& view, const float* y,
                                            float* nodes) {
    const float gx = (y[0] - view.origin[0]) * view.inverse;
    const auto ix = static_cast<std::int32_t>(gx);
    Cells wx;
    weights(spline.values, spline.terms, gx - static_cast<float>(ix), wx);
    float* at = nodes + ix - spline.before;
    if (view.dimensions == 1) {
        put(loose(at) + wx, at);
        return;
    }
    const float gy = (y[1] - view.origin[1]) * view.inverse;
    const auto iy = static_cast<std::int32_t>(gy);
    Cells wy;
    weights(spline.values, spline.terms, gy - static_cast<float>(iy), wy);
    at += (iy - spline.before) * view.stride;
    for (int row = 0; row < Grid::width; ++row, at += view.stride)
        put(loose(at) + wx * wy[row], at);
}

LOWDIM_TARGET static void spread_points(const Spline& spline, const View& view, const float* Y,
                                        const std::int32_t* points, std::int64_t count, float* nodes) {
    for (std::int64_t p = 0; p < count; ++p)
        spread_one(spline, view, Y + static_cast<std::int64_t>(points[p]) * view.dimensions, nodes);
}

LOWDIM_TARGET static void spread_range(const Spline& spline, const View& view, const float* Y,
                                       std::int64_t from, std::int64_t to, float* nodes) {
    for (std::int64_t p = from; p < to; ++p)
        spread_one(spline, view, Y + p * view.dimensions, nodes);
}

// sin 2πt for t from 0 to 1, within 0.002.
LOWDIM_TARGET LOWDIM_INLINE float sine(float t) {
    const float v = 0.5f - t, s = v * v;
    return v * (1 - 4 * s) * (6.2832f + s * (14.04f * s - 16.075f));
}

// Returns Σφ over the points `from` to `to`.
LOWDIM_TARGET static double read_points(const Spline& spline, const View& view, const float* Y,
                                        std::int64_t from, std::int64_t to, const float* nodes, float* forces,
                                        float* phi) {
    double sum = 0;
    const float half = -0.5f * view.inverse;
    for (std::int64_t p = from; p < to; ++p) {
        const float* y = Y + p * view.dimensions;
        const float gx = (y[0] - view.origin[0]) * view.inverse;
        const auto ix = static_cast<std::int32_t>(gx);
        const float tx = gx - static_cast<float>(ix);
        Cells wx, dx;
        weights(spline.values, spline.terms, tx, wx);
        weights(spline.slopes, spline.terms - 1, tx, dx);
        const float* at = nodes + ix - spline.before;
        Cells here = {}, slope = {};
        if (view.dimensions == 1) {
            here = loose(at);
        } else {
            const float gy = (y[1] - view.origin[1]) * view.inverse;
            const auto iy = static_cast<std::int32_t>(gy);
            const float ty = gy - static_cast<float>(iy);
            Cells wy, dy;
            weights(spline.values, spline.terms, ty, wy);
            weights(spline.slopes, spline.terms - 1, ty, dy);
            at += (iy - spline.before) * view.stride;
            for (int row = 0; row < Grid::width; ++row, at += view.stride) {
                const Cells node = loose(at);
                here += node * wy[row];
                slope += node * dy[row];
            }
            forces[2 * p + 1] = half * total(slope * wx) - view.own.push * sine(ty);
        }
        forces[view.dimensions * p] = half * total(here * dx) - view.own.push * sine(tx);
        const float value = total(here * wx) - view.own.excess;
        if (phi)
            phi[p] = value;
        sum += value;
    }
    return sum;
}

// φ at one point, its gradient and its second derivatives.
LOWDIM_TARGET static void read_bent(const Spline& spline, const View& view, const float* y,
                                    const float* nodes, SecondOrder& out) {
    const float gx = (y[0] - view.origin[0]) * view.inverse;
    const auto ix = static_cast<std::int32_t>(gx);
    const float tx = gx - static_cast<float>(ix);
    Cells wx, dx, bx;
    weights(spline.values, spline.terms, tx, wx);
    weights(spline.slopes, spline.terms - 1, tx, dx);
    weights(spline.bends, spline.terms - 2, tx, bx);
    const float* at = nodes + ix - spline.before;
    Cells here = {}, slope = {}, bend = {};
    if (view.dimensions == 1) {
        here = loose(at);
    } else {
        const float gy = (y[1] - view.origin[1]) * view.inverse;
        const auto iy = static_cast<std::int32_t>(gy);
        const float ty = gy - static_cast<float>(iy);
        Cells wy, dy, by;
        weights(spline.values, spline.terms, ty, wy);
        weights(spline.slopes, spline.terms - 1, ty, dy);
        weights(spline.bends, spline.terms - 2, ty, by);
        at += (iy - spline.before) * view.stride;
        for (int row = 0; row < Grid::width; ++row, at += view.stride) {
            const Cells node = loose(at);
            here += node * wy[row];
            slope += node * dy[row];
            bend += node * by[row];
        }
    }
    const float h = view.inverse, square = h * h;
    out = {total(here * wx),          h * total(here * dx),       h * total(slope * wx),
           square * total(here * bx), square * total(slope * dx), square * total(bend * wx)};
}
