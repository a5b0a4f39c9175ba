"""Memberships ``v_j = exp(−max(0, d_j − ρ)/σ)`` of a row whose sum is given.

Newton's steps on log σ, kept inside a bracket that every step narrows; distances beyond ρ are divided by their mean.
"""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n", "k", "target", "typical"])
def memberships(D, rho, V, sigma, n, k, target, typical, BR: tl.constexpr, BK: tl.constexpr):
    """``V`` (n, k) and ``sigma`` (n,) for ascending distances ``D`` (n, k) and ``rho`` (n,) in float64."""
    r = tl.program_id(0) * BR + tl.arange(0, BR)
    c = tl.arange(0, BK)
    there = (r[:, None] < n) & (c[None, :] < k)
    at = r.to(tl.int64)[:, None] * k + c[None, :]
    start = tl.load(rho + r, mask=r < n, other=0.0)
    d = tl.load(D + at, mask=there, other=0.0).to(tl.float64)
    outside = there & (d > start[:, None])
    u = tl.where(outside, d - start[:, None], 0.0)
    count = tl.sum(outside.to(tl.float64), 1)
    mean = tl.sum(u, 1) / tl.maximum(count, 1.0)
    x = u / tl.where(mean > 0, mean, 1.0)[:, None]
    inside = k - count
    low = tl.full([BR], -60.0, tl.float64)
    high = tl.full([BR], 60.0, tl.float64)
    log_sigma = tl.zeros([BR], tl.float64)
    for _ in range(64):
        scaled = x / tl.exp(log_sigma)[:, None]
        e = tl.where(outside, tl.exp(-scaled), 0.0)
        above = inside + tl.sum(e, 1) - target
        slope = tl.sum(scaled * e, 1)
        done = tl.abs(above) < 1e-7
        high = tl.where((above > 0) & ~done, log_sigma, high)
        low = tl.where((above <= 0) & ~done, log_sigma, low)
        step = log_sigma - above / tl.maximum(slope, 1e-12)
        held = (slope > 1e-12) & (step > low) & (step < high)
        log_sigma = tl.where(done, log_sigma, tl.where(held, step, 0.5 * (low + high)))
    width = tl.where((count > 0) & (inside < target), mean * tl.exp(log_sigma), 0.0)
    least = 1e-3 * tl.where(start > 0, tl.sum(d, 1) / (k + 1), typical)
    width = tl.maximum(width, least)
    v = tl.where(outside, tl.exp(-u / tl.where(width > 0, width, 1.0)[:, None]), 1.0)
    v = tl.where(outside & (width <= 0)[:, None], 0.0, v)
    tl.store(V + at, tl.where(v > 1e-18, v, 0.0).to(tl.float32), mask=there)
    tl.store(sigma + r, width.to(tl.float32), mask=r < n)
