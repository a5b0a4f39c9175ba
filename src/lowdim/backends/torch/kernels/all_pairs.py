"""Sums over all points: ``φ(q) = Σ_j f(s_j)`` and ``Σ_j f a (q − y_j)``, on a line or in the plane.

Lanes lie along the queries, so that the sums over the points stay within a thread.
"""

import triton
import triton.language as tl

from lowdim.backends.torch.kernels.falloffs import pull_of, value_of
from lowdim.backends.torch.kernels.points import point


@triton.jit(do_not_specialize=["m", "n", "columns", "dof"])
def pairs(Q, Y, out, m, n, columns, dof, LAW: tl.constexpr, DIM: tl.constexpr, BI: tl.constexpr, BJ: tl.constexpr):
    """Partial sums ``out`` (parts, 3, m): force along x and y, and φ."""
    i = tl.program_id(0) * BI + tl.arange(0, BI)
    x, y = point(Q, i, i < m, DIM)
    fx = tl.zeros([BI], tl.float32)
    fy = tl.zeros([BI], tl.float32)
    phi = tl.zeros([BI], tl.float32)
    first = tl.program_id(1) * columns
    last = tl.minimum(first + columns, n)
    for at in range(first, last, BJ):
        j = at + tl.arange(0, BJ)
        px, py = point(Y, j, j < last, DIM)
        dx = x[None, :] - px[:, None]
        dy = y[None, :] - py[:, None]
        s = dx * dx + dy * dy
        f = tl.where((j < last)[:, None], value_of(s, dof, LAW), 0.0)
        w = f * pull_of(s, dof, LAW)
        phi += tl.sum(f, 0)
        fx += tl.sum(w * dx, 0)
        fy += tl.sum(w * dy, 0)
    to = out + tl.program_id(1).to(tl.int64) * 3 * m + i
    tl.store(to, fx, mask=i < m)
    tl.store(to + m, fy, mask=i < m)
    tl.store(to + 2 * m, phi, mask=i < m)
