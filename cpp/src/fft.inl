// Stockham's transform for one instruction set; LOWDIM_TARGET is its attribute. Results come in natural
// order. A stage reads and writes all values once, so that what comes before the first one and after the last
// is done on the way.

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

// The same where the second half of the inputs is zero.
template <int radix> LOWDIM_TARGET LOWDIM_INLINE void butterfly_of_half(const Part* in, Part* out) {
    if constexpr (radix == 2) {
        out[0] = out[1] = in[0];
    } else {
        static_assert(radix == 4);
        add(in[0], in[1], out[0]);
        subtract(in[0], in[1], out[2]);
        out[1] = {in[0].re + in[1].im, in[0].im - in[1].re};
        out[3] = {in[0].re - in[1].im, in[0].im + in[1].re};
    }
}

// What the first stage reads: values as they are,
struct Values {
    static constexpr bool padded = false;
    const Complexes* from;
    LOWDIM_TARGET LOWDIM_INLINE Part at(std::int64_t i, int part) const {
        return {part_of(from[i].re, part), part_of(from[i].im, part)};
    }
};

// the first `count` of them, at most half of the length, and then zeros,
struct Padded {
    static constexpr bool padded = true;
    const Complexes* from;
    std::int64_t count;
    LOWDIM_TARGET LOWDIM_INLINE Part at(std::int64_t i, int part) const {
        return i < count ? Values{from}.at(i, part) : Part{};
    }
};

// the same where they may be more than half,
struct Begun {
    static constexpr bool padded = false;
    const Complexes* from;
    std::int64_t count;
    LOWDIM_TARGET LOWDIM_INLINE Part at(std::int64_t i, int part) const {
        return Padded{from, count}.at(i, part);
    }
};

// their products with complex numbers,
struct Turned {
    static constexpr bool padded = false;
    const Complexes *from, *by;
    LOWDIM_TARGET LOWDIM_INLINE Part at(std::int64_t i, int part) const {
        const Part v = Values{from}.at(i, part), turn = Values{by}.at(i, part);
        return {v.re * turn.re - v.im * turn.im, v.re * turn.im + v.im * turn.re};
    }
};

// or those with an even sequence of this period, real and imaginary parts swapped: a transform of swapped
// values is the inverse transform, swapped.
struct Multiplied {
    static constexpr bool padded = false;
    const Complexes* from;
    const Lanes* by;
    std::int64_t length;
    LOWDIM_TARGET LOWDIM_INLINE Part at(std::int64_t i, int part) const {
        const Native factor = part_of(by[std::min(i, length - i)], part);
        return {part_of(from[i].im, part) * factor, part_of(from[i].re, part) * factor};
    }
};

template <int radix, class Source>
LOWDIM_TARGET void stage(const Source& source, Complexes* to, std::int64_t n, std::int64_t stride,
                         const Plan& plan) {
    constexpr int inputs = Source::padded ? radix / 2 : radix;
    const std::int64_t m = n / radix;
    for (std::int64_t p = 0; p < m; ++p) {
        float cosine[radix], sine[radix];
        for (int j = 1; j < radix; ++j) {
            cosine[j] = plan.cosines[static_cast<std::size_t>(p * j * stride)];
            sine[j] = plan.sines[static_cast<std::size_t>(p * j * stride)];
        }
        for (std::int64_t q = 0; q < stride; ++q)
            for (int part = 0; part < natives; ++part) {
                Part in[inputs], out[radix];
                for (int j = 0; j < inputs; ++j)
                    in[j] = source.at(q + stride * (p + m * j), part);
                if constexpr (Source::padded)
                    butterfly_of_half<radix>(in, out);
                else
                    butterfly<radix>(in, out);
                for (int j = 0; j < radix; ++j) {
                    Complexes& y = to[q + stride * (radix * p + j)];
                    part_of(y.re, part) = j ? out[j].re * cosine[j] - out[j].im * sine[j] : out[j].re;
                    part_of(y.im, part) = j ? out[j].re * sine[j] + out[j].im * cosine[j] : out[j].im;
                }
            }
    }
}

// The last stage, which turns nothing, of the first `kept` values.
template <int radix>
LOWDIM_TARGET void last_stage(const Complexes* from, Complexes* to, std::int64_t stride, std::int64_t kept) {
    for (std::int64_t q = 0; q < stride; ++q)
        for (int part = 0; part < natives; ++part) {
            Part in[radix], out[radix];
            for (int j = 0; j < radix; ++j)
                in[j] = Values{from}.at(q + stride * j, part);
            butterfly<radix>(in, out);
            for (int j = 0; j < radix && q + stride * j < kept; ++j) {
                Complexes& y = to[q + stride * j];
                part_of(y.re, part) = out[j].re;
                part_of(y.im, part) = out[j].im;
            }
        }
}

// Transforms a source by way of two buffers and returns which of them holds the result. The first stage
// writes to `x`, which the source must not read, the last only the first `kept` values, to `to` unless null.
template <class Source>
LOWDIM_TARGET Complexes* transform(const Plan& plan, const Source& source, Complexes* x, Complexes* spare,
                                   std::int64_t kept, Complexes* to = nullptr) {
    const auto radix_of = [&](std::size_t s) { return plan.radices[s]; }; // the first is even, see Plan
    std::int64_t n = plan.length() / radix_of(0), stride = radix_of(0);
    if (stride == 4)
        stage<4>(source, x, plan.length(), 1, plan);
    else
        stage<2>(source, x, plan.length(), 1, plan);
    for (std::size_t s = 1; s < plan.radices.size(); ++s) {
        const int radix = radix_of(s);
        const bool last = n == radix;
        Complexes* out = last && to ? to : spare;
        const auto run = [&](auto of) LOWDIM_TARGET {
            if (last)
                last_stage<of>(x, out, stride, kept);
            else
                stage<of>(Values{x}, out, n, stride, plan);
        };
        switch (radix) {
        case 4:
            run(std::integral_constant<int, 4>());
            break;
        case 2:
            run(std::integral_constant<int, 2>());
            break;
        case 3:
            run(std::integral_constant<int, 3>());
            break;
        default:
            run(std::integral_constant<int, 5>());
        }
        spare = x;
        x = out;
        n /= radix;
        stride *= radix;
    }
    return x;
}

// The first `count` values and then zeros, whole.
LOWDIM_TARGET static Complexes* transform_begun(const Plan& plan, const Complexes* from, std::int64_t count,
                                                Complexes* x, Complexes* spare) {
    return 2 * count <= plan.length() ? transform(plan, Padded{from, count}, x, spare, plan.length())
                                      : transform(plan, Begun{from, count}, x, spare, plan.length());
}

typedef float Loose __attribute__((vector_size(LOWDIM_BYTES), aligned(4), may_alias));

// a₀ b₀ a₁ b₁ …, of the first halves or the second ones.
template <bool second>
LOWDIM_TARGET LOWDIM_INLINE void interleave(const Native& a, const Native& b, Native& out) {
#if LOWDIM_BYTES == 64
    out = second ? __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
                 : __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#elif LOWDIM_BYTES == 32
    out = second ? __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
                 : __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
#else
    out = second ? __builtin_shufflevector(a, b, 2, 6, 3, 7) : __builtin_shufflevector(a, b, 0, 4, 1, 5);
#endif
}

// Transposes 16 × 16 values between rows of these strides: reads the first `given` rows, takes the others as
// zeros, and writes the first `wanted` ones.
LOWDIM_TARGET static void transpose(const float* from, std::int64_t from_stride, std::int64_t given,
                                    float* to, std::int64_t to_stride, std::int64_t wanted) {
    constexpr int wide = side / natives;
    for (int down = 0; down < side; down += wide)
        for (int right = 0; right < side && right < wanted; right += wide) {
            Native v[wide];
            for (int r = 0; r < wide; ++r)
                v[r] = down + r < given
                           ? Native(*reinterpret_cast<const Loose*>(from + (down + r) * from_stride + right))
                           : Native{};
            for (int step = 1; step < wide; step *= 2) {
                Native w[wide];
                for (int r = 0; r < wide / 2; ++r) {
                    interleave<false>(v[r], v[r + wide / 2], w[2 * r]);
                    interleave<true>(v[r], v[r + wide / 2], w[2 * r + 1]);
                }
                for (int r = 0; r < wide; ++r)
                    v[r] = w[r];
            }
            for (int r = 0; r < wide && right + r < wanted; ++r)
                *reinterpret_cast<Loose*>(to + (right + r) * to_stride + down) = v[r];
        }
}
