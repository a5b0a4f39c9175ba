// Values of a row as floats for one instruction set; see each_isa.inl.

// Half precision has no subnormals left in single precision: the product with 2¹¹² puts the exponent right.
LOWDIM_TARGET void widen(const std::uint16_t* __restrict in, std::int64_t d, float* __restrict out) {
    for (std::int64_t j = 0; j < d; ++j) {
        const std::uint32_t bits = static_cast<std::uint32_t>(in[j] & 0x7FFF) << 13;
        const float size = std::bit_cast<float>(bits) * 0x1p112f;
        out[j] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(size) |
                                      static_cast<std::uint32_t>(in[j] & 0x8000) << 16);
    }
}

LOWDIM_TARGET void widen(const std::uint8_t* __restrict in, std::int64_t d, float* __restrict out) {
    for (std::int64_t j = 0; j < d; ++j)
        out[j] = static_cast<float>(in[j]);
}

template <class T> LOWDIM_TARGET void shift(T* x, std::int64_t d, double mean) {
    for (std::int64_t j = 0; j < d; ++j)
        x[j] = static_cast<T>(static_cast<double>(x[j]) - mean);
}

template <class T> LOWDIM_TARGET void divide(T* x, std::int64_t d, T norm) {
    for (std::int64_t j = 0; j < d; ++j)
        x[j] /= norm;
}
