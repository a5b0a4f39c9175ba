"""Sparse rows in another order of the points, each entry one number: the position of the other point, and its weight.

In 32 bits 17 are the index and 15 those of the weight in half precision, scaled; in 64 bits the weight is in float32.
"""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["scale"])
def pack(
    indptr, indices, values, starts, order, place, out, scale, WIDE: tl.constexpr, B: tl.constexpr, SORT: tl.constexpr
):
    """Row i of ``out`` is row ``order[i]`` of the sparse rows; row j is at ``place[j]``. Sorted in pieces."""
    i = tl.program_id(0)
    row = tl.load(order + i)
    first = tl.load(indptr + row)
    size = (tl.load(indptr + row + 1) - first).to(tl.int32)
    to = tl.load(starts + i)
    for at in range(0, size, B):
        c = at + tl.arange(0, B)
        j = tl.load(indices + first + c, mask=c < size, other=0)
        j = tl.load(place + j, mask=c < size, other=0)
        value = tl.load(values + first + c, mask=c < size, other=0.0) * scale
        if WIDE:
            entry = (j.to(tl.int64) << 32) | value.to(tl.int32, bitcast=True).to(tl.int64)
            last = 0x7FFFFFFFFFFFFFFF
        else:
            entry = (j << 15) | value.to(tl.float16).to(tl.int16, bitcast=True).to(tl.int32)
            last = 0x7FFFFFFF
        if SORT:
            entry = tl.sort(tl.where(c < size, entry, last))
        tl.store(out + to + c, entry, mask=c < size)
