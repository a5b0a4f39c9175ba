"""The cubic B-spline: weights of the four nodes about a point at ``t`` in its cell, and their slopes."""

import triton
import triton.language as tl


@triton.jit
def cell(x, origin, inverse, nodes):
    """First of the four nodes about ``x``, its position in the cell, and whether it is outside the grid."""
    g = (x - origin) * inverse
    inside = (g >= 1.0) & (g < (nodes - 3).to(tl.float32))  # false for NaN
    g = tl.where(inside, g, 1.0)
    f = tl.floor(g)
    return f.to(tl.int32) - 1, g - f, ~inside


@triton.jit
def weight_at(x):
    """Centred spline at ``x``."""
    x = tl.abs(x)
    u = tl.maximum(2.0 - x, 0.0)
    return tl.where(x < 1.0, 2.0 / 3.0 - x * x * (1.0 - 0.5 * x), u * u * u * (1.0 / 6.0))


@triton.jit
def weight(t, L: tl.constexpr):
    """Weight of node ``L``."""
    u = 1.0 - t
    if L == 0:
        return u * u * u * (1.0 / 6.0)
    elif L == 1:
        return 2.0 / 3.0 - t * t * (1.0 - 0.5 * t)
    elif L == 2:
        return 2.0 / 3.0 - u * u * (1.0 - 0.5 * u)
    else:
        return t * t * t * (1.0 / 6.0)


@triton.jit
def slope(t, L: tl.constexpr):
    """Derivative of that weight."""
    u = 1.0 - t
    if L == 0:
        return -0.5 * u * u
    elif L == 1:
        return t * (1.5 * t - 2.0)
    elif L == 2:
        return u * (2.0 - 1.5 * u)
    else:
        return 0.5 * t * t
