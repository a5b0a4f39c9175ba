"""The field of a grid at the points: ``φ`` and the force ``−½ ∇φ``, by cubic splines."""

import triton
import triton.language as tl

from lowdim.backends.torch.kernels.points import point
from lowdim.backends.torch.kernels.splines import cell, slope, weight


@triton.jit(do_not_specialize=["n", "nodes", "stride"])
def read(Y, box, field, force, sums, n, nodes, stride, DIM: tl.constexpr, B: tl.constexpr):
    """``force`` (n, DIM), and ``sums`` of φ − 1 for each block of B points. Rows of ``field`` are ``stride`` apart."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    there = i < n
    x, y = point(Y, i, there, DIM)
    inverse = tl.load(box + 2)
    ix, tx, _ = cell(x, tl.load(box), inverse, nodes)
    phi = tl.zeros([B], tl.float32)
    fx = tl.zeros([B], tl.float32)
    fy = tl.zeros([B], tl.float32)
    if DIM == 2:
        iy, ty, _ = cell(y, tl.load(box + 1), inverse, nodes)
        for r in tl.static_range(4):
            along = tl.zeros([B], tl.float32)
            rising = tl.zeros([B], tl.float32)
            for c in tl.static_range(4):
                g = tl.load(field + (iy + r) * stride + ix + c, mask=there, other=0.0)
                along += g * weight(tx, c)
                rising += g * slope(tx, c)
            phi += along * weight(ty, r)
            fx += rising * weight(ty, r)
            fy += along * slope(ty, r)
        tl.store(force + 2 * i + 1, -0.5 * inverse * fy, mask=there)
    else:
        for c in tl.static_range(4):
            g = tl.load(field + ix + c, mask=there, other=0.0)
            phi += g * weight(tx, c)
            fx += g * slope(tx, c)
    tl.store(force + DIM * i, -0.5 * inverse * fx, mask=there)
    tl.store(sums + tl.program_id(0), tl.sum(tl.where(there, phi - 1.0, 0.0), 0))
