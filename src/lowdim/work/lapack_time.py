"""Estimated time of dense linear algebra, from the speed of a small matrix product."""

from functools import cache
from time import perf_counter

import numpy as np

from lowdim.work import thread_limit

_SIDE = 400  # of the matrices that are multiplied
_WORTH = 1e11  # operations from which an estimate is worth its milliseconds


def seconds(flops: float) -> float:
    """Seconds that ``flops`` operations take at the speed of a matrix product; 0 for negligible times.

    >>> seconds(1e6)
    0.0
    """
    return flops / _speed(thread_limit.current()) if flops > _WORTH else 0.0


@cache
def _speed(n_threads: int) -> float:
    """Operations per second with so many threads."""
    A, times = np.ones((_SIDE, _SIDE)), []
    with thread_limit.using(n_threads):
        for _ in range(3):
            start = perf_counter()
            np.matmul(A, A)
            times.append(perf_counter() - start)
    return 2 * _SIDE**3 / min(times)


def human(time: float) -> str:
    """Time in a readable unit.

    >>> human(8), human(100), human(4000)
    ('8 s', '2 min', '1.1 h')
    """
    if time < 60:
        return f"{time:.0f} s"
    return f"{time / 60:.0f} min" if time < 3600 else f"{time / 3600:.1f} h"
