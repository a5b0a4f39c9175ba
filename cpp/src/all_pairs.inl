// Distances that are known, for one instruction set; see each_isa.inl.
#include "geodesics.inl"

// to[j][i] = √(from[min(i, rows − 1)][j]) for squares of lanes × lanes.
LOWDIM_TARGET void mirror(const float* from, std::int64_t rows, float* to) {
    constexpr int some = 16;
    for (std::int64_t i = 0; i < lanes; i += some) {
        alignas(64) float roots[some][lanes];
        for (int r = 0; r < some; ++r) {
            const float* row = from + std::min(i + r, rows - 1) * lanes;
            for (int j = 0; j < lanes; ++j)
                roots[r][j] = std::sqrt(row[j]);
        }
        for (int j = 0; j < lanes; ++j)
            for (int r = 0; r < some; ++r)
                to[j * lanes + i + r] = roots[r][j];
    }
}

LOWDIM_TARGET void square(const float* from, std::int64_t count, float* to) {
    for (std::int64_t i = 0; i < count; ++i)
        to[i] = from[i] * from[i];
}
