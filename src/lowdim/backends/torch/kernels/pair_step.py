"""An iteration of PaCMAP: the forces of all pairs on every point, and Adam's step.

Pairs cost ``base + sign shift/(shift + d̃)`` by kind, with ``d̃ = ‖y_i − y_j‖² + 1``; those of a ring, which are further
ones, lie its shifts apart. A kind's force is ``factor/(shift + d̃)² (y_i − y_j)``.
"""

import triton
import triton.language as tl

from lowdim import _native
from lowdim.backends.torch.kernels.ring import coordinates, partners

_NEAR, _MID = tl.constexpr(_native.PAIR_NEAR), tl.constexpr(_native.PAIR_MID)
_DECAY, _DECAY_SQUARES = tl.constexpr(_native.ADAM_DECAY), tl.constexpr(_native.ADAM_DECAY_SQUARES)
_LEAST = tl.constexpr(_native.ADAM_LEAST)


@triton.jit(do_not_specialize=["n", "k", "around", "near", "mid", "further", "rate", "root"])
def pair_step(
    Y,
    first,
    second,
    onto,
    starts,
    entries,
    shifts,
    n,
    k,
    around,
    near,
    mid,
    further,
    rate,
    root,
    anchors,
    weights,
    scale,
    COST: tl.constexpr,
    DRAWN: tl.constexpr,
    LOCAL: tl.constexpr,
    BR: tl.constexpr,
    BC: tl.constexpr,
    BD: tl.constexpr,
):
    """Points ``onto`` (n, k) after Adam's step from ``Y`` with these weights, or with ``COST`` half the loss of each.

    ``entries`` are four times the other's position, plus the kind: near, mid-near, further, or a pair to exclude from
    the ring. ``first`` and ``second`` (n, k) are Adam's moments. ``DRAWN`` points have ``anchors`` (n, k) and
    ``weights`` (n,), infinite of those that do not move, times the two numbers at ``scale``. In a ``LOCAL`` phase
    forces of near pairs are multiplied by ``root/√d̃``.
    """
    r = tl.program_id(0) * BR + tl.arange(0, BR)
    d = tl.arange(0, BD)
    c = tl.arange(0, BC)
    here = (r < n)[:, None] & (d < k)[None, :]
    at = r.to(tl.int64)[:, None] * k + d[None, :]
    own = tl.load(Y + at, mask=here, other=0.0)
    begins = tl.load(starts + r, mask=r < n, other=0)
    ends = tl.load(starts + r + 1, mask=r < n, other=0)
    slope = tl.zeros([BR, BD], tl.float32)
    cost = tl.zeros([BR], tl.float32)
    for begin in range(0, tl.max(ends - begins, 0).to(tl.int32), BC):
        e = begins[:, None] + begin + c[None, :]
        there = e < ends[:, None]
        entry = tl.load(entries + e, mask=there, other=0)
        kind = entry % 4
        gap = own[:, None, :] - coordinates(Y, entry // 4, there, d, k)
        shift = tl.where(kind == 0, _NEAR, tl.where(kind == 1, _MID, 1.0))
        apart = tl.where(kind == 2, -2.0 * further, 2.0 * further)
        factor = tl.where(kind == 0, 2.0 * _NEAR * near, tl.where(kind == 1, 2.0 * _MID * mid, apart))
        t = tl.sum(gap * gap, 2) + shift + 1.0
        force = tl.where(there, factor / (t * t), 0.0)
        if LOCAL:
            force *= tl.where(kind == 0, root / tl.sqrt(tl.maximum(t - _NEAR, 1.0)), 1.0)
        slope += tl.sum(force[:, :, None] * gap, 1)
        base = tl.where(kind == 0, near, tl.where(kind == 1, mid, 0.0))
        cost += tl.sum(tl.where(there, base - 0.5 * factor / t, 0.0), 1)
    for begin in range(0, 2 * around, BC):
        j, there = partners(r, begin + c, shifts, around, n)
        gap = own[:, None, :] - coordinates(Y, j, there, d, k)
        t = tl.sum(gap * gap, 2) + 2.0
        force = tl.where(there, -2.0 * further / (t * t), 0.0)
        slope += tl.sum(force[:, :, None] * gap, 1)
        cost += tl.sum(tl.where(there, further / t, 0.0), 1)
    if COST:
        tl.store(onto + r, 0.5 * cost, mask=r < n)
    else:
        m = tl.load(first + at, mask=here, other=0.0)
        m += (1.0 - _DECAY) * (slope - m)
        q = tl.load(second + at, mask=here, other=0.0)
        q += (1.0 - _DECAY_SQUARES) * (slope * slope - q)
        tl.store(first + at, m, mask=here)
        tl.store(second + at, q, mask=here)
        root = tl.sqrt(q) + _LEAST
        step = rate * m / root
        if DRAWN:
            w = tl.load(weights + r, mask=r < n, other=0.0)
            free = (w < float("inf"))[:, None]
            c = tl.where(free, 2.0 * tl.load(scale + 1) * w[:, None] * rate / root, 0.0)
            gap = own - tl.load(scale) * tl.load(anchors + at, mask=here, other=0.0)
            step = tl.where(free, (step + c * gap) / (1.0 + c), 0.0)
        tl.store(onto + at, own - step, mask=here)
