"""Smallest scores of a sample of rows for each query, from which a threshold for its candidates is taken.

Score of row x for query q: ``‖x‖² − 2 q·x``, the squared distance minus ``‖q‖²``. The sample is divided among BN slots,
each of which keeps its smallest score.
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
    width = BK if WHOLE else tl.multiple_of(width, 64)
    start = r.to(tl.int64) * width
    least = tl.full([BM, BN], float("inf"), tl.float32)
    q = tl.load(Q + start[:, None] + k[None, :], mask=there[:, None], other=0.0)
    here = S
    for tile in range(tiles):
        score = tl.zeros([BM, BN], tl.float32) + tl.load(norms + tile * BN + slot)[None, :]
        if WHOLE:
            x = tl.load(here + slot[None, :] * width + k[:, None])
            score = tl.dot(q, x, score, input_precision="tf32x3")
        else:
            for b in range(0, width, BK):
                q = tl.load(Q + start[:, None] + b + k[None, :], mask=there[:, None], other=0.0)
                x = tl.load(here + b + slot[None, :] * width + k[:, None])
                score = tl.dot(q, x, score, input_precision="tf32x3")
        least = tl.minimum(least, score)
        here += BN * width
    tl.store(out + r.to(tl.int64)[:, None] * BN + slot[None, :], least, mask=there[:, None])
