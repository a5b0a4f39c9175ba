// Stockham's transform for one instruction set; LOWDIM_TARGET is its attribute. Results come in natural
// order.

using Native = Register<float, LOWDIM_BYTES>::Vector;
using Stored = Register<float, LOWDIM_BYTES>::Stored;
constexpr int natives = Register<float, LOWDIM_BYTES>::parts;

struct Part {
    Native re, im;
};

// The lanes of one register.
LOWDIM_TARGET LOWDIM_INLINE const Stored& part_of(const Lanes& v, int part) {
    return reinterpret_cast<const Stored*>(&v)[part];
}

LOWDIM_TARGET LOWDIM_INLINE Stored& part_of(Lanes& v, int part) {
    return reinterpret_cast<Stored*>(&v)[part];
}

LOWDIM_TARGET LOWDIM_INLINE void add(const Part& a, const Part& b, Part& out) {
    out.re = a.re + b.re;
    out.im = a.im + b.im;
}

LOWDIM_TARGET LOWDIM_INLINE void subtract(const Part& a, const Part& b, Part& out) {
    out.re = a.re - b.re;
    out.im = a.im - b.im;
}

// out_j = Σ_i in_i exp(−2πi ij/radix).
template <int radix> LOWDIM_TARGET LOWDIM_INLINE void butterfly(const Part* in, Part* out) {
    if constexpr (radix == 2) {
        add(in[0], in[1], out[0]);
        subtract(in[0], in[1], out[1]);
    } else if constexpr (radix == 4) {
        Part even, odd, apart, across;
        add(in[0], in[2], even);
        subtract(in[0], in[2], apart);
        add(in[1], in[3], odd);
        subtract(in[1], in[3], across);
        add(even, odd, out[0]);
        subtract(even, odd, out[2]);
        out[1].re = apart.re + across.im;
        out[1].im = apart.im - across.re;
        out[3].re = apart.re - across.im;
        out[3].im = apart.im + across.re;
    } else {
        constexpr int half = radix / 2;
        constexpr float cosines[] = {1.0f, radix == 3 ? -0.5f : 0.30901699437494742f, -0.80901699437494742f};
        constexpr float sines[] = {0.0f, radix == 3 ? 0.86602540378443865f : 0.95105651629515357f,
                                   0.58778525229247313f};
        Part sums[half + 1], differences[half + 1];
        out[0] = in[0];
        for (int i = 1; i <= half; ++i) {
            add(in[i], in[radix - i], sums[i]);
            subtract(in[i], in[radix - i], differences[i]);
            add(out[0], sums[i], out[0]);
        }
        for (int j = 1; j <= half; ++j) {
            Part even = in[0], odd{};
            for (int i = 1; i <= half; ++i) {
                const int turn = i * j % radix, near = turn <= half ? turn : radix - turn;
                const float cosine = cosines[near], sine = turn <= half ? sines[near] : -sines[near];
                even.re += sums[i].re * cosine;
                even.im += sums[i].im * cosine;
                odd.re += differences[i].im * sine;
                odd.im -= differences[i].re * sine;
            }
            add(even, odd, out[j]);
            subtract(even, odd, out[radix - j]);
        }
    }
}

template <int radix>
LOWDIM_TARGET void stage(const Complexes* from, Complexes* to, std::int64_t n, std::int64_t stride,
                         const Plan& plan) {
    const std::int64_t m = n / radix;
    for (std::int64_t p = 0; p < m; ++p) {
        float cosine[radix], sine[radix];
        for (int j = 1; j < radix; ++j) {
            cosine[j] = plan.cosines[static_cast<std::size_t>(p * j * stride)];
            sine[j] = plan.sines[static_cast<std::size_t>(p * j * stride)];
        }
        for (std::int64_t q = 0; q < stride; ++q)
            for (int part = 0; part < natives; ++part) {
                Part in[radix], out[radix];
                for (int j = 0; j < radix; ++j) {
                    const Complexes& x = from[q + stride * (p + m * j)];
                    in[j] = {part_of(x.re, part), part_of(x.im, part)};
                }
                butterfly<radix>(in, out);
                for (int j = 0; j < radix; ++j) {
                    Complexes& y = to[q + stride * (radix * p + j)];
                    part_of(y.re, part) = j ? out[j].re * cosine[j] - out[j].im * sine[j] : out[j].re;
                    part_of(y.im, part) = j ? out[j].re * sine[j] + out[j].im * cosine[j] : out[j].im;
                }
            }
    }
}

// Transforms `x`, with `spare` of the same length at hand; returns which of the two holds the result.
LOWDIM_TARGET static Complexes* transform(const Plan& plan, Complexes* x, Complexes* spare) {
    std::int64_t n = plan.length(), stride = 1;
    for (int radix : plan.radices) {
        switch (radix) {
        case 4:
            stage<4>(x, spare, n, stride, plan);
            break;
        case 2:
            stage<2>(x, spare, n, stride, plan);
            break;
        case 3:
            stage<3>(x, spare, n, stride, plan);
            break;
        default:
            stage<5>(x, spare, n, stride, plan);
        }
        std::swap(x, spare);
        n /= radix;
        stride *= radix;
    }
    return x;
}
