"""Squared distances ``Σ (q − x)²`` of each query to the rows in its list, summed in float64.

Of directions where there are norms: each row divided by its norm, in the precision ``DIRECTION``.
"""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["m", "count", "k", "width"])
def list_distances(
    Q,
    q_norms,
    X,
    x_norms,
    rows,
    lists,
    counts,
    out,
    m,
    count,
    k,
    width,
    ROOM: tl.constexpr,
    SOME: tl.constexpr,
    BR: tl.constexpr,
    BC: tl.constexpr,
    COSINE: tl.constexpr,
    DIRECTION: tl.constexpr,
    SORT: tl.constexpr,
):
    """``out`` (m, k) of the nearest in the order of (bits of the distance in float32, index), else (m, SOME) of all.

    List i is that of query ``rows[i]``, and holds indices in its lower 32 bits, or the largest number; ``count`` of its
    entries are read.
    """
    i = tl.program_id(0).to(tl.int64) * BR + tl.arange(0, BR)
    row = tl.load(rows + i, mask=i < m, other=0).to(tl.int64)
    c = tl.arange(0, SOME)
    there = c[None, :] < tl.minimum(tl.load(counts + i, mask=i < m, other=0), count)[:, None]
    j = tl.load(lists + i[:, None] * ROOM + c[None, :], mask=there, other=0x7FFFFFFFFFFFFFFF)
    there = there & (j < 0x7FFFFFFFFFFFFFFF)
    j = tl.where(there, j & 0xFFFFFFFF, 0)
    total = tl.zeros([BR, SOME], tl.float64)
    if COSINE:
        q_norm = tl.load(q_norms + row)[:, None]
        x_norm = tl.load(x_norms + j, mask=there, other=1.0)[:, :, None]
    for begin in range(0, width, BC):
        a = begin + tl.arange(0, BC)
        here = a < width
        q = tl.load(Q + row[:, None] * width + a[None, :], mask=here[None, :], other=0.0).to(tl.float64)
        read = there[:, :, None] & here[None, None, :]
        x = tl.load(X + j[:, :, None] * width + a[None, None, :], mask=read, other=0.0).to(tl.float64)
        if COSINE:
            q = (q / q_norm).to(DIRECTION).to(tl.float64)
            x = (x / x_norm).to(DIRECTION).to(tl.float64)
        gap = q[:, None, :] - x
        total += tl.sum(gap * gap, 2)
    bits = total.to(tl.float32).to(tl.int32, bitcast=True).to(tl.int64)
    key = tl.where(there, (bits << 32) | j, 0x7FFFFFFFFFFFFFFF)
    if SORT:
        tl.store(out + i[:, None] * k + c[None, :], tl.sort(key, 1), mask=(i < m)[:, None] & (c < k)[None, :])
    else:
        tl.store(out + i[:, None] * SOME + c[None, :], key, mask=(i < m)[:, None])
