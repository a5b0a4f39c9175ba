"""Neighbours of new rows among old ones and each other."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from lowdim import _native
from lowdim.compose import layout
from lowdim.relate.neighbors import Neighbors, nearest
from lowdim.relate.pairwise import pairwise
from lowdim.work import thread_limit
from lowdim.work.backend_arrays import is_native, moved_to, to_numpy
from lowdim.work.random import stream

_AXES = 64  # principal axes of an approximate search
_SAMPLED = 2000  # rows that give them
_MANY = 2e9  # multiplications of an exact search from which it is used
_MORE = 20  # rows, beside a quarter more than are wanted, that are compared by all columns
_ASKED = 100  # new rows for which its recall is measured


def nearest_to_new(X: Any, first: int, k: int, metric: Any, how: str, seed: int) -> Neighbors:
    """The ``k`` nearest rows (m, k) of ``X`` to each from the row ``first`` on, but itself; X may be distances.

    Many rows of many columns are compared along 64 principal axes if ``how`` is "auto", the nearest by all columns.

    >>> nearest_to_new(np.array([[0.0], [1.0], [3.0]]), 2, 2, "euclidean", "auto", 0).indices
    array([[1, 0]], dtype=int32)
    """
    if metric == "precomputed" and sp.issparse(X):
        found = nearest(X, k, None, metric, how, seed)
        return Neighbors(found.indices[first:], found.distances[first:], found.how)
    many = is_native(X) and not sp.issparse(X) and float(X.shape[0] - first) * X.shape[0] * X.shape[1] > _MANY
    if how == "auto" and metric == "euclidean" and many and X.shape[1] > 2 * _AXES and 2 * (k + _MORE) < X.shape[0]:
        return _along_axes(X, first, k, seed)
    return _without_itself(nearest(X, k + 1, X[first:], metric, how, seed), first)


def _without_itself(found: Neighbors, first: int) -> Neighbors:
    """Neighbours (m, k) of the rows from ``first`` on, of k + 1 found with the row itself among them."""
    indices, distances = to_numpy(found.indices), to_numpy(found.distances)
    rows = first + np.arange(len(indices))[:, None]
    # The row itself goes last; one with many duplicates may not be among the k + 1, and loses the last.
    kept = np.argsort(indices == rows, axis=1, kind="stable")[:, :-1]
    indices, distances = (np.ascontiguousarray(np.take_along_axis(A, kept, axis=1)) for A in (indices, distances))
    like = found.indices
    return Neighbors(moved_to(indices, like), moved_to(distances, like), found.how, found.recall)


def _along_axes(X: Any, first: int, k: int, seed: int) -> Neighbors:
    """Approximate neighbours: the nearest along some principal axes are compared by all columns."""
    n = X.shape[0]
    sample = np.sort(stream(seed, "axes of new rows").permutation(n)[:_SAMPLED])
    Z = layout.scores(X, layout.principal_axes(X[sample], _AXES, seed)).astype(np.float32)
    wanted = k + k // 4 + _MORE
    candidates = _without_itself(nearest(Z, wanted + 1, Z[first:], "euclidean", "exact", seed), first)
    rows = np.arange(first, n)
    squares = _native.squared_distances(X, candidates.indices, rows=rows, n_threads=thread_limit.current())
    columns, squares = _native.smallest(squares, k, n_threads=thread_limit.current())
    indices = np.take_along_axis(candidates.indices, columns, axis=1)
    asked = np.sort(stream(seed, "recall of new rows").permutation(n - first)[:_ASKED])
    D = pairwise(X, "euclidean", X[first + asked])
    exact, _ = _native.smallest(D, k, skip=(first + asked).astype(np.int32), n_threads=thread_limit.current())
    right = sum(len(np.intersect1d(indices[i], true)) for i, true in zip(asked, exact, strict=True))
    return Neighbors(indices, np.sqrt(squares).astype(np.float32), "approximate", right / (len(asked) * k))
