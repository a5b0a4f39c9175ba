"""Candidates of each query as sortable keys: the bits of ``d² = Σ (q − x)²``, summed in float64, then the index."""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["k", "width"])
def ranks(Q, X, own, counts, found, keys, k, width, ROOM: tl.constexpr, SORT: tl.constexpr):
    """``keys`` (m, k) of the nearest if ``SORT``, else (m, ROOM) of all in their order.

    ``own`` (m,) is the row that a query is, or −1; it and missing candidates have the largest number.
    """
    i = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, ROOM)
    there = c < tl.load(counts + i)
    j = tl.load(found + i * ROOM + c, mask=there, other=0)
    there = there & (j != tl.load(own + i))
    start = j.to(tl.int64) * width
    d = tl.zeros([ROOM], tl.float64)
    for b in range(0, width, 4):
        a = b + tl.arange(0, 4)
        q = tl.load(Q + i * width + a, mask=a < width, other=0.0).to(tl.float64)
        x = tl.load(X + start[:, None] + a[None, :], mask=there[:, None] & (a < width)[None, :], other=0.0)
        gap = x.to(tl.float64) - q[None, :]
        d += tl.sum(gap * gap, 1)
    bits = d.to(tl.float32).to(tl.int32, bitcast=True).to(tl.int64)
    key = tl.where(there, (bits << 32) | j.to(tl.int64), 0x7FFFFFFFFFFFFFFF)
    if SORT:
        tl.store(keys + i * k + c, tl.sort(key), mask=c < k)
    else:
        tl.store(keys + i * ROOM + c, key)
