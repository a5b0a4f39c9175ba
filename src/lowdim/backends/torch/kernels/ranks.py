"""Candidates of each query as sortable keys: the bits of ``d² = Σ (q − x)²`` in float32, then the index.

Sums are taken in the type of the rows.
"""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["k", "width"])
def ranks(Q, X, own, counts, found, keys, k, width, ROOM: tl.constexpr, SORT: tl.constexpr, WIDE: tl.constexpr):
    """``keys`` (m, k) of the nearest if ``SORT``, else (m, ROOM) of all in their order.

    Rows have a multiple of 4 columns; ``WIDE`` says that offsets into them need 64 bits.
    ``own`` (m,) is the row that a query is, or −1; it and missing candidates, −1, have the largest number.
    """
    i = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, ROOM)
    there = c < tl.load(counts + i)
    j = tl.load(found + i * ROOM + c, mask=there, other=-1)
    there = there & (j != tl.load(own + i)) & (j >= 0)
    width = tl.multiple_of(width, 4)
    start = (j.to(tl.int64) if WIDE else j) * width
    d = tl.zeros([ROOM], X.dtype.element_ty)
    for b in range(0, width, 4):
        a = b + tl.arange(0, 4)
        gap = (
            tl.load(X + start[:, None] + a[None, :], mask=there[:, None], other=0.0)
            - tl.load(Q + i * width + a)[None, :]
        )
        d += tl.sum(gap * gap, 1)
    bits = d.to(tl.float32).to(tl.int32, bitcast=True).to(tl.int64)
    key = tl.where(there, (bits << 32) | j.to(tl.int64), 0x7FFFFFFFFFFFFFFF)
    if SORT:
        tl.store(keys + i * k + c, tl.sort(key), mask=c < k)
    else:
        tl.store(keys + i * ROOM + c, key)
