// Floats to whole numbers for one instruction set; see each_isa.inl.

template <class T>
LOWDIM_TARGET bool convert(const T* __restrict values, std::int64_t count, T divisor,
                           std::uint8_t* __restrict out) {
    int wrong = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        T near = values[i] * divisor + T{0.5};
        near = near > 0 ? near : 0; // NaN as well
        near = near < 255 ? near : 255;
        const int number = static_cast<int>(near);
        wrong |= static_cast<T>(number) / divisor != values[i];
        out[i] = static_cast<std::uint8_t>(number);
    }
    return wrong == 0;
}
