"""Similarities that decay at the distance of each row's own neighbours, and not gradually.

``k_ij = ½ exp(−(d_ij/ε_i)^α) + ½ exp(−(d_ij/ε_j)^α)``, with ``ε_i`` the distance of row i to its k-th neighbour (Moon
and others 2019). For large α it is nearly 1 within ε and nearly 0 beyond; below 1e-4 it is taken as 0.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.relate.neighbors import nearest
from lowdim.work.rows import take

Doubles = NDArray[np.float64]
LEAST = 1e-4  # similarity that is taken as 0
_MARGIN = 6  # times k: neighbours that are searched for at first


def reach(decay: float) -> float:
    """Distance, in widths, beyond which the similarity is below ``LEAST``.

    >>> round(reach(40.0), 3), round(reach(2.0), 3)
    (1.057, 3.035)
    """
    return float((-np.log(LEAST)) ** (1 / decay))


def decaying(X: Any, k: int, decay: float, metric: str) -> tuple[sp.csr_array, Doubles]:
    """Symmetric similarities (n, n) of distinct rows, each 1 to itself, and their widths (n,).

    >>> V, widths = decaying(np.array([[0.0], [1.0], [3.0]]), 1, 2.0, "euclidean")
    >>> V.toarray().round(3)
    array([[1.   , 0.368, 0.053],
           [0.368, 1.   , 0.193],
           [0.053, 0.193, 1.   ]])
    """
    tails, ends, lengths, widths = _within_reach(X, k, decay, metric, None)
    n = len(widths)
    one = sp.csr_array((_decay(lengths, widths[tails], decay), (tails, ends)), shape=(n, n))
    return sp.csr_array((one + one.T) / 2 + sp.eye_array(n)), widths


def decaying_from(X: Any, widths: Doubles, Q: Any, k: int, decay: float, metric: str) -> sp.csr_array:
    """Similarities (m, n) of new rows with those of ``X``, whose widths are known; no row is without any."""
    tails, ends, lengths, own = _within_reach(X, k, decay, metric, Q)
    values = (_decay(lengths, own[tails], decay) + _decay(lengths, widths[ends], decay)) / 2
    return sp.csr_array((values, (tails, ends)), shape=(Q.shape[0], len(widths)))


def _decay(lengths: Doubles, widths: Doubles, decay: float) -> Doubles:
    with np.errstate(over="ignore"):  # far beyond the width
        v = np.exp(-((lengths / widths) ** decay))
    return np.where(v >= LEAST, v, 0.0)


def _within_reach(
    X: Any, k: int, decay: float, metric: str, Q: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64], Doubles, Doubles]:
    """Pairs within the reach of the first: its number, that of the other, their distance; and the widths."""
    n, m = X.shape[0], (X if Q is None else Q).shape[0]
    most = n - (Q is None)
    count = min(most, max(_MARGIN * k, k + 2))
    found = nearest(X, count, Q, metric)
    indices, lengths = found.indices, found.distances.astype(np.float64)
    widths = np.maximum(lengths[:, k - 1], np.finfo(np.float32).tiny)
    limit = reach(decay) * widths
    parts, rows = [], np.arange(m)
    while len(rows):
        inside = lengths <= limit[rows, None]
        whole = ~inside[:, -1] | (count == most)
        kept = inside & whole[:, None]
        parts.append((np.repeat(rows, kept.sum(axis=1)), indices[kept].astype(np.int64), lengths[kept]))
        rows = rows[~whole]  # whose neighbours within reach are more than were searched for
        if len(rows):
            count = min(most, 4 * count)
            indices, lengths = _others(X, count, rows, metric) if Q is None else _of(X, count, take(Q, rows), metric)
    tails, ends, far = (np.concatenate([part[i] for part in parts]) for i in range(3))
    return tails, ends, far, widths


def _of(X: Any, count: int, Q: Any, metric: str) -> tuple[NDArray, Doubles]:
    found = nearest(X, count, Q, metric)
    return found.indices, found.distances.astype(np.float64)


def _others(X: Any, count: int, rows: NDArray, metric: str) -> tuple[NDArray, Doubles]:
    """Neighbours of some rows of ``X`` among the others."""
    indices, lengths = _of(X, count + 1, take(X, rows), metric)
    others = indices != rows[:, None]
    others[others.all(axis=1), -1] = False
    shape = (len(rows), count)
    return indices[others].reshape(shape), lengths[others].reshape(shape)
