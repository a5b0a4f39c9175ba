// The scan of tiles for one instruction set; see each_isa.inl.

typedef float Vector __attribute__((vector_size(LOWDIM_BYTES), aligned(sizeof(float)), may_alias));
constexpr int lanes = LOWDIM_BYTES / sizeof(float), vectors = tile_width / lanes;
constexpr int rows = LOWDIM_BYTES == 64 ? 12 : LOWDIM_BYTES == 32 ? 6 : 3; // of a front, in registers

LOWDIM_TARGET inline Vector larger(Vector a, Vector b) {
#if LOWDIM_BYTES == 64
    return Vector(_mm512_maskz_max_ps(0xFFFF, __m512(a), __m512(b)));
#elif LOWDIM_BYTES == 32
    return Vector(_mm256_max_ps(__m256(a), __m256(b)));
#else
    return a > b ? a : b;
#endif
}

// Bits of the lanes of a that are at least those of b.
LOWDIM_TARGET inline unsigned at_least(Vector a, Vector b) {
#if LOWDIM_BYTES == 64
    return _mm512_cmp_ps_mask(__m512(a), __m512(b), _CMP_GE_OQ);
#elif LOWDIM_BYTES == 32
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(__m256(a), __m256(b), _CMP_GE_OQ)));
#else
    unsigned bits = 0;
    for (int l = 0; l < lanes; ++l)
        bits |= static_cast<unsigned>(a[l] >= b[l]) << l;
    return bits;
#endif
}

// Writes the scores and points of the lanes that hit; a whole tile may be written, of which the hits come
// first.
LOWDIM_TARGET inline int append(Vector row, unsigned hits, std::int32_t point, float* scores,
                                std::int32_t* points) {
#if LOWDIM_BYTES == 64
    const auto mask = static_cast<__mmask16>(hits);
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    _mm512_storeu_ps(scores, _mm512_maskz_compress_ps(mask, __m512(row)));
    _mm512_storeu_si512(points,
                        _mm512_maskz_compress_epi32(mask, _mm512_add_epi32(lane, _mm512_set1_epi32(point))));
    return __builtin_popcount(hits);
#else
    int count = 0;
    for (; hits != 0; hits &= hits - 1, ++count) {
        const int lane = __builtin_ctz(hits);
        scores[count] = row[lane];
        points[count] = point + lane;
    }
    return count;
#endif
}

// sums[r][v] += Σ a_r b over dimensions [from, to) of a front and the values of a tile.
#define LOWDIM_MULTIPLY(sums, a, b, steps)                                                                   \
    for (std::int64_t step_ = 0; step_ < (steps); ++step_) {                                                 \
        LOWDIM_UNROLL                                                                                        \
        for (int r = 0; r < rows; ++r)                                                                       \
            LOWDIM_UNROLL                                                                                    \
        for (int v = 0; v < vectors; ++v)                                                                    \
            sums[r][v] += (a)[r] * *reinterpret_cast<const Vector*>((b) + v * lanes);                        \
        (a) += rows;                                                                                         \
        (b) += tile_width;                                                                                   \
    }

LOWDIM_TARGET std::int64_t scan(const Tiles<float>& tiles, const Front<float>& front, const Range& range) {
    std::int32_t point = range.point;
    for (std::int64_t t = range.first; t < range.last; ++t, point += tile_width) {
        if (tiles.highest[t] < range.inner || tiles.lowest[t] > range.outer)
            continue;
        Vector sums[rows][vectors] = {};
        const float* a = front.values;
        bool near = true;
        for (int s = 0; s < tiles.n_stages; ++s) {
            const float* halves = tiles.halves[s] + t * tile_width;
            const std::int64_t steps = tiles.steps[s];
            const float* b = tiles.values[s] + t * steps * tile_width;
            LOWDIM_UNROLL
            for (int v = 0; v < vectors; ++v) {
                const Vector half = *reinterpret_cast<const Vector*>(halves + v * lanes);
                LOWDIM_UNROLL
                for (int r = 0; r < rows; ++r)
                    sums[r][v] += half;
            }
            LOWDIM_MULTIPLY(sums, a, b, steps)
            const float* reject = front.reject[s];
            Vector best = sums[0][0] - reject[0];
            LOWDIM_UNROLL
            for (int r = 0; r < rows; ++r)
                LOWDIM_UNROLL
            for (int v = 0; v < vectors; ++v)
                best = larger(best, sums[r][v] - reject[r]);
            if (!at_least(best, Vector{})) {
                near = false;
                break;
            }
        }
        if (!near)
            continue;
        bool full = false;
        const float* reject = front.reject[tiles.n_stages - 1];
        LOWDIM_UNROLL
        for (int r = 0; r < rows; ++r) {
            std::int32_t& count = front.counts[r];
            LOWDIM_UNROLL
            for (int v = 0; v < vectors; ++v)
                if (const unsigned hits = at_least(sums[r][v] - reject[r], Vector{}))
                    count +=
                        append(sums[r][v], hits, point + v * lanes, front.scores + r * front.capacity + count,
                               front.points + r * front.capacity + count);
            full |= count > front.capacity - tile_width;
        }
        if (full)
            return t + 1;
    }
    return range.last;
}

LOWDIM_TARGET void score(const Tiles<float>& tiles, const float* front, std::int64_t t, float* scores) {
    Vector sums[rows][vectors] = {};
    const float* a = front;
    for (int s = 0; s < tiles.n_stages; ++s) {
        const std::int64_t steps = tiles.steps[s];
        const float* b = tiles.values[s] + t * steps * tile_width;
        LOWDIM_UNROLL
        for (int v = 0; v < vectors; ++v)
            LOWDIM_UNROLL
        for (int r = 0; r < rows; ++r)
            sums[r][v] += *reinterpret_cast<const Vector*>(tiles.halves[s] + t * tile_width + v * lanes);
        LOWDIM_MULTIPLY(sums, a, b, steps)
    }
    std::memcpy(scores, sums, sizeof sums);
}

LOWDIM_TARGET bool reaches(const Lie& lie, Range& range) {
    // A point x of the group is no nearer to our centre a than to its own b: ‖q − x‖ ≥ (‖q − b‖² − ‖q − a‖²)
    // / 2‖a − b‖.
    bool beyond = true;
    for (int r = 0; r < lie.rows; ++r)
        beyond &= lie.there[r] - lie.here[r] - lie.unsure > lie.apart * lie.reach[r];
    if (beyond)
        return false;
    float inner = std::numeric_limits<float>::max(), outer = 0;
    for (int r = 0; r < lie.rows; ++r) {
        const float low = lie.there[r] - lie.slack;
        inner = std::min(inner, std::sqrt(low < 0 ? 0.0f : low) - lie.reach[r]);
        outer = std::max(outer, std::sqrt(lie.there[r] + lie.slack) + lie.reach[r]);
    }
    range.inner = inner - 1e-5f * std::abs(inner);
    range.outer = outer * (1 + 1e-5f);
    return true;
}

LOWDIM_TARGET std::int64_t count_at_least(const float* scores, std::int64_t count, float least) {
    std::int64_t out = 0, j = 0;
    for (; j + lanes <= count; j += lanes)
        out += __builtin_popcount(at_least(*reinterpret_cast<const Vector*>(scores + j) - least, Vector{}));
    for (; j < count; ++j)
        out += scores[j] - least >= 0;
    return out;
}

LOWDIM_TARGET std::int64_t keep_at_least(float* scores, std::int32_t* points, std::int64_t count,
                                         float least) {
    std::int64_t out = 0, j = 0;
#if LOWDIM_BYTES == 64
    for (; j + lanes <= count; j += lanes) { // what is written was read before
        const __m512 some = _mm512_loadu_ps(scores + j);
        const __m512i theirs = _mm512_loadu_si512(points + j);
        const auto mask = static_cast<__mmask16>(at_least(Vector(some) - least, Vector{}));
        _mm512_storeu_ps(scores + out, _mm512_maskz_compress_ps(mask, some));
        _mm512_storeu_si512(points + out, _mm512_maskz_compress_epi32(mask, theirs));
        out += __builtin_popcount(mask);
    }
#endif
    for (; j < count; ++j) {
        const float score = scores[j];
        scores[out] = score;
        points[out] = points[j];
        out += score - least >= 0;
    }
    return out;
}

// Lowest and highest of one score or more.
LOWDIM_TARGET void range_of(const float* scores, std::int64_t count, float& low, float& high) {
    low = high = scores[0];
    std::int64_t j = 0;
    if (count >= lanes) {
        Vector lowest = *reinterpret_cast<const Vector*>(scores), highest = lowest;
        for (j = lanes; j + lanes <= count; j += lanes) {
            const Vector some = *reinterpret_cast<const Vector*>(scores + j);
            lowest = -larger(-lowest, -some);
            highest = larger(highest, some);
        }
        for (int lane = 0; lane < lanes; ++lane) {
            low = std::min(low, lowest[lane]);
            high = std::max(high, highest[lane]);
        }
    }
    for (; j < count; ++j) {
        low = std::min(low, scores[j]);
        high = std::max(high, scores[j]);
    }
}

// Σ (x − y)² in double, in an order that depends on the length alone.
template <class T> LOWDIM_TARGET double squared(const T* x, const T* y, std::int64_t d) {
    constexpr int wide = 8;
    typedef T Few __attribute__((vector_size(wide * sizeof(T)), aligned(sizeof(T)), may_alias));
    typedef double Doubles __attribute__((vector_size(wide * sizeof(double))));
    Doubles sums = {};
    std::int64_t i = 0;
    for (; i + wide <= d; i += wide) {
        const Doubles step = __builtin_convertvector(*reinterpret_cast<const Few*>(x + i), Doubles) -
                             __builtin_convertvector(*reinterpret_cast<const Few*>(y + i), Doubles);
        sums += step * step;
    }
    double total = ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
    for (; i < d; ++i) {
        const double step = static_cast<double>(x[i]) - static_cast<double>(y[i]);
        total += step * step;
    }
    return total;
}

constexpr Scanner scanner{rows,     scan,           nullptr,       score,          reaches,
                          range_of, count_at_least, keep_at_least, squared<float>, squared<double>};

#undef LOWDIM_MULTIPLY
