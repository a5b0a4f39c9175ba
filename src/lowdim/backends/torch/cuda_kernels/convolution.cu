// Convolution of the counts on a grid with a falloff by Fourier transforms in three kernels, in place of
// those of torch in convolution.py. SIZE, a power of 2 from 128 to 4096, is the side of the grid with the half
// that is zero; counts and the field fill its first quarter. Two real rows are transformed as one of complex
// numbers, PAIRS such at a time: with 2, parts of columns are written in whole sectors of 32 bytes.
// Transforms are Stockham's with radix 4: thread t of a quarter of SIZE holds the elements t + j SIZE/4, j =
// 0 to 3, before and after each.
constexpr int HALF = SIZE / 2, QUARTER = SIZE / 4;
constexpr int ROOM = SIZE + 5 * (SIZE / 16);

// Position in shared memory such that the passes have few bank conflicts.
__device__ int at(int i) { return i + 5 * (i >> 4); }

__device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ float2 operator*(float2 a, float2 b) {
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// sum_m v_m exp(-2 pi i k m / SIZE), with INVERSE + instead of -; roots are exp(-2 pi i m / SIZE). x (ROOM)
// is free before and after.
template <bool INVERSE> __device__ void transform(float2 (&v)[4], float2* x, const float2* roots, int t) {
    auto turned = [](float2 a) { return INVERSE ? make_float2(-a.y, a.x) : make_float2(a.y, -a.x); };
#pragma unroll
    for (int n = SIZE, s = 1; n > 2; n /= 4, s *= 4) {
        const float2 ac = v[0] + v[2], a_c = v[0] - v[2], bd = v[1] + v[3], b_d = turned(v[1] - v[3]);
        if (n == 4) {
            v[0] = ac + bd, v[1] = a_c + b_d, v[2] = ac - bd, v[3] = a_c - b_d;
            return;
        }
        const int p = t / s, to = t + 3 * s * p; // t = q + s p goes to q + s (4p + j)
        float2 w = __ldg(roots + s * p);
        if (INVERSE)
            w.y = -w.y;
        const float2 ww = w * w;
        x[at(to)] = ac + bd;
        x[at(to + s)] = w * (a_c + b_d);
        x[at(to + 2 * s)] = ww * (ac - bd);
        x[at(to + 3 * s)] = w * ww * (a_c - b_d);
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 4; ++j)
            v[j] = x[at(t + j * QUARTER)];
        __syncthreads();
    }
    const float2 a = v[0], b = v[1]; // n = 2
    v[0] = a + v[2], v[1] = b + v[3], v[2] = a - v[2], v[3] = b - v[3];
}

// Spectra (HALF + 1, HALF) along the rows of counts (HALF, HALF), transposed; the counts become 0.
extern "C" __global__ void __launch_bounds__(PAIRS * QUARTER)
    from_rows(long long* counts, float2* spectra, const float2* roots, float scale) {
    __shared__ float2 x[PAIRS][ROOM];
    const int t = threadIdx.x % QUARTER, pair = threadIdx.x / QUARTER;
    long long* row = counts + (size_t)2 * (blockIdx.x * PAIRS + pair) * HALF;
    float2 v[4] = {};
#pragma unroll
    for (int j = 0; j < 2; ++j) {
        const int c = t + j * QUARTER;
        v[j] = make_float2((float)row[c] * scale, (float)row[c + HALF] * scale);
        row[c] = row[c + HALF] = 0;
    }
    transform<false>(v, x[pair], roots, t);
#pragma unroll
    for (int j = 0; j < 4; ++j)
        x[pair][at(t + j * QUARTER)] = v[j];
    __syncthreads();
    for (int u = threadIdx.x; u < PAIRS * (HALF + 1); u += PAIRS * QUARTER) {
        const int k = u / PAIRS, of = u % PAIRS;
        const float2 z = x[of][at(k)], y = x[of][at((SIZE - k) % SIZE)];
        float4* out = (float4*)(spectra + (size_t)k * HALF + 2 * (blockIdx.x * PAIRS + of));
        *out = make_float4(.5f * (z.x + y.x), .5f * (z.y - y.y), .5f * (z.y + y.y), .5f * (y.x - z.x));
    }
}

// Spectra transformed along their rows, multiplied by those of the falloff (HALF + 1, SIZE), and back.
extern "C" __global__ void __launch_bounds__(QUARTER)
    along_columns(float2* spectra, const float* falloff, const float2* roots) {
    __shared__ float2 x[ROOM];
    const int t = threadIdx.x;
    float2* column = spectra + (size_t)blockIdx.x * HALF;
    float2 v[4] = {column[t], column[t + QUARTER]};
    float factor[4];
#pragma unroll
    for (int j = 0; j < 4; ++j)
        factor[j] = falloff[(size_t)blockIdx.x * SIZE + t + j * QUARTER];
    transform<false>(v, x, roots, t);
#pragma unroll
    for (int j = 0; j < 4; ++j)
        v[j] = make_float2(v[j].x * factor[j], v[j].y * factor[j]);
    transform<true>(v, x, roots, t);
    column[t] = v[0];
    column[t + QUARTER] = v[1];
}

// The field (HALF, HALF) of spectra.
extern "C" __global__ void __launch_bounds__(PAIRS * QUARTER)
    to_rows(const float2* spectra, float* field, const float2* roots) {
    __shared__ float2 x[PAIRS][ROOM];
    for (int u = threadIdx.x; u < PAIRS * (HALF + 1); u += PAIRS * QUARTER) {
        const int k = u / PAIRS, of = u % PAIRS;
        const float4 both = *(const float4*)(spectra + (size_t)k * HALF + 2 * (blockIdx.x * PAIRS + of));
        x[of][at(k)] = make_float2(both.x - both.w, both.y + both.z);
        if (k > 0 && k < HALF)
            x[of][at(SIZE - k)] = make_float2(both.x + both.w, both.z - both.y);
    }
    __syncthreads();
    const int t = threadIdx.x % QUARTER, pair = threadIdx.x / QUARTER;
    float2 v[4];
#pragma unroll
    for (int j = 0; j < 4; ++j)
        v[j] = x[pair][at(t + j * QUARTER)];
    __syncthreads();
    transform<true>(v, x[pair], roots, t);
    float* row = field + (size_t)2 * (blockIdx.x * PAIRS + pair) * HALF;
#pragma unroll
    for (int j = 0; j < 2; ++j) {
        row[t + j * QUARTER] = v[j].x;
        row[t + j * QUARTER + HALF] = v[j].y;
    }
}
