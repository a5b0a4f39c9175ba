"""Rows that may be among the nearest of each query: products of tiles of rows, a threshold, and what is below it.

The score of row x for query q is ``scale_x q·x + add_x``. A candidate is one number, which sorts by (score, index): the
bits of the score in the order of its values, then the index of the row.
"""

import triton
import triton.language as tl


@triton.jit
def half_of(scores):
    """The upper half of a candidate's number."""
    bits = scores.to(tl.int32, bitcast=True)
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)


@triton.jit
def append(scores, limits, lasts, own, others, ids, at, counts, lists, ROOM: tl.constexpr, AXIS: tl.constexpr):
    """Append scores with their indices to the lists ``at``, of each list one after another along ``AXIS``.

    ``limits``, ``lasts`` and the indices of the lists' ``own`` rows and of the ``others`` fit the shape of the scores;
    ``ids`` points to the indices along the axis.
    """
    hit = (scores < limits) | ((scores == limits) & (others <= lasts))
    left = tl.where(hit & (own != others) & (others >= 0), scores, float("inf"))
    slot = tl.expand_dims(tl.arange(0, scores.shape[AXIS]), 1 - AXIS)
    while tl.min(tl.min(left, 1), 0) < float("inf"):
        least, first = tl.min(left, AXIS, return_indices=True)
        there = least < float("inf")
        place = tl.atomic_add(counts + at, 1, mask=there, sem="relaxed")
        to = lists + (at.to(tl.int64) * ROOM + place) * 2
        kept = there & (place < ROOM)
        tl.store(to, tl.load(ids + first, mask=there, other=0), mask=kept)
        tl.store(to + 1, half_of(least), mask=kept)
        left = tl.where(slot == tl.expand_dims(first, AXIS), float("inf"), left)


@triton.jit
def scan(
    tiles,
    Q,
    q_scale,
    q_add,
    q_ids,
    X,
    x_scale,
    x_add,
    x_ids,
    limits,
    lasts,
    counts,
    lists,
    WIDTH: tl.constexpr,
    ROOM: tl.constexpr,
    BOTH: tl.constexpr,
    FIRST: tl.constexpr,
    TILE: tl.constexpr,
    BK: tl.constexpr,
):
    """Compare the pairs ``tiles`` (count, 2) of tiles of queries and of rows, of WIDTH columns, a multiple of BK.

    Candidates score less than ``limits``, or as much with an index up to ``lasts``. ``counts`` counts them, ``lists``
    (m, ROOM) holds those that fit, as pairs of int32 (a number's lower half and its upper). With ``BOTH``, queries and
    rows are the same, and each pair of tiles serves the rows of both. The ``FIRST`` tile of each query fills its list.
    """
    pair = tiles + tl.program_id(0).to(tl.int64) * 2
    a = tl.load(pair)
    b = tl.load(pair + 1)
    ra = a * TILE + tl.arange(0, TILE)
    rb = b * TILE + tl.arange(0, TILE)
    k = tl.arange(0, BK)
    q = Q + ra.to(tl.int64)[:, None] * WIDTH + k[None, :]
    x = X + rb.to(tl.int64)[None, :] * WIDTH + k[:, None]
    dots = tl.zeros([TILE, TILE], tl.float32)
    for _ in range(0, WIDTH, BK):
        dots = tl.dot(tl.load(q), tl.load(x), dots)
        q += BK
        x += BK
    id_a = tl.load(q_ids + ra)[:, None]
    id_b = tl.load(x_ids + rb)[None, :]
    scores = dots * tl.load(x_scale + rb)[None, :] + tl.load(x_add + rb)[None, :]
    if FIRST:
        there = (id_a != id_b) & (id_b >= 0)
        to = lists + (ra.to(tl.int64)[:, None] * ROOM + tl.arange(0, TILE)[None, :]) * 2
        tl.store(to, tl.where(there, id_b, -1))
        tl.store(to + 1, tl.where(there, half_of(scores), 0x7FFFFFFF))
        tl.store(counts + ra, tl.zeros([TILE], tl.int32) + TILE)
    else:
        limit = tl.load(limits + ra)[:, None]
        if tl.max(tl.max((scores <= limit).to(tl.int32), 1), 0) > 0:
            last = tl.load(lasts + ra)[:, None]
            append(scores, limit, last, id_a, id_b, x_ids + b * TILE, ra, counts, lists, ROOM, 1)
        if BOTH:  # noqa: SIM102  # of which Triton decides the first when it compiles
            if a != b:
                others = dots * tl.load(q_scale + ra)[:, None] + tl.load(q_add + ra)[:, None]
                reach = tl.load(limits + rb)[None, :]
                if tl.max(tl.max((others <= reach).to(tl.int32), 1), 0) > 0:
                    bound = tl.load(lasts + rb)[None, :]
                    append(others, reach, bound, id_b, id_a, q_ids + a * TILE, rb, counts, lists, ROOM, 0)
