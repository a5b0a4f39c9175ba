"""Rows whose score ``‖x‖² − 2 q·x`` for a query does not exceed its threshold, in no order."""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["m", "n", "columns", "width"])
def candidates(
    Q,
    X,
    norms,
    limits,
    counts,
    found,
    m,
    n,
    columns,
    width,
    ROOM: tl.constexpr,
    WHOLE: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    """``Q`` holds −2q (m, width). ``counts`` (m,) counts all of them, ``found`` (m, ROOM) holds those that fit."""
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    k = tl.arange(0, BK)
    slot = tl.arange(0, BN)
    there = r < m
    width = BK if WHOLE else tl.multiple_of(width, 64)
    start = r.to(tl.int64) * width
    limit = tl.load(limits + r, mask=there, other=float("-inf"))
    first = tl.program_id(1) * columns
    last = tl.minimum(first + columns, n)
    q = tl.load(Q + start[:, None] + k[None, :], mask=there[:, None], other=0.0)
    here = X + first.to(tl.int64) * width
    for tile in range(first, last, BN):
        c = tile + slot
        within = (c < last)[None, :]
        score = tl.zeros([BM, BN], tl.float32) + tl.load(norms + c, mask=c < last, other=float("inf"))[None, :]
        if WHOLE:
            x = tl.load(here + slot[None, :] * width + k[:, None], mask=within, other=0.0)
            score = tl.dot(q, x, score, input_precision="tf32x3")
        else:
            for b in range(0, width, BK):
                q = tl.load(Q + start[:, None] + b + k[None, :], mask=there[:, None], other=0.0)
                x = tl.load(here + b + slot[None, :] * width + k[:, None], mask=within, other=0.0)
                score = tl.dot(q, x, score, input_precision="tf32x3")
        hit = score <= limit[:, None]
        place = tl.atomic_add(counts + r[:, None] + tl.zeros([1, BN], tl.int32), 1, mask=hit, sem="relaxed")
        room = found + r[:, None] * ROOM + place
        tl.store(room, c[None, :] + tl.zeros([BM, 1], tl.int32), mask=hit & (place < ROOM))
        here += BN * width
