"""One sweep of shortest paths: ``t_v ← min(t_v, min_u t_u + w_uv)`` over the neighbours u of each row v (Bellman 1958).

Rows whose neighbours have not changed since the previous sweep are skipped. Sums only decrease, so programs may read
what others are writing: what is missed now is seen in the next sweep, and the final sums do not depend on the order.
"""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["m", "tiles", "turn"])
def relax(T, starts, ends, lengths, stamps, changed, m, tiles, turn, B: tl.constexpr, BE: tl.constexpr):
    """``T`` (n, m) from m sources, B of them per program. ``stamps`` (n, tiles) hold the sweep of the last change."""
    v = tl.program_id(0).to(tl.int64)
    tile = tl.program_id(1)
    first = tl.load(starts + v)
    last = tl.load(starts + v + 1)
    latest = tl.full([BE], -1, tl.int32)
    for at in range(0, (last - first).to(tl.int32), BE):
        e = first + at + tl.arange(0, BE)
        u = tl.load(ends + e, mask=e < last, other=0).to(tl.int64)
        latest = tl.maximum(latest, tl.load(stamps + u * tiles + tile, mask=e < last, other=-1))
    if tl.max(latest, 0) >= turn - 1:
        c = tile * B + tl.arange(0, B)
        own = tl.load(T + v * m + c, mask=c < m, other=0.0)
        least = own
        for at in range(0, (last - first).to(tl.int32), BE):
            e = first + at + tl.arange(0, BE)
            u = tl.load(ends + e, mask=e < last, other=0).to(tl.int64)
            w = tl.load(lengths + e, mask=e < last, other=float("inf"))
            way = tl.load(T + u[:, None] * m + c[None, :], mask=(c < m)[None, :], other=0.0) + w[:, None]
            least = tl.minimum(least, tl.min(way, 0))
        shorter = (least < own) & (c < m)
        if tl.max(shorter.to(tl.int32), 0) > 0:
            tl.store(T + v * m + c, least, mask=shorter)
            tl.store(stamps + v * tiles + tile, turn)
            tl.store(changed, 1)
