// Products of bytes by those of 16 bits for one instruction set; see each_isa.inl.

LOWDIM_TARGET void pack(const std::int8_t* const* rows, int count, std::int64_t d, std::uint8_t* out) {
    const std::int64_t length = (d + 3) / 4 * 4;
    std::memset(out, 0, static_cast<std::size_t>(length * wide));
    for (int p = 0; p < count; ++p)
        std::memcpy(out + p * length, rows[p], static_cast<std::size_t>(d));
}

LOWDIM_TARGET inline std::int32_t dot(const std::int8_t* a, const std::int8_t* b, std::int64_t length) {
    std::int32_t total = 0;
    std::int64_t j = 0;
#if LOWDIM_BYTES == 64
    __m512i sum = _mm512_setzero_si512();
    for (; j + 32 <= length; j += 32) {
        const __m512i x = _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + j))),
                      y = _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + j)));
        sum = _mm512_add_epi32(sum, _mm512_madd_epi16(x, y));
    }
    std::int32_t parts[16];
    _mm512_storeu_si512(parts, sum);
    for (const std::int32_t part : parts)
        total += part;
#elif LOWDIM_BYTES == 32
    __m256i sum = _mm256_setzero_si256();
    for (; j + 16 <= length; j += 16) {
        const __m256i x = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a + j))),
                      y = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b + j)));
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(x, y));
    }
    std::int32_t parts[8];
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(parts), sum);
    for (const std::int32_t part : parts)
        total += part;
#endif
    for (; j < length; ++j)
        total += static_cast<std::int32_t>(a[j]) * b[j];
    return total;
}

LOWDIM_TARGET void keys(const std::int8_t* const* rows, const ByteScale* scales, const float* limits,
                        const Panel& panel, std::int64_t steps, float* keys, std::uint64_t* within) {
    const auto* points = reinterpret_cast<const std::int8_t*>(panel.values.data());
    for (int r = 0; r < tall; ++r) {
        within[r] = 0;
        for (int p = 0; p < wide; ++p) {
            const float product = static_cast<float>(dot(rows[r], points + p * steps * 4, steps * 4));
            const float key = panel.halves[p] - product * panel.units[p] * scales[r].unit;
            keys[r * wide + p] = key;
            within[r] |= static_cast<std::uint64_t>(key <= limits[r]) << p;
        }
    }
}

LOWDIM_TARGET void prepare(const std::int8_t* row, std::int64_t d, std::int64_t stride, std::uint8_t* out) {
    std::memset(out, 0, static_cast<std::size_t>(stride)); // where the others have their scales
    std::memcpy(out, row, static_cast<std::size_t>(d));
}

LOWDIM_TARGET void dots(const std::uint8_t* row, const std::int8_t* rows, std::int64_t stride,
                        const std::int32_t* which, int count, std::int32_t* out) {
    constexpr int ahead = 4;
    for (int c = 0; c < count; ++c) {
        if (c + ahead < count)
            for (std::int64_t byte = 0; byte < stride; byte += 64)
                __builtin_prefetch(rows + which[c + ahead] * stride + byte);
        out[c] = dot(reinterpret_cast<const std::int8_t*>(row), rows + which[c] * stride, stride);
    }
}

constexpr ByteKernels kernels{pack, keys, prepare, dots};
