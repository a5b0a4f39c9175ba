"""Trust in the position of a new row: whether it lies among the training rows, and its neighbours together on the map.

The spacing of a row is the mean distance to its nearest training rows, its looseness that spacing over the mean spacing
of those rows: about 1 within the data at any density, large for a row outside them. The spread of a row is that of the
places of these neighbours on the map: large for a row between parts that the map puts apart. Trust is the share of
training rows whose worse share, of rows at least as loose or at least as spread, is no larger.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.relate.neighbor_places import spreads
from lowdim.work.dispatch import operation

NEAREST = 15  # neighbours used


class Familiar(NamedTuple):
    """Of training rows: spacings (n,), and in ascending order loosenesses, spreads and worse shares (n,)."""

    spacings: NDArray[np.float64]
    loose: NDArray[np.float64]
    spread: NDArray[np.float64]
    worse: NDArray[np.float64]


@operation
def familiar(indices: NDArray, distances: NDArray, places: NDArray) -> Familiar:
    """What trust needs of training rows: from the neighbours (n, k) of each, nearest first, and their places (n, d).

    >>> line = np.array([[1], [0], [1]]), np.array([[1.0], [1.0], [2.0]])
    >>> familiar(*line, np.array([[0.0], [1.0], [3.0]])).loose.round(3)
    array([1., 1., 2.])
    """
    spacings, near = _mean(distances), indices[:, :NEAREST]
    loose, spread = _looseness(indices, spacings, spacings), spreads(places, near)
    ascending = np.sort(loose), np.sort(spread)
    worse = np.minimum(_share(ascending[0], loose), _share(ascending[1], spread))
    return Familiar(spacings, *ascending, np.sort(worse))


def with_new(old: Familiar, indices: NDArray, distances: NDArray, places: NDArray) -> Familiar:
    """The same when rows are added, by the neighbours (m, k) of these; old rows keep what was measured of them.

    >>> line, places = (np.array([[1], [0], [1]]), np.array([[1.0], [1.0], [2.0]])), np.array([[0.0], [1.0], [3.0]])
    >>> old = familiar(*line, places)
    >>> with_new(old, np.array([[1]]), np.array([[0.5]]), np.concatenate([places, [[1.0]]])).spacings
    array([1. , 1. , 2. , 0.5])
    """
    near, spacings = indices[:, :NEAREST], np.concatenate([old.spacings, _mean(distances)])
    loose, spread = _looseness(indices, spacings[len(old.spacings) :], spacings), spreads(places, near)
    ascending = np.sort(np.concatenate([old.loose, loose])), np.sort(np.concatenate([old.spread, spread]))
    worse = np.minimum(_share(ascending[0], loose), _share(ascending[1], spread))
    return Familiar(spacings, *ascending, np.sort(np.concatenate([old.worse, worse])))


@operation(on=1)
def trust(of: Familiar, indices: NDArray, distances: NDArray, places: NDArray) -> NDArray[np.float64]:
    """Trust (m,) in new rows by their neighbours (m, k) among the training rows at ``places``, nearest first.

    >>> line, places = (np.array([[1], [0], [1]]), np.array([[1.0], [1.0], [2.0]])), np.array([[0.0], [1.0], [3.0]])
    >>> trust(familiar(*line, places), np.array([[1], [1]]), np.array([[1.5], [9.0]]), places)
    array([0.33333333, 0.        ])
    """
    loose = _looseness(indices, _mean(distances), of.spacings)
    spread = spreads(places, indices[:, :NEAREST])
    worse = np.minimum(_share(of.loose, loose), _share(of.spread, spread))
    return np.searchsorted(of.worse, worse * (1 + 1e-12), side="right") / len(of.worse)


def _share(ascending: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of ``ascending`` that is at least as large as each value."""
    return 1 - np.searchsorted(ascending, values * (1 - 1e-12)) / len(ascending)


def _mean(distances: NDArray) -> NDArray[np.float64]:
    return np.asarray(distances[:, :NEAREST].mean(axis=1, dtype=np.float64))


def _looseness(indices: NDArray, spacing: NDArray, each: NDArray) -> NDArray[np.float64]:
    theirs = each[indices[:, :NEAREST]].mean(axis=1)
    least = np.finfo(np.float32).eps * each.mean() or 1.0  # equal rows have none
    return (spacing + least) / (theirs + least)
