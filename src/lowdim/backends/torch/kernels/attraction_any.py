"""Attraction ``Σ_j p_ij a(s_ij) (y_i − y_j)`` and costs ``Σ_j −p_ij log f(s_ij)`` in any number of dimensions."""

import triton
import triton.language as tl

from lowdim.backends.torch.kernels.falloffs import cost_of, pull_of


@triton.jit(do_not_specialize=["dimensions", "dof"])
def attraction_any(
    Y, indptr, indices, values, out, dimensions, dof, LAW: tl.constexpr, COST: tl.constexpr, BC: tl.constexpr
):
    """One coordinate of ``out`` (n, dimensions) per program, or with ``COST`` the cost ``out`` (n,) of a point."""
    i = tl.program_id(0).to(tl.int64)
    own = tl.program_id(1)
    first = tl.load(indptr + i)
    last = tl.load(indptr + i + 1)
    total = tl.zeros([BC], tl.float32)
    for at in range(0, (last - first).to(tl.int32), BC):
        e = first + at + tl.arange(0, BC)
        p = tl.load(values + e, mask=e < last, other=0.0)
        j = tl.load(indices + e, mask=e < last, other=0).to(tl.int64)
        s = tl.zeros([BC], tl.float32)
        for a in range(dimensions):
            gap = tl.load(Y + i * dimensions + a) - tl.load(Y + j * dimensions + a, mask=e < last, other=0.0)
            s += gap * gap
        if COST:
            total += p * cost_of(s, dof, LAW)
        else:
            gap = tl.load(Y + i * dimensions + own) - tl.load(Y + j * dimensions + own, mask=e < last, other=0.0)
            total += p * pull_of(s, dof, LAW) * gap
    if COST:
        tl.store(out + i, tl.sum(total, 0))
    else:
        tl.store(out + i * dimensions + own, tl.sum(total, 0))
