"""Whole numbers in floats: pixels that came as floats, or were divided by 255, are still multiplied as integers.

That is exact, and several times as fast where the processor multiplies bytes.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.work import thread_limit
from lowdim.work.blockwise import row_blocks

_MOST = 32_768  # features up to which squared distances of bytes fit in 32 bits
_UNITS = (255, 1)  # what pixels are divided by
_SAMPLE, _AT_ONCE = 64, 2**16  # rows that are looked at first, and values at a time


def whole_unit(X: NDArray) -> int | None:
    """Number whose multiples of ``X`` are whole and from 0 to 255, judged by a sample of the rows; None for none.

    Quotients count if they are rounded once, as a division in the precision of ``X`` does.

    >>> whole_unit(np.array([[0.0, 17.0]])), whole_unit(np.array([[17.0]]) / 255), whole_unit(np.array([[0.3]]))
    (1, 255, None)
    """
    if X.dtype not in (np.float32, np.float64) or not (X.dtype.isnative and X.flags.aligned):
        return None
    some = X[:: max(1, len(X) // _SAMPLE)]
    step = max(1, _AT_ONCE // max(1, X.shape[1]))
    blocks = [some[:1], *(some[i : i + step] for i in range(1, len(some), step))]  # one row tells most others
    with np.errstate(invalid="ignore", over="ignore"):
        return next((unit for unit in _UNITS if all(_are_whole(block, X.dtype.type(unit)) for block in blocks)), None)


def _are_whole(block: NDArray, unit: np.floating) -> bool:
    return bool((np.clip(np.rint(block * unit), 0, 255) / unit == block).all())


class Whole(NamedTuple):
    """Rows of bytes, and the number that the data are these divided by."""

    numbers: NDArray[np.uint8]
    unit: int


class Pixels(NamedTuple):
    """What rows of bytes stand for: the bytes divided by ``unit``, less ``shift`` where given, as ``dtype``."""

    unit: int
    shift: NDArray | None
    dtype: np.dtype

    def floats(self, numbers: NDArray[np.uint8]) -> NDArray:
        """These numbers, a new array.

        >>> Pixels(255, np.array([0.5]), np.dtype("float64")).floats(np.array([[255]], np.uint8))
        array([[0.5]])
        """
        X = np.divide(numbers, self.unit, dtype=self.dtype)
        return X if self.shift is None else np.subtract(X, self.shift, out=X)


def looks_whole(X: Any) -> bool:
    """Whether a sample of the rows says that :func:`whole_rows` takes them."""
    return not sp.issparse(X) and X.shape[1] <= _MOST and (X.dtype == np.uint8 or whole_unit(X) is not None)


def whole_rows(X: Any) -> Whole | None:
    """Dense rows as whole numbers from 0 to 255, if that is what they are, divided by a number or not.

    >>> whole_rows(np.array([[0.0, 3.0]]) / 255)
    Whole(numbers=array([[0, 3]], dtype=uint8), unit=255)
    """
    if sp.issparse(X) or X.shape[1] > _MOST:
        return None
    if X.dtype == np.uint8:
        return Whole(np.ascontiguousarray(X), 1)
    unit = whole_unit(X)
    if unit is None:
        return None
    numbers, n_threads = np.empty(X.shape, np.uint8), thread_limit.current()
    blocks = row_blocks(X, X.dtype)
    fit = all(_native.as_integers(block, unit, numbers[rows], n_threads=n_threads) for rows, block in blocks)
    return Whole(numbers, unit) if fit else None
