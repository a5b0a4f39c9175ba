"""Where the data neighbours of rows lie on a map, and whether its neighbours belong to the same region of the data.

``near`` (n, k) are the neighbours of each row in the data, ``there`` (n, m) those on the map.
"""

import numpy as np
from numpy.typing import NDArray

from lowdim.work.dispatch import operation

_BLOCK_BYTES = 2**24
_DIRECTIONS_AT_ONCE = 32


@operation
def spreads(places: NDArray, near: NDArray) -> NDArray[np.float64]:
    """Mean distance (m,) of the places (n, d) of the neighbours (m, k) of each row from their median place.

    Places that are NaN are left out; a row all of whose neighbours are has NaN.

    >>> spreads(np.array([[0.0], [1.0], [5.0], [np.nan]]), np.array([[0, 1, 2, 3]]))
    array([1.66666667])
    """
    m, k = near.shape
    out = np.empty(m)
    columns = [np.ascontiguousarray(column) for column in places.T]
    step = max(1, _BLOCK_BYTES // (8 * k * len(columns)))
    for start in range(0, m, step):
        rows = near[start : start + step]
        count = np.isfinite(columns[0][rows]).sum(axis=1)
        middle = np.maximum(np.stack([count - 1, count], axis=1) // 2, 0)
        squares = np.zeros(rows.shape)
        for column in columns:
            there = column[rows]
            P = np.sort(there, axis=1)  # NaN last
            ends = P[:, middle[0]] if (count == k).all() else np.take_along_axis(P, middle, axis=1)
            squares += np.square(there - ends.mean(axis=1, dtype=np.float64)[:, None])
        with np.errstate(invalid="ignore"):
            out[start : start + step] = np.nansum(np.sqrt(squares), axis=1) / np.where(count, count, np.nan)
    return out


@operation
def common_share(first: NDArray, second: NDArray) -> NDArray[np.float64]:
    """Share (n,) of the distinct entries of each row of ``first`` (n, k) that are in that row of ``second`` (n, m).

    >>> common_share(np.array([[1, 2], [3, 4]]), np.array([[2, 5, 1], [5, 3, 0]]))
    array([1. , 0.5])
    """
    inside = np.zeros(first.shape, bool)
    for column in second.T:
        inside |= first == column[:, None]
    return inside.mean(axis=1)


@operation
def region_overlap(near: NDArray, there: NDArray, directions: NDArray[np.float32]) -> NDArray[np.float64]:
    """Cosine (n,) between the neighbours of a row's data neighbours and those of its map neighbours.

    Row i of ``W`` is 1/k at its data neighbours; the mean rows of ``W`` over ``near`` and over ``there`` are compared
    after projection onto random ``directions`` (n, r), which keeps cosines up to about ``1/√r``.

    >>> ring = np.array([[1], [0], [3], [2]])
    >>> region_overlap(ring, np.array([[1], [0], [0], [1]]), np.eye(4, dtype=np.float32))
    array([1., 1., 0., 0.])
    """
    products, ours_square, theirs_square = np.zeros((3, len(near)))
    for start in range(0, directions.shape[1], _DIRECTIONS_AT_ONCE):
        regions = _mean_rows(directions[:, start : start + _DIRECTIONS_AT_ONCE], near)
        ours, theirs = _mean_rows(regions, near), _mean_rows(regions, there)
        products += np.einsum("ij,ij->i", ours, theirs, dtype=np.float64)
        ours_square += np.einsum("ij,ij->i", ours, ours, dtype=np.float64)
        theirs_square += np.einsum("ij,ij->i", theirs, theirs, dtype=np.float64)
    lengths = np.sqrt(ours_square * theirs_square)
    return np.divide(products, lengths, out=np.zeros(len(near)), where=lengths > 0)


def _mean_rows(values: NDArray[np.float32], near: NDArray) -> NDArray[np.float32]:
    """Mean of the rows of ``values`` (n, r) over the neighbours (n, k) of each row."""
    total = values[near[:, 0]]
    for column in near.T[1:]:
        total += values[column]
    return np.asarray(total / np.float32(near.shape[1]), np.float32)
