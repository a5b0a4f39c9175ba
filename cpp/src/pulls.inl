// Attraction of a new point for one instruction set; see each_isa.inl.

using R = Register<float, LOWDIM_BYTES>;
using Vector = R::Vector;

LOWDIM_TARGET LOWDIM_INLINE float total(const Vector& v) {
    typedef float Quarter __attribute__((vector_size(16)));
#if LOWDIM_BYTES == 64
    typedef float Half __attribute__((vector_size(32)));
    const Half h = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                   __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
    const Quarter q = __builtin_shufflevector(h, h, 0, 1, 2, 3) + __builtin_shufflevector(h, h, 4, 5, 6, 7);
#elif LOWDIM_BYTES == 32
    const Quarter q = __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
#else
    const Quarter q = v;
#endif
    return (q[0] + q[2]) + (q[1] + q[3]);
}

// c(s), c′(s) and c″(s).
template <PullLaw::Kind kind>
LOWDIM_TARGET LOWDIM_INLINE void cost_at(const PullLaw& law, const Vector& s, Vector& c, Vector& first,
                                         Vector& second) {
    if constexpr (kind == PullLaw::Kind::square) {
        c = s;
        first = Vector{} + 1.0f;
        second = Vector{};
    } else if constexpr (kind == PullLaw::Kind::logarithm) {
        const Vector inverse = 1.0f / (s + law.shift);
        log2_of(Vector((s + law.shift) * (1 / law.shift)), c);
        c *= law.factor * 0.69314718f;
        first = law.factor * inverse;
        second = -first * inverse;
    } else if constexpr (kind == PullLaw::Kind::membership) {
        const Vector t = s + law.shift, inverse = 1.0f / t;
        Vector log, u;
        log2_of(t, log);
        exp2_of(Vector(log * law.power + law.factor), u);
        log2_of(Vector(u + 1.0f), c);
        c *= 0.69314718f;
        const Vector share = u / (u + 1.0f);
        first = law.power * share * inverse;
        second = first * (law.power * (1.0f - share) - 1.0f) * inverse;
    } else {
        const Vector inverse = 1.0f / (s + law.shift);
        c = 1.0f - law.factor * inverse;
        first = law.factor * inverse * inverse;
        second = -2.0f * first * inverse;
    }
}

template <PullLaw::Kind kind>
LOWDIM_TARGET static void sums_of(const PullLaw& law, const Pullers& by, const float* at, SecondOrder& out) {
    Vector cost = {}, right = {}, up = {}, stiff = {}, xx = {}, xy = {}, yy = {};
    for (std::int64_t j = 0; j < by.size; j += R::lanes) {
        const Vector p = *reinterpret_cast<const R::Stored*>(by.weights + j);
        const Vector dx = at[0] - *reinterpret_cast<const R::Stored*>(by.x + j);
        const Vector dy = at[1] - *reinterpret_cast<const R::Stored*>(by.y + j);
        Vector c, first, second;
        cost_at<kind>(law, Vector(dx * dx + dy * dy), c, first, second);
        cost += p * c;
        first *= p;
        second *= p;
        stiff += first;
        right += first * dx;
        up += first * dy;
        const Vector bent = second * dx;
        xx += bent * dx;
        xy += bent * dy;
        yy += second * dy * dy;
    }
    const float even = 2 * total(stiff);
    out = {total(cost),          2 * total(right), 2 * total(up),
           even + 4 * total(xx), 4 * total(xy),    even + 4 * total(yy)};
}

LOWDIM_TARGET static float middle_of(const float* values, const float* weights, std::int64_t size, float low,
                                     float high) {
    Vector all = {};
    for (std::int64_t j = 0; j < size; j += R::lanes)
        all += *reinterpret_cast<const R::Stored*>(weights + j);
    const float half = 0.5f * total(all);
    for (int step = 0; step < 10; ++step) {
        const float middle = 0.5f * (low + high);
        Vector below = {};
        for (std::int64_t j = 0; j < size; j += R::lanes) {
            const Vector v = *reinterpret_cast<const R::Stored*>(values + j);
            below += v <= middle ? Vector(*reinterpret_cast<const R::Stored*>(weights + j)) : Vector{};
        }
        (total(below) < half ? low : high) = middle;
    }
    return high;
}
