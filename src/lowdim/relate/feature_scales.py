"""Scales of features: whether a few of them would dominate every distance."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from lowdim.relate.moment_states import ColumnMoments, Moments

_ROWS, _VALUES = 1000, 2**20  # rows sampled, evenly spaced
_MANY = 16  # columns from which they can be pixels: 4 × 4
_FAR_APART = 100.0  # ratio of standard deviations that is reported
_CONSTANT = 1e-9  # standard deviation of a constant column as a share of its mean, from rounding


class Scales(NamedTuple):
    """Smallest and largest standard deviation of the columns that vary."""

    least: float
    largest: float

    @property
    def ratio(self) -> float:
        """Ratio of the largest to the smallest."""
        return self.largest / self.least


def scales(X: Any, M: Moments | ColumnMoments | None = None) -> Scales | None:
    """Scales of the columns of ``X``, by their moments or some of the rows; None unless they are far apart.

    Columns that share one unit are not, whatever their scales.

    >>> round(scales(np.array([[0.0, 0.0], [1.0, 500.0], [2.0, 1000.0]])).ratio, 6)
    500.0
    """
    with np.errstate(over="ignore", invalid="ignore"):  # validation reports NaN and infinity
        deviation, mean = _spread(_sample(X)) if M is None else (np.sqrt(M.variance), M.mean)
        moving = deviation[np.isfinite(deviation) & (deviation > _CONSTANT * np.abs(mean))]
    if not len(moving):
        return None
    found = Scales(float(moving.min()), float(moving.max()))
    return found if found.ratio > _FAR_APART and not one_unit(X) else None


def one_unit(X: Any) -> bool:
    """Whether all columns are measured in one unit: bytes, sparse counts, or pixels.

    Pixels are recognised as many columns of which most have the overall minimum and reach half of the overall maximum,
    though those at a border may hardly vary.

    >>> one_unit(np.random.default_rng(0).integers(17, size=(50, 64)))
    True
    """
    if sp.issparse(X) or X.dtype in (np.uint8, bool):
        return True
    some = _sample(X)
    low, high = np.fmin.reduce(some, axis=0), np.fmax.reduce(some, axis=0)  # gaps aside
    moving = np.isfinite(low) & np.isfinite(high) & (high > low)
    low, high = low[moving] / 2, high[moving] / 2  # halves, whose differences cannot overflow
    if len(low) < _MANY:
        return False
    bottom, top = low.min(), high.max()
    begin, reach = low <= bottom + 0.01 * (top - bottom), high >= (bottom + top) / 2
    return bool(2 * min(np.count_nonzero(begin), np.count_nonzero(reach)) > len(low))


def _spread(some: Any) -> tuple[Any, Any]:
    """Standard deviation and mean of each column."""
    return some.std(axis=0), some.mean(axis=0)


def _sample(X: Any) -> Any:
    rows = max(2, min(_ROWS, _VALUES // max(1, X.shape[1])))
    return np.asarray(X[:: max(1, -(-X.shape[0] // rows))], dtype=np.float64)
