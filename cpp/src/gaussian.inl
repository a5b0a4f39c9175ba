// Exponentials of squared distances for one instruction set; see each_isa.inl.

// row_j = exp(−gamma max(0, a + b_j − 2 row_j)). The argument is split into n ln 2 + f with |f| ≤ ln 2 / 2;
// adding `Exp::magic` rounds to the nearest n and leaves it in the low bits, from where a shift makes it the
// exponent.
template <class T>
LOWDIM_TARGET void gaussian_row(T* __restrict row, T a, const T* __restrict b, T gamma, std::int64_t n) {
    using E = Exp<T>;
    using Bits = typename E::Bits;
    for (std::int64_t j = 0; j < n; ++j) {
        T d = (a + b[j]) - 2 * row[j];
        d = d < 0 ? T(0) : d;
        T x = -gamma * d;
        x = x < E::lowest ? E::lowest : x;
        const T shifted = x * E::log2e + E::magic;
        const T whole = shifted - E::magic;
        T f = x - whole * E::ln2_high;
        f = f - whole * E::ln2_low;
        T p = E::c[0];
        for (int i = 1; i < E::terms; ++i)
            p = p * f + E::c[i];
        p = (p * f) * f + f + 1; // the last steps keep the large terms apart
        Bits bits;
        std::memcpy(&bits, &shifted, sizeof bits);
        bits = (bits << E::mantissa) + E::one;
        T scale;
        std::memcpy(&scale, &bits, sizeof scale);
        row[j] = p * scale;
    }
}
