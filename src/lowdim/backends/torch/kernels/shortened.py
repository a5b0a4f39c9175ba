"""Lists of candidates cut to their smallest entries, and from these the thresholds of further candidates."""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["m", "few"])
def shorten(
    lists, given, counts, held, limits, lasts, m, few, ROOM: tl.constexpr, SORT: tl.constexpr, BR: tl.constexpr
):
    """Keep the ``few`` smallest entries of each of m lists, in order, and take the last as its threshold.

    A list with more candidates than fit keeps those ``held`` before, has ``counts`` of −1, and gets a threshold below
    which there are fewer. Entries are read from ``given``, where they are in order already without ``SORT``.
    """
    i = tl.program_id(0) * BR + tl.arange(0, BR)
    c = tl.arange(0, ROOM)
    count = tl.load(counts + i, mask=i < m, other=0)
    at = i.to(tl.int64)[:, None] * ROOM + c[None, :]
    keys = tl.load(given + at, mask=c[None, :] < count[:, None], other=0x7FFFFFFFFFFFFFFF)
    if SORT:
        keys = tl.sort(keys, 1)
    bound = tl.min(tl.where(c[None, :] == few - 1, keys, 0x7FFFFFFFFFFFFFFF), 1)
    fits = count <= ROOM
    tl.store(lists + at, keys, mask=(c[None, :] < few) & (fits & (i < m))[:, None])
    count = tl.minimum(count, few)
    tl.store(held + i, count, mask=fits & (i < m))
    tl.store(counts + i, tl.where(fits, count, -1), mask=i < m)
    bits = (bound >> 32).to(tl.int32)
    score = (bits ^ ((bits >> 31) & 0x7FFFFFFF)).to(tl.float32, bitcast=True)
    tl.store(limits + i, tl.where(bound == 0x7FFFFFFFFFFFFFFF, 3.0e38, score), mask=i < m)
    tl.store(lasts + i, (bound & 0x7FFFFFFF).to(tl.int32), mask=i < m)
