"""Neighbours of rows with two or three columns by a k-d tree; with more, searching groups is at least as fast."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from lowdim.relate import partition
from lowdim.work import thread_limit
from lowdim.work.progress import stage
from lowdim.work.value_limits import SQUARES

_DIMENSIONS, _NEIGHBORS, _ROWS = 3, 64, 2000
_PIECE = 4096  # rows per call of a thread


def suits(X: NDArray, k: int) -> bool:
    """Whether a tree is the faster search for the ``k`` neighbours of rows of ``X``."""
    return X.shape[1] <= _DIMENSIONS and k <= _NEIGHBORS and len(X) >= _ROWS


def nearest(X: NDArray, k: int, queries: NDArray | None) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Indices and distances (m, k) by (distance, index) of rows of ``X``; without queries, of each row but itself."""
    Q, itself = (X, True) if queries is None else (queries, False)
    SQUARES.demand("Neighbours", float(np.max([np.abs(A).max() for A in (X, Q)])))
    width = k + itself
    far, found = _query(KDTree(X), Q, width + 1)
    tied = np.flatnonzero(far[:, width - 1] == far[:, width])  # the tree may have left out a lower index
    far, found = far[:, :width], found[:, :width]
    if len(tied):
        # Distances of the search are rounded to float32, so that only the indices of the tied rows are taken over.
        found[tied] = partition.of(X, Q[tied], seed=0).nearest(width, None)[0]
        far[tied] = np.sqrt(np.square(Q[tied, None].astype(np.float64) - X[found[tied]]).sum(axis=2))
    mixed = np.flatnonzero((far[:, 1:] <= far[:, :-1]).any(axis=1))  # rows whose order is not by distance alone
    order = np.lexsort((found[mixed], far[mixed]), axis=1)
    found[mixed], far[mixed] = (np.take_along_axis(A[mixed], order, axis=1) for A in (found, far))
    if itself:
        other = found != np.arange(len(Q))[:, None]
        other[other.all(axis=1), -1] = False  # among more than k equal rows a row need not have found itself
        found, far = found[other].reshape(-1, k), far[other].reshape(-1, k)
    return found, far.astype(np.float32)


def _query(tree: KDTree, Q: NDArray, k: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Distances and indices (m, k) by our own threads, which have all ended on return or interruption."""
    far, found = np.empty((len(Q), k)), np.empty((len(Q), k), np.int32)
    pieces = [slice(start, start + _PIECE) for start in range(0, len(Q), _PIECE)]

    def search(piece: slice) -> None:
        far[piece], found[piece] = tree.query(Q[piece], k)

    with stage("neighbours", total=len(pieces)) as tick, ThreadPoolExecutor(thread_limit.current()) as threads:
        try:
            for done, _ in enumerate(threads.map(search, pieces)):
                tick(done + 1)
        except BaseException:  # on Ctrl-C as well: pending calls are cancelled
            threads.shutdown(wait=True, cancel_futures=True)
            raise
    return far, found
