// Spreading, reading and transforms of the grid for one instruction set; see each_isa.inl.

#include "fft.inl"

// One value a node of the spline's width, the last two idle.
typedef float Cells __attribute__((vector_size(32)));
typedef float LooseCells __attribute__((vector_size(32), aligned(4), may_alias));

LOWDIM_TARGET LOWDIM_INLINE void weights(const float (*table)[8], int terms, float t, Cells& out) {
    out = *reinterpret_cast<const LooseCells*>(table[terms - 1]);
    for (int power = terms - 2; power >= 0; --power)
        out = out * t + *reinterpret_cast<const LooseCells*>(table[power]);
}

LOWDIM_TARGET LOWDIM_INLINE float total(const Cells& v) {
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

LOWDIM_TARGET LOWDIM_INLINE void spread_one(const Spline& spline, const View& view, const float* y,
                                            float* nodes) {
    const float gx = (y[0] - view.origin[0]) * view.inverse;
    const auto ix = static_cast<std::int32_t>(gx);
    Cells wx;
    weights(spline.values, spline.terms, gx - static_cast<float>(ix), wx);
    float* at = nodes + ix - spline.before;
    if (view.dimensions == 1) {
        *reinterpret_cast<LooseCells*>(at) += wx;
        return;
    }
    const float gy = (y[1] - view.origin[1]) * view.inverse;
    const auto iy = static_cast<std::int32_t>(gy);
    Cells wy;
    weights(spline.values, spline.terms, gy - static_cast<float>(iy), wy);
    at += (iy - spline.before) * view.stride;
    for (int row = 0; row < Grid::width; ++row, at += view.stride)
        *reinterpret_cast<LooseCells*>(at) += wx * wy[row];
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
            here = *reinterpret_cast<const LooseCells*>(at);
        } else {
            const float gy = (y[1] - view.origin[1]) * view.inverse;
            const auto iy = static_cast<std::int32_t>(gy);
            const float ty = gy - static_cast<float>(iy);
            Cells wy, dy;
            weights(spline.values, spline.terms, ty, wy);
            weights(spline.slopes, spline.terms - 1, ty, dy);
            at += (iy - spline.before) * view.stride;
            for (int row = 0; row < Grid::width; ++row, at += view.stride) {
                const Cells node = *reinterpret_cast<const LooseCells*>(at);
                here += node * wy[row];
                slope += node * dy[row];
            }
            forces[2 * p + 1] = half * total(slope * wx);
        }
        forces[view.dimensions * p] = half * total(here * dx);
        const float value = total(here * wx);
        if (phi)
            phi[p] = value;
        sum += value;
    }
    return sum;
}

// Lanes of 16 values become values of 16 lanes, real and imaginary parts apart; see transpose.
LOWDIM_TARGET static void turn_block(const Complexes* from, std::int64_t given, Complexes* to,
                                     std::int64_t wanted) {
    constexpr std::int64_t stride = 2 * side;
    transpose(reinterpret_cast<const float*>(&from->re), stride, given, reinterpret_cast<float*>(&to->re),
              stride, wanted);
    transpose(reinterpret_cast<const float*>(&from->im), stride, given, reinterpret_cast<float*>(&to->im),
              stride, wanted);
}

// Rows first … first + 31 of the nodes, two in each lane as real and imaginary part, become their spectra.
LOWDIM_TARGET static void rows_forward(const Convolution& c, std::int64_t first, Complexes* x,
                                       Complexes* spare) {
    const std::int64_t length = c.along->length();
    for (std::int64_t r = 0; r < 2 * side; r += side)
        for (std::int64_t i = 0; i < c.columns; i += side)
            transpose(c.nodes + (first + r) * c.stride + i, c.stride, c.rows - first - r,
                      reinterpret_cast<float*>(x + i) + r, 2 * side, side);
    const Complexes* z = transform(*c.along, Padded{x, c.columns}, spare, x, length);
    for (std::int64_t block = 0; block < c.blocks; ++block) {
        Complexes halves[2][side];
        for (int l = 0; l < side; ++l) {
            const std::int64_t k = std::min(block * side + l, length / 2); // idle lanes repeat the last
            const Complexes &plus = z[k], &minus = z[k ? length - k : 0];
            Complexes &a = halves[0][l], &b = halves[1][l];
            for (int part = 0; part < natives; ++part) {
                const Native re = part_of(plus.re, part), im = part_of(plus.im, part);
                const Native mirrored = part_of(minus.re, part), reversed = part_of(minus.im, part);
                part_of(a.re, part) = (re + mirrored) * 0.5f;
                part_of(a.im, part) = (im - reversed) * 0.5f;
                part_of(b.re, part) = (im + reversed) * 0.5f;
                part_of(b.im, part) = (mirrored - re) * 0.5f;
            }
        }
        Complexes* out = c.spectrum + block * c.rows + first;
        for (std::int64_t half = 0; half < 2; ++half)
            turn_block(halves[half], side, out + half * side, c.rows - first - half * side);
    }
}

// One block of frequencies: across the rows, times the multiplier, and back; the result has real and
// imaginary parts swapped.
LOWDIM_TARGET static void columns_through(const Convolution& c, std::int64_t block, Complexes* x,
                                          Complexes* spare) {
    const std::int64_t length = c.across->length();
    Complexes* rows = c.spectrum + block * c.rows;
    const Lanes* multiplier = c.multiplier + block * (length / 2 + 1);
    if (length == 1) {
        for (int part = 0; part < natives; ++part) {
            const Part swapped = Multiplied{rows, multiplier, length}.at(0, part);
            part_of(rows->re, part) = swapped.re;
            part_of(rows->im, part) = swapped.im;
        }
        return;
    }
    Complexes* z = transform(*c.across, Padded{rows, c.rows}, x, spare, length);
    transform(*c.across, Multiplied{z, multiplier, length}, z == x ? spare : x, z, c.rows, rows);
}

// The way back of rows_forward.
LOWDIM_TARGET static void rows_backward(const Convolution& c, std::int64_t first, Complexes* x,
                                        Complexes* spare) {
    const std::int64_t length = c.along->length();
    for (std::int64_t block = 0; block < c.blocks; ++block) {
        Complexes halves[2][side];
        const Complexes* in = c.spectrum + block * c.rows + first;
        for (std::int64_t half = 0; half < 2; ++half)
            turn_block(in + half * side, c.rows - first - half * side, halves[half], side);
        for (int l = 0; l < side; ++l) { // z_k = a_k + i b_k and z_−k = conj a_k + i conj b_k, parts swapped
            const std::int64_t k = block * side + l;
            if (k > length / 2)
                break;
            const Complexes &a = halves[0][l], &b = halves[1][l];
            const bool twin = k && 2 * k != length;
            for (int part = 0; part < natives; ++part) {
                const Native ar = part_of(a.im, part), ai = part_of(a.re, part);
                const Native br = part_of(b.im, part), bi = part_of(b.re, part);
                part_of(x[k].im, part) = ar - bi;
                part_of(x[k].re, part) = ai + br;
                if (twin) {
                    part_of(x[length - k].im, part) = ar + bi;
                    part_of(x[length - k].re, part) = br - ai;
                }
            }
        }
    }
    const Complexes* z = transform(*c.along, Values{x}, spare, x, c.columns);
    for (std::int64_t r = 0; r < 2 * side; r += side) // imaginary parts first
        for (std::int64_t i = 0; i < c.columns; i += side)
            transpose(reinterpret_cast<const float*>(z + i) + (side - r), 2 * side, side,
                      c.nodes + (first + r) * c.stride + i, c.stride, c.rows - first - r);
}

// Spectrum of f along 32 rows of a grid twice as fine, rows `first` on; the rows are even, so that it is
// real.
template <class F>
LOWDIM_TARGET void kernel_rows(const F& f, const KernelGrid& g, std::int64_t first, Complexes* x,
                               Complexes* spare) {
    const std::int64_t length = g.along->length();
    Lanes up[2];
    for (int half = 0; half < 2; ++half)
        for (int lane = 0; lane < side; ++lane) {
            const float y = static_cast<float>(static_cast<double>(first + half * side + lane) * g.step);
            up[half][lane] = y * y;
        }
    for (std::int64_t i = 0; i <= length / 2; ++i) {
        const float across = static_cast<float>(static_cast<double>(i) * g.step);
        Complexes& here = x[i];
        for (int part = 0; part < natives; ++part) {
            Native value, pull;
            f.at(Native(part_of(up[0], part) + across * across), value, pull);
            part_of(here.re, part) = value;
            f.at(Native(part_of(up[1], part) + across * across), value, pull);
            part_of(here.im, part) = value;
        }
        if (i && 2 * i != length)
            x[length - i] = here;
    }
    const Complexes* z = transform(*g.along, Values{x}, spare, x, length);
    for (std::int64_t block = 0; block < g.blocks; ++block)
        for (std::int64_t r = 0; r < std::min<std::int64_t>(g.rows - first, 2 * side); ++r)
            for (int l = 0; l < side; ++l) {
                const Complexes& from = z[std::min(block * side + l, length / 2)];
                g.out[block * g.rows + first + r][l] = r < side ? from.re[r] : from.im[r - side];
            }
}

// The same across the rows, for one block of frequencies.
LOWDIM_TARGET static void kernel_columns(const KernelGrid& g, std::int64_t block, Complexes* x,
                                         Complexes* spare, const float* along_factor,
                                         const float* across_factor, Lanes* multiplier) {
    const std::int64_t length = g.across->length(), kept = std::max<std::int64_t>(1, length / 2);
    for (std::int64_t i = 0; i < g.rows; ++i) {
        x[i] = {g.out[block * g.rows + i], Lanes{}};
        if (i && 2 * i != length)
            x[length - i] = x[i];
    }
    const Complexes* z = length > 1 ? transform(*g.across, Values{x}, spare, x, length) : x;
    Lanes factor;
    for (int l = 0; l < side; ++l)
        factor[l] = along_factor[block * side + l];
    for (std::int64_t i = 0; i <= kept / 2; ++i)
        multiplier[block * (kept / 2 + 1) + i] = z[i].re * factor * across_factor[i];
}
