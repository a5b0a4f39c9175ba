"""Points of a map on a line or in the plane, loaded whole: one float32, or two as one number of 64 bits."""

import triton
import triton.language as tl


@triton.jit
def point(Y, i, mask, DIM: tl.constexpr):
    """Coordinates x and y of the points ``i``; y is 0 on a line. ``Y`` is float32 there, int64 in the plane."""
    if DIM == 2:
        both = tl.load(Y + i, mask=mask, other=0)
        x = (both & 0xFFFFFFFF).to(tl.int32).to(tl.float32, bitcast=True)
        y = (both >> 32).to(tl.int32).to(tl.float32, bitcast=True)
    else:
        x = tl.load(Y + i, mask=mask, other=0.0)
        y = tl.zeros(x.shape, tl.float32)
    return x, y
