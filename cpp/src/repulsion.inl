// Exact sums for one instruction set; see each_isa.inl.

// Adds to `forces` (k) and returns what the points `from` to `to` of the planes Y (k, stride) add to phi. The
// sums of a tile are short, so that float32 is accurate enough.
template <class T, class F, int fixed>
LOWDIM_TARGET double one_row(const F& f, const T* q, const T* planes, std::int64_t stride, std::int64_t from,
                             std::int64_t to, int k, double* forces) {
    using V = typename detail::Wide<T>::Vector;
    constexpr int lanes = detail::Wide<T>::lanes, most = fixed ? fixed : 64;
    const int dimensions = fixed ? fixed : k;
    V sums[most] = {}, total = {};
    for (std::int64_t j = from; j < to; j += lanes) {
        V s = {}, step[most];
        for (int d = 0; d < dimensions; ++d) {
            step[d] = q[d] - *reinterpret_cast<const V*>(planes + d * stride + j);
            s += step[d] * step[d];
        }
        V value, pull;
        f.at(s, value, pull);
        total += value;
        value *= pull;
        for (int d = 0; d < dimensions; ++d)
            sums[d] += value * step[d];
    }
    double phi = 0;
    for (int lane = 0; lane < lanes; ++lane)
        phi += total[lane];
    for (int d = 0; d < dimensions; ++d) {
        double sum = 0;
        for (int lane = 0; lane < lanes; ++lane)
            sum += sums[d][lane];
        forces[d] += sum;
    }
    return phi;
}
