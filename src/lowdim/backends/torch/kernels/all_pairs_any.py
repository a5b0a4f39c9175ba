"""Sums over all points in any number of dimensions: ``φ(q) = Σ_j f(s_j)`` and ``Σ_j f a (q − y_j)``."""

import triton
import triton.language as tl

from lowdim.backends.torch.kernels.falloffs import pull_of, value_of


@triton.jit(do_not_specialize=["m", "n", "columns", "dimensions", "dof"])
def pairs_any(Q, Y, out, m, n, columns, dimensions, dof, LAW: tl.constexpr, BI: tl.constexpr, BJ: tl.constexpr):
    """Partial sums ``out`` (parts, dimensions + 1, m): the coordinates of the force, and φ."""
    i = tl.program_id(0) * BI + tl.arange(0, BI)
    own = tl.program_id(2)
    here = i.to(tl.int64) * dimensions
    force = tl.zeros([BI], tl.float32)
    phi = tl.zeros([BI], tl.float32)
    first = tl.program_id(1) * columns
    last = tl.minimum(first + columns, n)
    for at in range(first, last, BJ):
        j = at + tl.arange(0, BJ)
        there = j.to(tl.int64) * dimensions
        s = tl.zeros([BJ, BI], tl.float32)
        for a in range(dimensions):
            q = tl.load(Q + here + a, mask=i < m, other=0.0)
            gap = q[None, :] - tl.load(Y + there + a, mask=j < last, other=0.0)[:, None]
            s += gap * gap
        f = tl.where((j < last)[:, None], value_of(s, dof, LAW), 0.0)
        q = tl.load(Q + here + own, mask=i < m, other=0.0)
        gap = q[None, :] - tl.load(Y + there + own, mask=j < last, other=0.0)[:, None]
        phi += tl.sum(f, 0)
        force += tl.sum(f * pull_of(s, dof, LAW) * gap, 0)
    to = out + tl.program_id(1).to(tl.int64) * (dimensions + 1) * m + i
    tl.store(to + own.to(tl.int64) * m, force, mask=i < m)
    if own == 0:
        tl.store(to + dimensions.to(tl.int64) * m, phi, mask=i < m)
