"""Least scores of a sample of rows for each query, from which a threshold for its candidates is taken.

Score of row x for query q: ``‖x‖² − 2 q·x``, the squared distance less ``‖q‖²``. The sample is dealt to BN slots, each
of which keeps its least score.
"""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["m", "tiles", "width"])
def least_scores(
    Q, S, norms, out, m, tiles, width, WHOLE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """``Q`` holds −2q (m, width), ``S`` the sample (tiles·BN, width), ``norms`` its squared norms, ``out`` (m, BN)."""
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    k = tl.arange(0, BK)
    slot = tl.arange(0, BN)
    there = r < m
    start = r.to(tl.int64) * width
    least = tl.full([BM, BN], float("inf"), tl.float32)
    q = tl.load(Q + start[:, None] + k[None, :], mask=there[:, None], other=0.0)
    for tile in range(tiles):
        c = tile * BN + slot
        column = c.to(tl.int64) * width
        score = tl.zeros([BM, BN], tl.float32) + tl.load(norms + c)[None, :]
        if WHOLE:
            score = tl.dot(q, tl.load(S + column[None, :] + k[:, None]), score, input_precision="tf32x3")
        else:
            for b in range(0, width, BK):
                q = tl.load(Q + start[:, None] + b + k[None, :], mask=there[:, None], other=0.0)
                score = tl.dot(q, tl.load(S + column[None, :] + b + k[:, None]), score, input_precision="tf32x3")
        least = tl.minimum(least, score)
    tl.store(out + r.to(tl.int64)[:, None] * BN + slot[None, :], least, mask=there[:, None])
