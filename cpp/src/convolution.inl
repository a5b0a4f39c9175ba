// Transforms of a grid for one instruction set; see each_isa.inl.

#include "fft.inl"

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
// The nodes of a line lie in memory like that.
LOWDIM_TARGET static void rows_forward(const Passes& c, std::int64_t first, Complexes* x, Complexes* spare) {
    const std::int64_t length = c.along->length();
    const Complexes* in = x;
    if (c.turns)
        in = reinterpret_cast<const Complexes*>(c.nodes);
    else
        for (std::int64_t r = 0; r < 2 * side; r += side)
            for (std::int64_t i = 0; i < c.columns; i += side)
                transpose(c.nodes + (first + r) * c.stride + i, c.stride, c.rows - first - r,
                          reinterpret_cast<float*>(x + i) + r, 2 * side, side);
    const Complexes* z = transform_begun(*c.along, in, c.columns, spare, x);
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
LOWDIM_TARGET static void columns_through(const Passes& c, std::int64_t block, Complexes* x,
                                          Complexes* spare) {
    const std::int64_t length = c.across->length();
    Complexes* rows = c.spectrum + block * c.rows;
    if (c.turns) {
        const Turned turned{rows, c.turns + block * length};
        Complexes* z = transform(*c.across, turned, x, spare, length);
        const Multiplied multiplied{z, c.multiplier + block * length, 2 * length};
        transform(*c.across, multiplied, z == x ? spare : x, z, length, rows);
        for (std::int64_t i = 0; i < length; ++i) // a turn of swapped values is the turn back, swapped
            for (int part = 0; part < natives; ++part) {
                const Part back = turned.at(i, part);
                part_of(rows[i].re, part) = back.re;
                part_of(rows[i].im, part) = back.im;
            }
        return;
    }
    const Lanes* multiplier = c.multiplier + block * (length / 2 + 1);
    Complexes* z = transform_begun(*c.across, rows, c.rows, x, spare);
    transform(*c.across, Multiplied{z, multiplier, length}, z == x ? spare : x, z, c.rows, rows);
}

// The way back of rows_forward.
LOWDIM_TARGET static void rows_backward(const Passes& c, std::int64_t first, Complexes* x, Complexes* spare) {
    const std::int64_t length = c.along->length();
    for (std::int64_t block = 0; block < c.blocks; ++block) {
        Complexes halves[2][side];
        const Complexes* in = c.spectrum + block * c.rows + first;
        for (std::int64_t half = 0; half < 2; ++half)
            turn_block(in + half * side, c.rows - first - half * side, halves[c.turns ? 1 - half : half],
                       side);            // a line is written as it comes out, imaginary parts first
        for (int l = 0; l < side; ++l) { // z_k = a_k + i b_k and z_−k = conj a_k + i conj b_k, parts swapped
            const std::int64_t k = block * side + l;
            if (k > length / 2)
                break;
            const Complexes &a = halves[0][l], &b = halves[1][l];
            const bool mirrored = k && 2 * k != length;
            for (int part = 0; part < natives; ++part) {
                const Native ar = part_of(a.im, part), ai = part_of(a.re, part);
                const Native br = part_of(b.im, part), bi = part_of(b.re, part);
                part_of(x[k].im, part) = ar - bi;
                part_of(x[k].re, part) = ai + br;
                if (mirrored) {
                    part_of(x[length - k].im, part) = ar + bi;
                    part_of(x[length - k].re, part) = br - ai;
                }
            }
        }
    }
    Complexes* line = c.turns ? reinterpret_cast<Complexes*>(c.nodes) : nullptr;
    const Complexes* z = transform(*c.along, Values{x}, spare, x, c.columns, line);
    if (line)
        return;
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
    const std::int64_t length = g.across->length(), kept = length / 2;
    for (std::int64_t i = 0; i < g.rows; ++i) {
        x[i] = {g.out[block * g.rows + i], Lanes{}};
        if (i && 2 * i != length)
            x[length - i] = x[i];
    }
    const Complexes* z = transform(*g.across, Values{x}, spare, x, length);
    Lanes factor;
    for (int l = 0; l < side; ++l)
        factor[l] = along_factor[block * side + l];
    for (std::int64_t i = 0; i <= kept / 2; ++i)
        multiplier[block * (kept / 2 + 1) + i] = z[i].re * factor * across_factor[i];
}
