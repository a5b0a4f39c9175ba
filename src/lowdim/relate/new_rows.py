"""Relations of new rows of a map that grows: to old rows, which keep theirs, and to each other.

``indices`` (m, k) are the neighbours of the new rows among all rows, of which the old ones come first. All in NumPy.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.relate.affinities import Affinities
from lowdim.relate.fuzzy import FuzzyGraph
from lowdim.relate.pairs import Indices, Pairs
from lowdim.work.random import stream

_BLOCK = 8192  # rows per block, each with its own random stream


def new_affinities(indices: Indices, p: NDArray[np.float32], n: int) -> Affinities:
    """Affinities (n, n) that the new rows bring: ``p_{j|i}/2n`` each way, m/n in all.

    >>> new_affinities(np.array([[0, 1]], np.int32), np.array([[0.75, 0.25]], np.float32), 3).values
    array([0.125     , 0.04166667, 0.125     , 0.04166667], dtype=float32)
    """
    old = sp.csr_array((n - len(indices), n), dtype=np.float32)
    A = sp.csr_array(sp.vstack([old, _directed(indices, p, n)], format="csr"))
    return Affinities(*_parts((A + A.T) / np.float32(2 * n)))


def grown_graph(old: Any, indices: Indices, v: NDArray[np.float32], mix: float) -> FuzzyGraph:
    """The fuzzy graph ``old`` of sparse rows with new ones, whose memberships (m, k) of old rows hold both ways.

    >>> old = sp.csr_matrix(np.array([[0, 1], [1, 0]], np.float32))
    >>> grown_graph(old, np.array([[0]], np.int32), np.array([[0.5]], np.float32), 1.0).values
    array([1. , 0.5, 1. , 0.5], dtype=float32)
    """
    n = old.shape[0]
    A = _directed(indices, v, n + len(indices))
    between, among = A[:, :n], A[:, n:]
    both = among.multiply(among.T)
    within = mix * (among + among.T - both) + (1 - mix) * both
    return FuzzyGraph(*_parts(sp.block_array([[sp.csr_array(old), between.T], [between, within]])))


def new_pairs(near: Indices, each: int, n: int, seed: int) -> Pairs:
    """Near pairs of the new rows (m, k) and further ones at random; old rows are their own partners, which is no pair.

    >>> new_pairs(np.array([[0]], np.int32), 1, 3, 0)[:3]
    (array([[0],
           [1],
           [0]], dtype=int32), array([], shape=(3, 0), dtype=int32), array([[0],
           [1],
           [1]], dtype=int32))
    """
    m, k = near.shape
    further = np.empty((m, each if n - 1 > k else 0), np.int32)
    for block, start in enumerate(range(0, m if further.size else 0, _BLOCK)):
        rows = np.arange(start, min(m, start + _BLOCK))
        numbers = stream(seed, "further of new rows", block)
        drawn = numbers.integers(n - 1 - k, size=(len(rows), each), dtype=np.int32)
        # Numbers index the rows that remain: each excluded row shifts those after it by one.
        for out in np.sort(np.column_stack([near[rows], n - m + rows]), axis=1).T:
            drawn += drawn >= out[:, None]
        further[rows] = drawn
    old, none = np.arange(n - m, dtype=np.int32)[:, None], np.empty((n, 0), np.int32)
    near, further = (np.concatenate([old.repeat(part.shape[1], 1), part]) for part in (near, further))
    order = np.arange(n, dtype=np.int32)
    return Pairs(near, none, further, order, np.empty(0, np.int32), np.empty((0, 2), np.int32))


def _directed(indices: Indices, values: NDArray[np.float32], n: int) -> sp.csr_array:
    """Sparse rows (m, n) of the neighbours of new rows."""
    m, k = indices.shape
    starts = np.arange(m + 1, dtype=np.int64) * k
    A = sp.csr_array((values.ravel(), indices.ravel(), starts), shape=(m, n), copy=True)
    A.sort_indices()
    return A


def _parts(A: Any) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Starts, ascending columns and values of sparse rows."""
    A = sp.csr_array(A)
    A.sort_indices()
    return A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data.astype(np.float32)
