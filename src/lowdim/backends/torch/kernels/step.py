"""One step of the descent: gains that grow where the gradient keeps its direction (Jacobs 1988), momentum, a limit."""

import triton
import triton.language as tl

from lowdim import _native

_UP, _DOWN = tl.constexpr(_native.GAIN_UP), tl.constexpr(_native.GAIN_DOWN)
_LEAST = tl.constexpr(_native.LEAST_GAIN)


@triton.jit(do_not_specialize=["n", "dimensions"])
def step(
    Y,
    velocity,
    gains,
    pull,
    push,
    total,
    plan,
    anchors,
    weights,
    scale,
    n,
    dimensions,
    DRAWN: tl.constexpr,
    B: tl.constexpr,
    BD: tl.constexpr,
):
    """Move ``Y`` (n, dimensions). ``plan`` holds rate, momentum, factor on attraction and longest step; ``total`` Z.

    ``DRAWN`` points have ``anchors`` (n, dimensions) and ``weights`` (n,), infinite of those that do not move, times
    the two numbers at ``scale``; forces are a quarter of the gradients.
    """
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.arange(0, BD)
    there = (i < n)[:, None] & (a < dimensions)[None, :]
    at = i[:, None] * dimensions + a[None, :]
    rate = tl.load(plan)
    momentum = tl.load(plan + 1)
    factor = tl.load(plan + 2)
    longest = tl.load(plan + 3)
    share = (1.0 / tl.maximum(tl.load(total), 1e-30)).to(tl.float32)
    g = factor * tl.load(pull + at, mask=there, other=0.0) - share * tl.load(push + at, mask=there, other=0.0)
    v = tl.load(velocity + at, mask=there, other=0.0)
    y = tl.load(Y + at, mask=there, other=0.0)
    if DRAWN:
        w = tl.load(weights + i, mask=i < n, other=0.0)
        free = w < float("inf")
        c = tl.where(free, 0.5 * tl.load(scale + 1) * w, 0.0)[:, None]
        g += c * (y - tl.load(scale) * tl.load(anchors + at, mask=there, other=0.0))
    gain = tl.load(gains + at, mask=there, other=1.0)
    gain = tl.maximum(tl.where((g > 0) != (v > 0), gain + _UP, gain * _DOWN), _LEAST)
    v = momentum * v - rate * gain * g
    if DRAWN:
        v = tl.where(free[:, None], v / (1.0 + rate * gain * c), 0.0)
    length = tl.sqrt(tl.sum(v * v, 1))
    v = v * tl.where(length > longest, longest / tl.maximum(length, 1e-30), 1.0)[:, None]
    tl.store(gains + at, gain, mask=there)
    tl.store(velocity + at, v, mask=there)
    tl.store(Y + at, y + v, mask=there)
