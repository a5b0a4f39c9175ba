// The largest bits of some values, without their sign, for one instruction set; see each_isa.inl.

template <class T> LOWDIM_TARGET typename Bits<T>::Whole largest_bits(const T* x, std::int64_t n) {
    using Whole = typename Bits<T>::Whole;
    constexpr Whole magnitude = std::numeric_limits<Whole>::max();
    constexpr int lanes = 64 / sizeof(T);
    Whole most[lanes] = {};
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes)
        for (int l = 0; l < lanes; ++l) {
            Whole bits;
            std::memcpy(&bits, x + i + l, sizeof bits);
            most[l] = std::max(most[l], bits & magnitude);
        }
    for (; i < n; ++i) {
        Whole bits;
        std::memcpy(&bits, x + i, sizeof bits);
        most[0] = std::max(most[0], bits & magnitude);
    }
    return *std::max_element(most, most + lanes);
}
