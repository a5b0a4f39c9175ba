"""Costs of UMAP's loss: ``Σ_j v_ij log(1 + u_ij)`` of a point, and of pairs a shift apart in the ring."""

import triton
import triton.language as tl


@triton.jit
def squared_gaps(Y, i, j, mask, k, soft):
    """``t = ‖y_i − y_j‖² + ε``."""
    t = tl.zeros(j.shape, tl.float32) + soft
    for d in range(k):
        gap = tl.load(Y + i.to(tl.int64) * k + d, mask=mask, other=0.0) - tl.load(
            Y + j.to(tl.int64) * k + d, mask=mask, other=0.0
        )
        t += gap * gap
    return t


@triton.jit(do_not_specialize=["n", "k", "power", "log_scale", "soft"])
def pull_costs(Y, starts, columns, values, out, n, k, power, log_scale, soft, BR: tl.constexpr, BC: tl.constexpr):
    """``out`` (n,): cost of each point by the graph."""
    r = tl.program_id(0) * BR + tl.arange(0, BR)
    first = tl.load(starts + r, mask=r < n, other=0)
    last = tl.load(starts + r + 1, mask=r < n, other=0)
    total = tl.zeros([BR], tl.float32)
    for begin in range(0, tl.max(last - first, 0).to(tl.int32), BC):
        e = first[:, None] + begin + tl.arange(0, BC)[None, :]
        there = e < last[:, None]
        j = tl.load(columns + e, mask=there, other=0)
        t = squared_gaps(Y, r[:, None] + tl.zeros(j.shape, tl.int32), j, there, k, soft)
        u = tl.exp2(tl.minimum(tl.maximum(tl.log2(t) * power + log_scale, -126.0), 126.0))
        total += tl.sum(tl.load(values + e, mask=there, other=0.0) * tl.log(1.0 + u), 1)
    tl.store(out + r, total, mask=r < n)


@triton.jit(do_not_specialize=["n", "k", "each", "power", "log_scale", "soft"])
def push_costs(Y, degrees, shifts, out, n, k, each, power, log_scale, soft, B: tl.constexpr, EACH: tl.constexpr):
    """Sums ``out`` (parts, each) over some points of ``(d_i + d_j) log₂(1 + 1/u)``, j the point a shift further on."""
    i = tl.program_id(1) * B + tl.arange(0, B)
    own = tl.load(degrees + i, mask=i < n, other=0.0)
    for s in range(tl.program_id(0) * EACH, tl.minimum(tl.program_id(0) * EACH + EACH, each)):
        j = i + tl.load(shifts + s)
        j = tl.where(j >= n, j - n, j)
        t = squared_gaps(Y, i, j, i < n, k, soft)
        log_u = tl.minimum(tl.maximum(tl.log2(t) * power + log_scale, -126.0), 126.0)
        cost = tl.log2(tl.exp2(log_u) + 1.0) - log_u
        both = own + tl.load(degrees + j, mask=i < n, other=0.0)
        tl.store(out + tl.program_id(1).to(tl.int64) * each + s, tl.sum(tl.where(i < n, both * cost, 0.0), 0))
