"""Trust in the position of a new row: distances to its neighbours compared with those among training rows.

The spacing of a row is the mean distance to its nearest training rows, its looseness that spacing over the mean spacing
of those rows: about 1 within the data at any density, large for a row outside them. A row's trust is
the share of training rows that are at least as loose.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.work.dispatch import operation

NEAREST = 15  # neighbours used


class Spacings(NamedTuple):
    """Of training rows: their spacings (n,), and their loosenesses (n,) in ascending order."""

    each: NDArray[np.float64]
    loose: NDArray[np.float64]


@operation
def spacings(indices: NDArray, distances: NDArray) -> Spacings:
    """Spacings of training rows by the neighbours (n, k) of each, nearest first.

    >>> line = np.array([[1], [0], [1]]), np.array([[1.0], [1.0], [2.0]])
    >>> spacings(*line).loose.round(3)
    array([1., 1., 2.])
    """
    each = _mean(distances)
    return Spacings(each, np.sort(_looseness(indices, each, each)))


@operation(on=1)
def trust(of: Spacings, indices: NDArray, distances: NDArray) -> NDArray[np.float64]:
    """Trust (m,) in new rows by their neighbours (m, k) among the training rows, nearest first.

    >>> line = np.array([[1], [0], [1]]), np.array([[1.0], [1.0], [2.0]])
    >>> trust(spacings(*line), np.array([[1], [1]]), np.array([[1.5], [9.0]]))
    array([0.33333333, 0.        ])
    """
    new = _looseness(indices, _mean(distances), of.each)
    return 1 - np.searchsorted(of.loose, new * (1 - 1e-12)) / len(of.loose)


def _mean(distances: NDArray) -> NDArray[np.float64]:
    return np.asarray(distances[:, :NEAREST].mean(axis=1, dtype=np.float64))


def _looseness(indices: NDArray, spacing: NDArray, each: NDArray) -> NDArray[np.float64]:
    theirs = each[indices[:, :NEAREST]].mean(axis=1)
    least = np.finfo(np.float32).eps * each.mean() or 1.0  # equal rows have none
    return (spacing + least) / (theirs + least)
