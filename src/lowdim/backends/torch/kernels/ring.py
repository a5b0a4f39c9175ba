"""Points of any dimension, and their partners in a ring: those a shift later and earlier in a random order."""

import triton
import triton.language as tl


@triton.jit
def coordinates(Y, j, there, d, k):
    """Coordinates ``d`` of the points ``j`` (BR, BC) of ``Y`` (n, k); 0 where there is none."""
    read = there[:, :, None] & (d < k)[None, None, :]
    return tl.load(Y + j.to(tl.int64)[:, :, None] * k + d[None, None, :], mask=read, other=0.0)


@triton.jit
def partners(r, s, shifts, each, n):
    """The partners ``s`` (BC,) of the points ``r`` (BR,), even ones later and odd ones earlier, and if they exist."""
    shift = tl.load(shifts + s // 2, mask=s < 2 * each, other=0)
    j = r[:, None] + tl.where(s % 2 == 1, n - shift, shift)[None, :]
    return tl.where(j >= n, j - n, j), (r < n)[:, None] & (s < 2 * each)[None, :]
