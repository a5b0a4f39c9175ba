// Attraction sum_j p_ij (y_i - y_j) / (1 + |y_i - y_j|^2) in the plane from packed rows of 32 bits, as by
// kernels/attraction.py for t-SNE of one degree of freedom. LANES threads share a row.
extern "C" __global__ void __launch_bounds__(256)
    attraction(const float2* __restrict__ Y, const int* __restrict__ starts, const unsigned* __restrict__ packed,
               float2* out, int n, float scale) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    const bool inside = row < n;
    const int first = inside ? starts[row] : 0, last = inside ? starts[row + 1] : 0;
    const float2 y = inside ? Y[row] : make_float2(0.f, 0.f);
    float fx = 0.f, fy = 0.f;
#pragma unroll 4
    for (int at = first + lane; at < last; at += LANES) {
        const unsigned entry = packed[at];
        const float2 other = __ldg(Y + (entry >> 15));
        float p;
        asm("cvt.f32.f16 %0, %1;" : "=f"(p) : "h"((unsigned short)(entry & 0x7FFF)));
        const float dx = y.x - other.x, dy = y.y - other.y;
        const float weight = __fdividef(p, 1.f + dx * dx + dy * dy);
        fx += weight * dx;
        fy += weight * dy;
    }
    for (int apart = LANES / 2; apart; apart >>= 1) {
        fx += __shfl_xor_sync(~0u, fx, apart);
        fy += __shfl_xor_sync(~0u, fy, apart);
    }
    if (inside && lane == 0)
        out[row] = make_float2(fx * scale, fy * scale);
}
