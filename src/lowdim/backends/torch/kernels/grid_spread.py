"""Points spread over the nodes of a grid by cubic splines, summed as integers, so that the order does not matter."""

import triton
import triton.language as tl

from lowdim.backends.torch.kernels.points import point
from lowdim.backends.torch.kernels.splines import cell, weight_at


@triton.jit(do_not_specialize=["n", "nodes"])
def spread(Y, box, grid, escaped, n, nodes, ONE: tl.constexpr, DIM: tl.constexpr, B: tl.constexpr):
    """Add ``ONE`` times the weights of n points to ``grid`` (nodes, …) int64; ``escaped`` becomes 1 if one is outside.

    ``box`` holds the origin of the grid and the inverse of its spacing: x, y, 1/h.
    """
    i = tl.program_id(0) * B + tl.arange(0, B)
    there = i < n
    x, y = point(Y, i, there, DIM)
    inverse = tl.load(box + 2)
    ix, tx, out_x = cell(x, tl.load(box), inverse, nodes)
    W: tl.constexpr = 4 if DIM == 1 else 16
    o = tl.arange(0, W)
    if DIM == 2:
        iy, ty, out_y = cell(y, tl.load(box + 1), inverse, nodes)
        outside = there & (out_x | out_y)
        first = iy * nodes + ix
        v = weight_at(tx[:, None] + 1.0 - (o % 4)[None, :]) * weight_at(ty[:, None] + 1.0 - (o // 4)[None, :])
        step = (o // 4) * nodes + o % 4
    else:
        outside = there & out_x
        first = ix
        v = weight_at(tx[:, None] + 1.0 - o[None, :])
        step = o
    if tl.max(outside.to(tl.int32), 0) > 0:
        tl.store(escaped, 1)
    whole = tl.where(there[:, None], (v * ONE).to(tl.int64), 0)
    most = tl.max(tl.where(there, first, -1), 0)
    if tl.min(tl.where(there, first, 2147483647), 0) == most:  # all in one cell: one sum instead of serialised atomics
        tl.atomic_add(grid + most + step, tl.sum(whole, 0), sem="relaxed")
    else:
        tl.atomic_add(grid + first[:, None] + step[None, :], whole, mask=there[:, None], sem="relaxed")
