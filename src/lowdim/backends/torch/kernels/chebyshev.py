"""A step of Chebyshev's recurrence with ``L = I − S`` for sparse symmetric S: ``W ← α L V + β V + γ W``."""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n", "alpha", "beta", "gamma"])
def chebyshev(
    V, W, starts, columns, values, n, alpha, beta, gamma, BR: tl.constexpr, BC: tl.constexpr, BW: tl.constexpr
):
    """Change ``W`` (n, BW) in place."""
    r = tl.program_id(0) * BR + tl.arange(0, BR)
    w = tl.arange(0, BW)
    at = r.to(tl.int64)[:, None] * BW + w[None, :]
    here = (r < n)[:, None] & (w < BW)[None, :]
    first = tl.load(starts + r, mask=r < n, other=0)
    last = tl.load(starts + r + 1, mask=r < n, other=0)
    own = tl.load(V + at, mask=here, other=0.0)
    total = tl.zeros([BR, BW], tl.float32)
    for begin in range(0, tl.max(last - first, 0).to(tl.int32), BC):
        e = first[:, None] + begin + tl.arange(0, BC)[None, :]
        there = e < last[:, None]
        j = tl.load(columns + e, mask=there, other=0).to(tl.int64)
        s = tl.load(values + e, mask=there, other=0.0)
        read = there[:, :, None] & (w < BW)[None, None, :]
        theirs = tl.load(V + j[:, :, None] * BW + w[None, None, :], mask=read, other=0.0)
        total += tl.sum(s[:, :, None] * theirs, 1)
    before = tl.load(W + at, mask=here, other=0.0)
    tl.store(W + at, alpha * (own - total) + beta * own + gamma * before, mask=here)
