"""Repulsion of single points by a sample of the map and its cost: UMAP's ``log(1 + 1/u)`` or ``1/(1 + d̃)``."""

import triton
import triton.language as tl

from lowdim.backends.torch.kernels.epoch import power_of


@triton.jit(do_not_specialize=["m", "size", "k", "power", "log_scale", "soft"])
def sample_forces(
    Q,
    S,
    force,
    cost,
    m,
    size,
    k,
    power,
    log_scale,
    soft,
    CURVE: tl.constexpr,
    BQ: tl.constexpr,
    BS: tl.constexpr,
    BD: tl.constexpr,
):
    """``force`` (m, k) and ``cost`` (m,) of the points ``Q`` (m, k) among ``S`` (size, k), summed over the sample."""
    q = tl.program_id(0) * BQ + tl.arange(0, BQ)
    d = tl.arange(0, BD)
    here = (q < m)[:, None] & (d < k)[None, :]
    at = q.to(tl.int64)[:, None] * k + d[None, :]
    own = tl.load(Q + at, mask=here, other=0.0)
    total = tl.zeros([BQ, BD], tl.float32)
    costs = tl.zeros([BQ], tl.float32)
    for begin in range(0, size, BS):
        s = begin + tl.arange(0, BS)
        read = (s < size)[:, None] & (d < k)[None, :]
        other = tl.load(S + s[:, None] * k + d[None, :], mask=read, other=0.0)
        gap = own[:, None, :] - other[None, :, :]
        t = tl.sum(gap * gap, 2)
        if CURVE:
            t += soft
            u = power_of(t, power, log_scale)
            c = (2.0 * power) / (t * (u + 1.0))
            price = tl.log(1.0 + 1.0 / u)
        else:
            price = 1.0 / (t + 2.0)
            c = 2.0 * price * price
        c = tl.where((s < size)[None, :], c, 0.0)
        total += tl.sum(c[:, :, None] * gap, 1)
        costs += tl.sum(tl.where((s < size)[None, :], price, 0.0), 1)
    tl.store(force + at, total, mask=here)
    tl.store(cost + q, costs, mask=q < m)
