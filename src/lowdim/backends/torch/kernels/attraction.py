"""Attraction ``Σ_j p_ij a(s_ij) (y_i − y_j)``, ``a = −f′/f``, on a line or in the plane, from packed sparse rows."""

import triton
import triton.language as tl

from lowdim.backends.torch.kernels.falloffs import pull_of
from lowdim.backends.torch.kernels.points import point


@triton.jit(do_not_specialize=["n", "scale", "dof"])
def attraction(
    Y,
    starts,
    packed,
    out,
    n,
    scale,
    dof,
    LAW: tl.constexpr,
    DIM: tl.constexpr,
    WIDE: tl.constexpr,
    BR: tl.constexpr,
    BC: tl.constexpr,
):
    """``out`` (n, DIM); ``scale`` undoes that of the packed weights."""
    r = tl.program_id(0) * BR + tl.arange(0, BR)
    first = tl.load(starts + r, mask=r < n, other=0)
    last = tl.load(starts + r + 1, mask=r < n, other=0)
    x, y = point(Y, r, r < n, DIM)
    c = tl.arange(0, BC)
    fx = tl.zeros([BR, BC], tl.float32)
    fy = tl.zeros([BR, BC], tl.float32)
    for at in range(0, tl.max(last - first, 0).to(tl.int32), BC):
        e = first[:, None] + at + c[None, :]
        there = e < last[:, None]
        entry = tl.load(packed + e, mask=there, other=0)
        if WIDE:
            p = (entry & 0xFFFFFFFF).to(tl.int32).to(tl.float32, bitcast=True)
            j = (entry >> 32).to(tl.int32)
        else:
            p = (entry & 0x7FFF).to(tl.int16).to(tl.float16, bitcast=True).to(tl.float32)
            j = (entry >> 15) & 0x1FFFF
        qx, qy = point(Y, j, there, DIM)
        dx = x[:, None] - qx
        dy = y[:, None] - qy
        w = p * pull_of(dx * dx + dy * dy, dof, LAW)
        fx += w * dx
        fy += w * dy
    tl.store(out + r * DIM, tl.sum(fx, 1) * scale, mask=r < n)
    if DIM == 2:
        tl.store(out + r * 2 + 1, tl.sum(fy, 1) * scale, mask=r < n)
