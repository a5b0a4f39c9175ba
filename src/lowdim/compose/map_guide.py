"""What a network learns from a map: an order of its rows, and landmarks by which each position is described.

Medians split the map along its widest direction into halves, quarters and so on. Rows that follow each other in the
order of its leaves are near each other, and the means of larger cells are landmarks. A position is a mean of the
landmarks next to it, weighed by shares: what a network predicts of a row is which landmarks are near, not coordinates.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.relate.affinities import likelihoods
from lowdim.relate.neighbors import nearest

_MOST, _ROWS = 512, 4  # landmarks, and rows of the map for each
_NEAR, _PERPLEXITY = 8, 3.0  # landmarks that share in a row, and how many of them count
_LEAF = 4
_KEPT = 1e-3  # weight of the means beside the rows, where landmarks are fitted


class Guide(NamedTuple):
    """Order (n,) of the rows, landmarks (m, k), those near each row (n, near) and their shares in it (n, near)."""

    order: NDArray[np.int64]
    landmarks: NDArray[np.float32]
    near: NDArray[np.int32]
    shares: NDArray[np.float32]


def landmark_count(n: int) -> int:
    """Number of landmarks of a map of n rows: a power of two.

    >>> landmark_count(150), landmark_count(60_000)
    (32, 512)
    """
    return int(min(_MOST, max(2, 2 ** int(np.log2(max(1, n // _ROWS))))))


def guide(Y: NDArray[np.float32]) -> Guide:
    """The order, landmarks and shares of a map ``Y`` (n, k).

    >>> found = guide(np.arange(32, dtype=np.float32)[:, None])
    >>> found.landmarks.shape, float(abs((found.shares[:, :, None] * found.landmarks[found.near]).sum(1)[5, 0] - 5) < 1)
    ((8, 1), 1.0)
    """
    count = landmark_count(len(Y))
    order, means = _split(Y, count)
    near = nearest(means, min(_NEAR, count), Y)
    shares, _ = likelihoods(near.distances, [min(_PERPLEXITY, 0.75 * near.indices.shape[1])])
    return Guide(order, _fitted(means, near.indices, shares, Y), near.indices, shares)


def _split(Y: NDArray[np.float32], count: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Rows in the order of the leaves, and the means (count, k) of the cells of one level."""
    order, bounds = np.arange(len(Y)), np.array([0, len(Y)])
    means = np.empty((0, Y.shape[1]), np.float32)
    while True:
        sizes, found = np.diff(bounds), Y[order]
        if len(sizes) == count:
            means = (np.add.reduceat(found.astype(np.float64), bounds[:-1]) / sizes[:, None]).astype(np.float32)
        if len(sizes) >= count and sizes.max() <= _LEAF:
            return order, means
        cell = np.repeat(np.arange(len(sizes)), sizes)
        widths = np.maximum.reduceat(found, bounds[:-1]) - np.minimum.reduceat(found, bounds[:-1])
        values = found[np.arange(len(Y)), widths.argmax(1)[cell]]
        order = order[np.lexsort((order, values, cell))]
        middles = bounds[:-1] + sizes // 2
        bounds = np.unique(np.concatenate([bounds, middles]))


def _fitted(
    means: NDArray[np.float32], near: NDArray[np.int32], shares: NDArray[np.float32], Y: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Landmarks whose means by ``shares`` are nearest to ``Y``, by least squares beside the given means."""
    import scipy.sparse as sp

    n, width = near.shape
    T = sp.csr_array((shares.ravel().astype(np.float64), near.ravel(), np.arange(n + 1) * width), (n, len(means)))
    A, kept = (T.T @ T).toarray(), _KEPT * n / len(means)
    A[np.diag_indices(len(A))] += kept
    return np.linalg.solve(A, T.T @ Y.astype(np.float64) + kept * means).astype(np.float32)
