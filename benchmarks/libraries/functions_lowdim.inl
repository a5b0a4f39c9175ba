// lowdim's own functions over an array, for one instruction set; see each_isa.inl.
#include "gaussian.inl"

namespace attraction {
#include "attraction.inl"
}

namespace forces {
using namespace lowdim::detail;
#include "cross_entropy_forces.inl"

template <bool fast> LOWDIM_TARGET void powers(const float* in, float* out, std::int64_t n) {
    const Law law = law_of(Curve{1, bench::exponent}, 1);
    using Register = std::conditional_t<LOWDIM_BYTES == 64, Wide, Eight>;
    for (std::int64_t j = 0; j < n; j += static_cast<std::int64_t>(sizeof(Register) / sizeof(float))) {
        Register t;
        std::memcpy(&t, in + j, sizeof t);
        if constexpr (fast)
            t = near_power(t, law);
        else
            t = exp2_of(log2_of(t) * law.power + law.log_scale);
        std::memcpy(out + j, &t, sizeof t);
    }
}
} // namespace forces
