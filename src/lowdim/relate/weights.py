"""Barycentric weights: the reconstruction of a row from its neighbours.

Row ``x`` with neighbours ``x_j`` has the weights that minimise ``‖x − Σ w_j x_j‖²`` with ``Σ w_j = 1``: ``w ∝ G⁻¹ 1``,
G the Gram matrix of the neighbours minus the row, with ``reg · trace(G)`` on its diagonal.
"""

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.relate.geodesics import Beside
from lowdim.work import thread_limit
from lowdim.work.dispatch import operation
from lowdim.work.progress import stage

_BLOCK = 2**24  # entries of Gram matrices at a time


@operation
def barycentric(X: Any, starts: NDArray, neighbors: NDArray, reg: float, queries: Any = None) -> NDArray[np.float64]:
    """Weights of ``neighbors`` (rows of ``X``), those of query i at starts[i] … starts[i + 1].

    Without queries they are the rows of ``X``. Dense rows of float32 or float64, or CSR; the weights are computed in
    float64.

    >>> X = np.array([[0.0], [1.0], [4.0]])
    >>> barycentric(X, np.array([0, 2]), np.array([0, 2]), 0.0, queries=np.array([[1.0]])).round(6)
    array([0.75, 0.25])
    """
    Q = X if queries is None else queries
    starts, neighbors = np.asarray(starts, np.int64), np.ascontiguousarray(neighbors, np.int32)
    with stage("weights", total=Q.shape[0]) as tick:
        if not sp.issparse(X):
            X = np.ascontiguousarray(X)
            Q = np.ascontiguousarray(Q, dtype=X.dtype)
            out = _native.barycentric(X, Q, starts, neighbors, float(reg), n_threads=thread_limit.current(), tick=tick)
            return _demand_numbers(out)
        out = np.empty(len(neighbors))
        counts = np.diff(starts)
        for k in np.unique(counts[counts > 0]):
            rows = np.flatnonzero(counts == k)
            for some in np.array_split(rows, max(1, len(rows) * int(k) ** 2 // _BLOCK)):
                positions = starts[some, None] + np.arange(k)
                G = sparse_grams(X, Q[some], neighbors[positions])
                out[positions] = _native.gram_weights(G, float(reg), n_threads=thread_limit.current())
        return _demand_numbers(out)


def _demand_numbers(W: NDArray[np.float64]) -> NDArray[np.float64]:
    """Refuse weights of rows whose squared differences overflowed."""
    if not np.isfinite(W).all():
        raise ValueError("Weights: squared differences of neighbours must be finite; some overflow. Scale the data.")
    return W


@operation
def interpolate(near: Beside, X: Any, queries: Any, Y: NDArray, reg: float) -> NDArray[np.float64]:
    """Positions ``Σ w_j y_j`` (m, k) of points, by the weights that reconstruct them from rows at ``Y`` (n, k).

    Where the rows ``X`` are unknown (None) the weights decrease with the squared distance.

    >>> near = Beside(np.array([0, 2]), np.array([0, 1], np.int32), np.array([1.0, 2.0], np.float32))
    >>> interpolate(near, None, None, np.array([[0.0], [5.0]]), 0.0)
    array([[1.]])
    """
    if X is None:
        W = 1.0 / np.maximum(np.square(near.lengths, dtype=np.float64), np.finfo(np.float64).tiny)
    else:
        W = barycentric(X, near.starts, near.rows, reg, queries=queries)
    A = sp.csr_array((W, near.rows, near.starts), shape=(len(near.starts) - 1, len(Y)))
    return np.asarray(A @ Y) / (np.asarray(A.sum(axis=1)).reshape(-1, 1) if X is None else 1.0)


def share_with_bridges(W: sp.csr_array, pairs: NDArray) -> sp.csr_array:
    """Weights in which each end of a bridge gives the other at least the weight of one neighbour.

    A row of k neighbours, c of them bridges, keeps ``1 − c/k`` of its weights and gives ``1/k`` to each bridge. The
    weights that reconstruct a row may be nearly 0 where a bridge is long, which would leave the components unconnected.

    >>> W = sp.csr_array(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1e-9], [0.5, 0.5, 0.0]]))
    >>> share_with_bridges(W, np.array([[1, 2]])).toarray().round(3)
    array([[0.  , 1.  , 0.  ],
           [0.5 , 0.  , 0.5 ],
           [0.25, 0.75, 0.  ]])
    """
    if len(pairs):
        tails, ends = np.concatenate([pairs, pairs[:, ::-1]]).T
        each = 1.0 / np.maximum(np.diff(W.indptr), 1)
        kept = 1.0 - each * np.bincount(tails, minlength=W.shape[0])
        W = sp.csr_array(sp.diags_array(kept) @ W + sp.csr_array((each[tails], (tails, ends)), shape=W.shape))
    W.sort_indices()
    return W


def sparse_grams(X: Any, Q: Any, neighbors: NDArray) -> NDArray[np.float64]:
    """Gram matrices (m, k, k) of the neighbours (m, k) minus their query, one pair of neighbours at a time."""
    m, k = neighbors.shape
    G = np.empty((m, k, k))
    apart = [(X[neighbors[:, j]] - Q).astype(np.float64) for j in range(k)]
    for i, j in combinations_with_replacement(range(k), 2):
        G[:, i, j] = G[:, j, i] = np.asarray(apart[i].multiply(apart[j]).sum(axis=1)).ravel()
    return G
