"""Reverse probabilities ``p_{i|j}`` of the neighbours j of each row i, and which do not have i as a neighbour."""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["k"])
def mutual(neighbors, p, back, alone, k, BK: tl.constexpr, BQ: tl.constexpr):
    """``back`` and ``alone`` (n, k), by the neighbours and their probabilities (n, k)."""
    i = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BK)
    for first in range(0, k, BQ):
        q = first + tl.arange(0, BQ)
        j = tl.load(neighbors + i * k + q, mask=q < k, other=0).to(tl.int64)
        at = j[:, None] * k + c[None, :]
        there = (q < k)[:, None] & (c < k)[None, :]
        hit = tl.load(neighbors + at, mask=there, other=-1) == i
        theirs = tl.sum(tl.load(p + at, mask=hit, other=0.0), 1)
        tl.store(back + i * k + q, theirs, mask=q < k)
        tl.store(alone + i * k + q, (tl.max(hit.to(tl.int32), 1) == 0).to(tl.int8), mask=q < k)
