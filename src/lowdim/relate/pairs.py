"""The pairs of rows that PaCMAP uses: near, of middle distance, and further apart (Wang et al. 2021)."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.relate.metrics import kind_of
from lowdim.relate.neighbors import as_euclidean
from lowdim.relate.row_norms import squared_norms
from lowdim.work import thread_limit
from lowdim.work.blockwise import float_dtype
from lowdim.work.dispatch import operation
from lowdim.work.progress import stage
from lowdim.work.random import stream

SCALE = slice(3, 6)  # the neighbours whose mean distance is the scale of a row
_CANDIDATES = 6  # random rows of which the second nearest is of middle distance
_BLOCK = 8192  # rows per block, each with its own random stream
LEAST = 1e-10  # scale of a row among duplicates
RING = 100_000  # rows from which further pairs form a ring, since random access to so many rows is slow

Indices = NDArray[np.int32]


class Further(NamedTuple):
    """Further pairs: some partners of each row (n, f), and those of a ring.

    The ring is a random ``order`` (n,) of the rows; each of the ``shifts`` (s,) pairs every row with the one so many
    positions later, except for the ``excluded`` pairs (e, 2), which are near. Sums over a ring read memory
    sequentially.
    """

    partners: Indices
    order: Indices
    shifts: Indices
    excluded: Indices


class Pairs(NamedTuple):
    """Partners of each row: near (n, k), of middle distance (n, m), and further ones as :class:`Further` has them."""

    near: Indices
    mid: Indices
    further: Indices
    order: Indices
    shifts: Indices
    excluded: Indices


@operation
def scales(distances: NDArray[np.floating]) -> NDArray[np.float64]:
    """Mean distance (n,) of the fourth to sixth neighbour at ascending ``distances`` (n, k), or of the last ones.

    >>> scales(np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 9.0]]))
    array([5.])
    """
    return np.maximum(scale_columns(distances).mean(axis=1, dtype=np.float64), LEAST)


def scale_columns(distances: Any) -> Any:
    """The distances whose mean is the scale of a row."""
    return distances[:, SCALE] if distances.shape[1] > SCALE.start else distances[:, -1:]


@operation
def nearest_by_scale(
    indices: Indices, distances: NDArray[np.floating], own: NDArray[np.float64], theirs: NDArray[np.float64], k: int
) -> Indices:
    """Columns (m, k) of the neighbours (m, c) with the smallest ``d²`` over the scales of both rows.

    >>> near, d = np.array([[0, 1]], np.int32), np.array([[1.0, 1.5]])
    >>> nearest_by_scale(near, d, np.ones(1), np.array([1.0, 4.0]), 1)
    array([[1]], dtype=int32)
    """
    precise = distances.dtype.type
    scaled = distances / own.astype(precise)[:, None]
    scaled *= scaled
    scaled *= own.astype(precise)[:, None] / theirs.astype(precise)[indices]
    columns, _ = _native.smallest(np.ascontiguousarray(scaled), k, n_threads=thread_limit.current())
    return columns


@operation
def at_columns(indices: Indices, columns: Indices) -> Indices:
    """Entries (m, k) of ``indices`` (m, c) at these columns of each row."""
    return np.take_along_axis(indices, columns, axis=1)


@operation
def chosen(columns: Indices, width: int) -> NDArray[np.float32]:
    """Weights (m, width) that are 1 at these columns (m, k) of each row, 0 elsewhere.

    >>> chosen(np.array([[2]], np.int32), 3)
    array([[0., 0., 1.]], dtype=float32)
    """
    p = np.zeros((len(columns), width), np.float32)
    np.put_along_axis(p, columns, 1.0, axis=1)
    return p


def candidates(n: int, each: int, seed: int) -> Iterator[tuple[NDArray[np.int64], Indices]]:
    """Yield (rows, random other rows (m, 6 each) for each of them), some rows at a time."""
    few = min(_CANDIDATES, n - 1)
    for block, start in enumerate(range(0, n if each else 0, _BLOCK)):
        rows = np.arange(start, min(n, start + _BLOCK))
        others = stream(seed, "mid-near", block).integers(n - 1, size=(len(rows), each * few), dtype=np.int32)
        others += others >= rows[:, None]
        yield rows, others


@operation
def draw_mid(X: Any, each: int, metric: str, seed: int) -> Indices:
    """Partners (n, each) of middle distance: the second nearest of six random rows."""
    n = X.shape[0]
    mid = np.empty((n, each), np.int32)
    if kind_of(metric).apart is None and not sp.issparse(X):
        X, _, _ = as_euclidean(X, None, metric)  # distances in the same order
        metric = "euclidean"
    with stage("pairs", total=n) as tick:
        for rows, others in candidates(n, each, seed):
            few = others.shape[1] // each
            apart = _distances(X, rows, others, metric).reshape(len(rows) * each, few)
            two, _ = _native.smallest(np.ascontiguousarray(apart), min(2, few), n_threads=thread_limit.current())
            second = two[:, -1]
            mid[rows] = others.reshape(-1, few)[np.arange(len(second)), second].reshape(len(rows), each)
            tick(int(rows[-1]) + 1)
    return mid


@operation
def draw_further(near: Indices, each: int, seed: int) -> Further:
    """Further pairs, ``each`` per row, at random among the rows that are not ``near`` (n, k).

    With few rows, each draws its own partners, none where all others are near. Many rows share a ring, from which the
    near pairs are excluded.
    """
    n, k = near.shape
    if n >= RING:
        return _ring(near, each, seed)
    each = each if n - 1 > k else 0
    further = np.empty((n, each), np.int32)
    for block, start in enumerate(range(0, n if each else 0, _BLOCK)):
        rows = np.arange(start, min(n, start + _BLOCK), dtype=np.int32)
        drawn = stream(seed, "further", block).integers(n - 1 - k, size=(len(rows), each), dtype=np.int32)
        # Numbers index the rows that remain: each excluded row shifts those after it by one.
        for out in np.sort(np.column_stack([near[rows], rows]), axis=1).T:
            drawn += drawn >= out[:, None]
        further[rows] = drawn
    return Further(further, np.arange(n, dtype=np.int32), np.empty(0, np.int32), np.empty((0, 2), np.int32))


def ring(n: int, each: int, seed: int) -> tuple[Indices, Indices]:
    """Random order (n,) of the rows, and shifts (each,) that make pairs of them."""
    numbers = stream(seed, "further")
    order = numbers.permutation(n).astype(np.int32)
    return order, 1 + numbers.choice((n - 1) // 2, min(each, (n - 1) // 2), replace=False).astype(np.int32)


def _ring(near: Indices, each: int, seed: int) -> Further:
    n = len(near)
    order, shifts = ring(n, each, seed)
    place = np.empty(n, np.int32)
    place[order] = np.arange(n, dtype=np.int32)
    paired = np.zeros(n, bool)
    paired[shifts] = paired[-shifts] = True
    rows, columns = np.nonzero(paired[(place[near] - place[:, None]) % n])
    both = np.sort(np.column_stack([rows.astype(np.int32), near[rows, columns]]), axis=1)
    excluded = np.unique(both, axis=0) if len(both) else both
    return Further(np.empty((n, 0), np.int32), order, shifts, np.ascontiguousarray(excluded, dtype=np.int32))


def _distances(X: Any, rows: NDArray, others: Indices, metric: str) -> NDArray:
    """Distances (m, c) of some rows from the rows ``others`` (m, c), or numbers in the same order."""
    if metric == "precomputed":
        return _stored(X[rows], others) if sp.issparse(X) else np.take_along_axis(X[rows], others, axis=1)
    if not sp.issparse(X) and metric == "euclidean":
        return _native.squared_distances(X, others, rows=rows, n_threads=thread_limit.current())
    A, B = X[np.repeat(rows, others.shape[1])], X[others.ravel()]
    kind = kind_of(metric)
    if kind.apart is not None and not sp.issparse(X):
        apart = kind.apart(A, B, **getattr(metric, "given", {}))
    elif metric == "manhattan":
        apart = abs(A - B).sum(axis=1)
    elif kind.apart is not None:
        raise ValueError(f"metric={str(metric)!r} needs dense rows here; got sparse ones. Pass X.toarray() if it fits.")
    else:
        apart = -2 * A.multiply(B).sum(axis=1)
        if metric == "cosine":
            apart /= np.sqrt(squared_norms(B))
        else:
            apart += squared_norms(B)
    return np.asarray(apart).reshape(others.shape)


def _stored(X: Any, others: Indices) -> NDArray:
    """Distances (m, c) that the sparse rows ``X`` (m, n) store; the largest float where none is stored."""
    rows = sp.csr_array(X, dtype=float_dtype(X.dtype))
    rows.sort_indices()
    m, n = rows.shape
    keys = np.repeat(np.arange(m, dtype=np.int64) * n, np.diff(rows.indptr)) + rows.indices
    wanted = np.arange(m, dtype=np.int64)[:, None] * n + others
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, rows.data[place], np.finfo(rows.dtype).max)
