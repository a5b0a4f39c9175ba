"""Sums of d, d², e, e² and d e over pairs of rows: d their distance, e that in the first coordinates of a map."""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["m", "n", "k", "columns", "along", "across"])
def distance_sums(D2, rows, Y, out, m, n, k, columns, along, across, BM: tl.constexpr, BN: tl.constexpr):
    """Partial sums ``out`` (k, parts, blocks, 5) from squares ``D2`` (m, n), whose rows and columns are so far apart.

    ``rows`` (m,) are those of the map ``Y`` (n, k) that the rows of ``D2`` belong to.
    """
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    dimension = tl.program_id(2)
    own = tl.load(rows + i, mask=i < m, other=0).to(tl.int64)
    first = tl.program_id(1) * columns
    last = tl.minimum(first + columns, n)
    d1 = tl.zeros([BM], tl.float64)
    d2 = tl.zeros([BM], tl.float64)
    e1 = tl.zeros([BM], tl.float64)
    e2 = tl.zeros([BM], tl.float64)
    de = tl.zeros([BM], tl.float64)
    for at in range(first, last, BN):
        j = (at + tl.arange(0, BN)).to(tl.int64)
        there = (j < last)[:, None] & (i < m)[None, :]
        square = tl.load(D2 + j[:, None] * across + i.to(tl.int64)[None, :] * along, mask=there, other=0.0)
        flat = tl.zeros([BN, BM], tl.float32)
        for a in range(dimension + 1):
            y = tl.load(Y + own * k + a, mask=i < m, other=0.0)
            gap = y[None, :] - tl.load(Y + j * k + a, mask=j < last, other=0.0)[:, None]
            flat += gap * gap
        flat = tl.where(there, flat, 0.0)
        d = tl.sqrt(square)
        e = tl.sqrt(flat)
        d1 += tl.sum(d.to(tl.float64), 0)
        d2 += tl.sum(square.to(tl.float64), 0)
        e1 += tl.sum(e.to(tl.float64), 0)
        e2 += tl.sum(flat.to(tl.float64), 0)
        de += tl.sum((d * e).to(tl.float64), 0)
    place = (dimension * tl.num_programs(1) + tl.program_id(1)) * tl.num_programs(0) + tl.program_id(0)
    to = out + place * 5
    tl.store(to, tl.sum(d1, 0))
    tl.store(to + 1, tl.sum(d2, 0))
    tl.store(to + 2, tl.sum(e1, 0))
    tl.store(to + 3, tl.sum(e2, 0))
    tl.store(to + 4, tl.sum(de, 0))
