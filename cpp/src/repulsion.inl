// Exact sums for one instruction set; see each_isa.inl.

// Adds to `forces` (k) and returns what the points `from` to `to` of the planes Y (k, stride) add to phi. The
// sums of a tile are short, so that float32 is accurate enough.
template <class T, class F, int fixed>
LOWDIM_TARGET double one_row(const F& f, const T* q, const T* planes, std::int64_t stride, std::int64_t from,
                             std::int64_t to, int k, double* forces) {
    using R = detail::Register<T, LOWDIM_BYTES>;
    using V = typename R::Vector;
    constexpr int most = fixed ? fixed : 64;
    const int dimensions = fixed ? fixed : k;
    double phi = 0, all[most] = {};
    for (int part = 0; part < R::parts; ++part) {
        V sums[most] = {}, total = {};
        for (std::int64_t j = from + part * R::lanes; j < to; j += detail::Wide<T>::lanes) {
            V s = {}, step[most];
            for (int d = 0; d < dimensions; ++d) {
                step[d] = q[d] - *reinterpret_cast<const typename R::Stored*>(planes + d * stride + j);
                s += step[d] * step[d];
            }
            V value, pull;
            f.at(s, value, pull);
            total += value;
            value *= pull;
            for (int d = 0; d < dimensions; ++d)
                sums[d] += value * step[d];
        }
        for (int lane = 0; lane < R::lanes; ++lane) {
            phi += total[lane];
            for (int d = 0; d < dimensions; ++d)
                all[d] += sums[d][lane];
        }
    }
    for (int d = 0; d < dimensions; ++d)
        forces[d] += all[d];
    return phi;
}
