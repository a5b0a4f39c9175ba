"""Probabilities ``p_j ∝ exp(−β (d_j² − d_0²))`` of a row whose entropy is given.

Newton's steps on log β, kept inside a bracket that every step narrows; the squared distances are divided by their mean.
"""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n", "k", "target", "share"])
def perplexity(D, P, n, k, target, share, BR: tl.constexpr, BK: tl.constexpr):
    """Add ``share`` times the probabilities (n, k) for ascending distances ``D`` (n, k) to ``P``."""
    r = tl.program_id(0) * BR + tl.arange(0, BR)
    c = tl.arange(0, BK)
    there = (r[:, None] < n) & (c[None, :] < k)
    at = r.to(tl.int64)[:, None] * k + c[None, :]
    nearest = tl.load(D + r.to(tl.int64) * k, mask=r < n, other=0.0).to(tl.float64)
    d = tl.load(D + at, mask=there, other=0.0).to(tl.float64)
    d = tl.where(there, (d - nearest[:, None]) * (d + nearest[:, None]), 0.0)
    mean = tl.sum(d, 1) / k
    d = (d / tl.where(mean > 0, mean, 1.0)[:, None]).to(tl.float32)
    low = tl.full([BR], -40.0, tl.float32)
    high = tl.full([BR], 40.0, tl.float32)
    log_beta = tl.zeros([BR], tl.float32)
    for _ in range(40):
        beta = tl.exp(log_beta)
        e = tl.where(there, tl.exp(-beta[:, None] * d), 0.0)
        s0 = tl.maximum(tl.sum(e, 1), 1e-30)
        s1 = tl.sum(e * d, 1) / s0
        s2 = tl.sum(e * d * d, 1) / s0
        above = tl.log(s0) + beta * s1 - target
        done = tl.abs(above) < 1e-5
        low = tl.where((above > 0) & ~done, log_beta, low)
        high = tl.where((above <= 0) & ~done, log_beta, high)
        slope = beta * beta * tl.maximum(s2 - s1 * s1, 0.0)
        step = log_beta + above / tl.maximum(slope, 1e-12)
        inside = (slope > 1e-12) & (step > low) & (step < high)
        log_beta = tl.where(done, log_beta, tl.where(inside, step, 0.5 * (low + high)))
    e = tl.where(there, tl.exp(-tl.exp(log_beta)[:, None] * d), 0.0)
    e = tl.where(e > 1e-18, e, 0.0)
    p = share * e / tl.maximum(tl.sum(e, 1), 1e-30)[:, None]
    tl.store(P + at, tl.load(P + at, mask=there, other=0.0) + p, mask=there)
