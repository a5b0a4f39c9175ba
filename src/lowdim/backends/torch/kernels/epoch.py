"""An epoch of UMAP: attraction by the graph, repulsion by partners in a ring, and the step of every point.

With ``t = s + ε`` and ``u = a t^b``, −log w = log(1 + u) has the slope ``b u/(t (1 + u))`` in s, and −log(1 − w) has
``−b/(t (1 + u))``. Points are in a random order; partners are the epoch's shifts later and earlier.
"""

import triton
import triton.language as tl

from lowdim.backends.torch.kernels.ring import coordinates, partners


@triton.jit
def power_of(t, power, log_scale):
    """``u = a t^b``; clipped to 2^±60, beyond which forces do not change."""
    return tl.exp2(tl.minimum(tl.maximum(tl.log2(t) * power + log_scale, -60.0), 60.0))


SCALARS = ["n", "k", "each", "power", "log_scale", "soft", "cut", "rate", "damping", "kept", "weight", "longest"]


@triton.jit(do_not_specialize=SCALARS)
def epoch(
    Y,
    velocity,
    onto,
    starts,
    columns,
    values,
    degrees,
    shifts,
    n,
    k,
    each,
    power,
    log_scale,
    soft,
    cut,
    rate,
    damping,
    kept,
    weight,
    longest,
    anchors,
    weights,
    scale,
    more,
    DRAWN: tl.constexpr,
    DENSE: tl.constexpr,
    BR: tl.constexpr,
    BC: tl.constexpr,
    BD: tl.constexpr,
):
    """Points ``onto`` (n, k) after the epoch from ``Y``; ``velocity`` (n, k) is updated.

    ``DRAWN`` points have ``anchors`` (n, k) and ``weights`` (n,), infinite of those that do not move, times the two
    numbers at ``scale``. ``DENSE`` maps have ``more`` forces, and their stiffness (n, k + 1).
    """
    r = tl.program_id(0) * BR + tl.arange(0, BR)
    d = tl.arange(0, BD)
    c = tl.arange(0, BC)
    here = (r < n)[:, None] & (d < k)[None, :]
    at = r.to(tl.int64)[:, None] * k + d[None, :]
    own = tl.load(Y + at, mask=here, other=0.0)
    first = tl.load(starts + r, mask=r < n, other=0)
    last = tl.load(starts + r + 1, mask=r < n, other=0)
    pull = tl.zeros([BR, BD], tl.float32)
    stiffness = tl.zeros([BR], tl.float32)
    for begin in range(0, tl.max(last - first, 0).to(tl.int32), BC):
        e = first[:, None] + begin + c[None, :]
        there = e < last[:, None]
        j = tl.load(columns + e, mask=there, other=0)
        v = tl.load(values + e, mask=there, other=0.0)
        gap = coordinates(Y, j, there, d, k) - own[:, None, :]
        t = tl.sum(gap * gap, 2) + soft
        u = power_of(t, power, log_scale)
        force = v * (4.0 * power) * u / (t * (u + 1.0))
        stiffness += tl.sum(force, 1)
        pull += tl.sum(force[:, :, None] * gap, 1)
    if DENSE:
        pull += tl.load(more + at + r.to(tl.int64)[:, None], mask=here, other=0.0)
        stiffness += tl.load(more + r.to(tl.int64) * (k + 1) + k, mask=r < n, other=0.0)
    degree = tl.load(degrees + r, mask=r < n, other=0.0)
    push = tl.zeros([BR, BD], tl.float32)
    for begin in range(0, 2 * each, BC):
        j, there = partners(r, begin + c, shifts, each, n)
        gap = own[:, None, :] - coordinates(Y, j, there, d, k)
        t = tl.sum(gap * gap, 2) + soft
        force = (2.0 * power) / (t * (power_of(t, power, log_scale) + 1.0))
        both = tl.where(there, degree[:, None] + tl.load(degrees + j, mask=there, other=0.0), 0.0)
        bounded = tl.minimum(tl.maximum(force[:, :, None] * gap, -cut), cut)
        push += tl.sum(both[:, :, None] * bounded, 1)
    step = rate / (1.0 + damping * rate * stiffness)
    v = kept * tl.load(velocity + at, mask=here, other=0.0) + step[:, None] * (pull + (0.5 * weight) * push)
    if DRAWN:
        w = tl.load(weights + r, mask=r < n, other=0.0)
        free = (w < float("inf"))[:, None]
        c = tl.where(free, step[:, None] * 2.0 * tl.load(scale + 1) * w[:, None], 0.0)
        gap = tl.load(scale) * tl.load(anchors + at, mask=here, other=0.0) - own
        v = tl.where(free, (v + c * gap) / (c + 1.0), 0.0)
    length = tl.sqrt(tl.sum(v * v, 1))
    v = v * tl.where(length > longest, longest / tl.maximum(length, 1e-30), 1.0)[:, None]
    tl.store(velocity + at, v, mask=here)
    tl.store(onto + at, own + v, mask=here)
