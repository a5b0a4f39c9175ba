"""Squared distances of all pairs as sortable keys: the bits of ``d² = Σ (q − x)²`` in float32, then the index."""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["m", "n", "width"])
def keys(Q, X, own, out, m, n, width, BM: tl.constexpr, BN: tl.constexpr):
    """``out`` (m, n) int64; the largest number for a query and the row that it is (``own``, or −1)."""
    r = tl.program_id(1) * BM + tl.arange(0, BM)
    c = tl.program_id(0) * BN + tl.arange(0, BN)
    row = r.to(tl.int64) * width
    column = c.to(tl.int64) * width
    d = tl.zeros([BM, BN], tl.float64)
    for a in range(width):
        q = tl.load(Q + row + a, mask=r < m, other=0.0).to(tl.float64)
        x = tl.load(X + column + a, mask=c < n, other=0.0).to(tl.float64)
        gap = q[:, None] - x[None, :]
        d += gap * gap
    bits = d.to(tl.float32).to(tl.int32, bitcast=True).to(tl.int64)
    itself = c[None, :] == tl.load(own + r, mask=r < m, other=-1)[:, None]
    key = tl.where(itself, 0x7FFFFFFFFFFFFFFF, (bits << 32) | c[None, :].to(tl.int64))
    tl.store(out + r.to(tl.int64)[:, None] * n + c[None, :], key, mask=(r < m)[:, None] & (c < n)[None, :])
