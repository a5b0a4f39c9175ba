// Rows x whose score |x|^2 - 2 q.x for a query q does not exceed its limit, in no order, as by
// kernels/neighbor_candidates.py for rows of WIDTH halves, WIDTH 32, 64 or 128.
//
// A block of 4 warps takes 128 queries, whose factors stay in registers, and every so manieth tile of rows of X, which
// comes through shared memory: rows in some order lie next to each other, and no block should have all neighbours of a
// query. Candidates gather in shared memory, and each query reserves room for its own at the end.
typedef unsigned int u32;
typedef unsigned short u16;

#define STEPS (WIDTH / 16)  // products of 16 columns
#define CHUNKS (WIDTH / 8)  // pieces of 16 bytes of a row
#define TILE (WIDTH == 128 ? 32 : 64)  // rows of X at a time
#define HELD 96             // candidates of a query and these columns that are held

// Where a piece of a row lies in its tile, so that eight rows are read without conflicts.
__device__ __forceinline__ int place(int row, int chunk) {
    return row * CHUNKS + (CHUNKS == 4 ? chunk ^ ((row >> 1) & 3) : chunk ^ (row & 7));
}

__device__ __forceinline__ u32 shared_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void copy_16_bytes(u32 to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
}

__device__ __forceinline__ void load_four(u32* b, u32 from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
                 : "r"(from));
}

__device__ __forceinline__ void multiply(float* c, const u32* a, u32 b0, u32 b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Q holds -2q (m, WIDTH) and X the rows (n, WIDTH) as halves. counts (m,) counts all candidates, found (m, room) holds
// them, and what it held before where there are fewer; a query that had no room here is counted as having too many.
extern "C" __global__ void __launch_bounds__(128, 4)
    candidates(const u32* __restrict__ Q, const uint4* __restrict__ X, const float* __restrict__ norms,
               const float* __restrict__ limits, int* counts, int* found, int m, int n, int room) {
    __shared__ __align__(128) uint4 rows[2][TILE * CHUNKS];
    __shared__ __align__(16) float lengths[2][TILE];
    __shared__ u16 held[128 * HELD];
    __shared__ int count[128], start[128];
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32, group = lane / 4, pair = lane % 4;
    const int query = blockIdx.x * 128 + warp * 32;
    count[thread] = 0;

    u32 a[2][STEPS][4];
    float limit[2][2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int part = 0; part < 2; ++part) {
            const int row = query + half * 16 + part * 8 + group;
            limit[half][part] = row < m ? limits[row] : -3e38f;
#pragma unroll
            for (int step = 0; step < STEPS; ++step)
#pragma unroll
                for (int right = 0; right < 2; ++right)
                    a[half][step][part + 2 * right] =
                        row < m ? Q[(size_t)row * (WIDTH / 2) + step * 8 + right * 4 + pair] : 0u;
        }
    }

    auto fetch = [&](int tile, int side) {
#pragma unroll
        for (int piece = thread; piece < TILE * CHUNKS; piece += 128) {
            const int row = piece / CHUNKS, chunk = piece % CHUNKS;
            copy_16_bytes(shared_address(&rows[side][place(row, chunk)]),
                          X + (size_t)min(tile + row, n - 1) * CHUNKS + chunk);
        }
        if (thread < TILE)
            lengths[side][thread] = tile + thread < n ? norms[tile + thread] : __int_as_float(0x7f800000);
        asm volatile("cp.async.commit_group;");
    };
    const int stride = gridDim.y * TILE;
    fetch(blockIdx.y * TILE, 0);
    int side = 0, seen = 0;
    for (int tile = blockIdx.y * TILE; tile < n; tile += stride, side ^= 1, seen += TILE) {
        asm volatile("cp.async.wait_group 0;");
        __syncthreads();
        if (tile + stride < n)
            fetch(tile + stride, side ^ 1);
#pragma unroll 4
        for (int eight = 0; eight < TILE / 8; ++eight) {
            const float2 length = *(const float2*)&lengths[side][eight * 8 + 2 * pair];
            float c[2][4];
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                c[half][0] = c[half][2] = length.x;
                c[half][1] = c[half][3] = length.y;
            }
#pragma unroll
            for (int two = 0; two < STEPS / 2; ++two) {
                u32 b[4];
                load_four(b, shared_address(&rows[side][place(eight * 8 + lane % 8, 4 * two + lane / 8)]));
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    multiply(c[half], a[half][2 * two], b[0], b[1]);
                    multiply(c[half], a[half][2 * two + 1], b[2], b[3]);
                }
            }
            bool any = false;
#pragma unroll
            for (int half = 0; half < 2; ++half)
#pragma unroll
                for (int part = 0; part < 2; ++part)
                    any |= fminf(c[half][2 * part], c[half][2 * part + 1]) <= limit[half][part];
            if (any) {
#pragma unroll
                for (int half = 0; half < 2; ++half)
#pragma unroll
                    for (int i = 0; i < 4; ++i)
                        if (c[half][i] <= limit[half][i / 2]) {
                            const int own = warp * 32 + half * 16 + (i / 2) * 8 + group;
                            const int at = atomicAdd(&count[own], 1);
                            if (at < HELD)
                                held[own * HELD + at] = (u16)(seen + eight * 8 + 2 * pair + (i & 1));
                        }
            }
        }
    }
    __syncthreads();
    const int row = blockIdx.x * 128 + thread;
    if (row < m && count[thread] > 0)
        start[thread] = atomicAdd(&counts[row], count[thread] > HELD ? room + 1 : count[thread]);
    __syncthreads();
    for (int own = warp * 32; own < warp * 32 + 32; ++own) {
        const int size = min(count[own], HELD);
        for (int at = lane; at < size && blockIdx.x * 128 + own < m; at += 32)
            if (start[own] + at < room) {
                const int one = held[own * HELD + at];
                found[(size_t)(blockIdx.x * 128 + own) * room + start[own] + at] =
                    (one / TILE * gridDim.y + blockIdx.y) * TILE + one % TILE;
            }
    }
}
