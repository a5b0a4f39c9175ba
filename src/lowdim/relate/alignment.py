"""Alignment matrices of the variants of LLE: penalties of each neighbourhood, summed over all.

Each row with its neighbours, K + 1 rows in all, has a semidefinite form ``F`` that is 0 for the functions on it that
the variant allows; ``M = Σ S F Sᵀ`` (S selects the rows) is 0 for the maps sought.

- ``ltsa``: ``F = I − 11ᵀ/(K+1) − UUᵀ``, U the tangent coordinates: constants and linear functions (Zhang and Zha 2004).
- ``hessian``: ``F = HHᵀ``, H the part of products of tangent coordinates that is orthogonal to 1 and U: functions
  without second derivatives (Donoho and Grimes 2003).
- ``modified``: ``F = Σ_s b_s b_sᵀ``, ``b_s = (1, −w_s)`` with several independent weights w_s that reconstruct the row
  nearly as well as the best (Zhang and Wang 2007).

The row itself belongs to its neighbourhood, so that rows that are no other row's neighbour are placed too.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.relate.graph import Neighborhoods
from lowdim.relate.weights import sparse_grams
from lowdim.work import thread_limit
from lowdim.work.progress import stage

KINDS = ("ltsa", "hessian", "modified")
_BLOCK = 2**21  # entries of local matrices at a time
_NOTHING = 1e-12  # share of the largest eigenvalue of a neighbourhood below which an eigenvalue is taken as zero

Doubles = NDArray[np.float64]


def alignment(X: Any, near: Neighborhoods, k: int, kind: str, reg: float) -> sp.csr_array:
    """The matrix M (n, n) of a kind, for maps in k dimensions, from neighbours that do not contain the row itself.

    >>> X = np.arange(5.0)[:, None] * [1.0, 2.0]
    >>> near = Neighborhoods(np.arange(6) * 3, np.array([1, 2, 3, 0, 2, 3, 1, 3, 0, 2, 4, 1, 3, 2, 1], np.int32))
    >>> M = alignment(X, near, 1, "ltsa", 1e-3)
    >>> bool(np.allclose(M @ np.column_stack([np.ones(5), np.arange(5)]), 0))
    True
    """
    n = X.shape[0]
    # Memory in float64: blocks of forms, then the sparse matrix, of which one half is enough.
    size = int((np.square(np.diff(near.starts) + 1) + np.diff(near.starts) + 1).sum()) // 2
    row, column, value = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size)
    slack = _slack(X, near, k) if kind == "modified" else 0.0
    at = 0
    with stage("neighbourhoods", total=n) as tick:
        for members in _blocks(near):
            if kind == "modified":
                F = _of_weights(X, members, k, reg, slack)
            else:
                F = _of_tangents(X, members, k, second=kind == "hessian")
            i, j = np.tril_indices(members.shape[1])
            a, b = members[:, i], members[:, j]
            stop = at + a.size
            row[at:stop], column[at:stop] = np.maximum(a, b).ravel(), np.minimum(a, b).ravel()
            value[at:stop] = F[:, i, j].ravel()
            at = stop
            tick(min(n, at * n // max(1, size)))
    low = sp.csr_array((value, (row, column)), shape=(n, n))
    return sp.csr_array(low + sp.tril(low, -1).T)


def _blocks(near: Neighborhoods) -> Iterator[NDArray[np.int32]]:
    """Rows with their neighbours, the row first, grouped by the number of neighbours, in blocks (b, K + 1)."""
    counts = np.diff(near.starts)
    for count in np.unique(counts):
        rows = np.flatnonzero(counts == count)
        step = max(1, _BLOCK // int(count + 1) ** 2)
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            ends = near.ends[near.starts[some][:, None] + np.arange(count)]
            yield np.column_stack([some, ends]).astype(np.int32)


def _grams(X: Any, members: NDArray, about: NDArray) -> Doubles:
    """Gram matrices (b, m, m) of the rows ``members`` (b, m) of ``X`` minus the rows ``about`` (b,)."""
    if sp.issparse(X):
        return sparse_grams(X, X[about], members)
    Z = X[members].astype(np.float64) - X[about][:, None]
    with thread_limit.alone():
        return Z @ Z.transpose(0, 2, 1)


def _of_tangents(X: Any, members: NDArray, k: int, *, second: bool) -> Doubles:
    """Forms (b, m, m) that vanish for 1 and the tangent coordinates, or beyond them on their products."""
    G = _grams(X, members, members[:, 0])
    G -= G.mean(axis=1, keepdims=True)
    G -= G.mean(axis=2, keepdims=True)
    values, vectors = _native.spectra(np.ascontiguousarray(G), n_threads=thread_limit.current())
    m = members.shape[1]
    real = values[:, :k] > _NOTHING * values[:, :1]
    U = np.where(real[:, :, None], vectors[:, :k], 0.0)
    if not second:
        F = np.broadcast_to(np.eye(m) - 1.0 / m, (len(members), m, m)) - U.transpose(0, 2, 1) @ U
        return np.asarray(F)
    pairs = np.triu_indices(k)
    basis = np.concatenate([np.ones((len(U), 1, m)), U, U[:, pairs[0]] * U[:, pairs[1]]], axis=1)
    with thread_limit.alone():
        Q, R = np.linalg.qr(basis.transpose(0, 2, 1))
    H = Q[:, :, 1 + k :]
    # Products that are linear in the coordinates, as for neighbours on a line, carry no information on curvature.
    size = np.abs(np.diagonal(R, axis1=1, axis2=2)[:, 1 + k :])
    H = np.where((size > 1e-6 * np.linalg.norm(basis[:, 1 + k :], axis=2))[:, None], H, 0.0)
    return np.asarray(H @ H.transpose(0, 2, 1))


def _slack(X: Any, near: Neighborhoods, k: int) -> float:
    """Median ratio of the variance of neighbourhoods outside k directions to that within them."""
    shares = []
    for members in _blocks(near):
        values, _ = _native.spectra(_grams(X, members[:, 1:], members[:, 0]), n_threads=thread_limit.current())
        values = np.maximum(values, 0.0)
        within = values[:, :k].sum(axis=1)
        shares.append(values[:, k:].sum(axis=1) / np.where(within > 0, within, 1.0))
    return float(np.median(np.concatenate(shares)))


def _of_weights(X: Any, members: NDArray, k: int, reg: float, slack: float) -> Doubles:
    """Forms (b, m, m) of several weights: the optimal ones, along each direction of small variance."""
    G = _grams(X, members[:, 1:], members[:, 0])
    values, vectors = _native.spectra(G, n_threads=thread_limit.current())
    values = np.maximum(values, 0.0)
    total = values.sum(axis=1, keepdims=True)
    sums = vectors.sum(axis=2)  # of each vector
    damped = values + reg * np.where(total > 0, total, 1.0)
    best = np.einsum("bj,bjm->bm", sums / damped, vectors)
    best /= best.sum(axis=1, keepdims=True)
    # The last s directions have at most `slack` of the variance of those before them; k directions come before.
    c = values.shape[1]
    head = np.cumsum(values, axis=1)
    tail = total - head
    light = (tail <= slack * head)[:, :-1]  # what comes after direction j; true from some j on
    s = np.clip(light.sum(axis=1), 1, max(1, c - k))
    F = np.zeros((len(members), c + 1, c + 1))
    for count in np.unique(s):
        some = np.flatnonzero(s == count)
        V, ones = vectors[some][:, c - count :], sums[some][:, c - count :]
        scale = np.linalg.norm(ones, axis=1, keepdims=True) / np.sqrt(count)
        h = scale - ones
        norm = np.linalg.norm(h, axis=1, keepdims=True)
        h = np.where(norm > 1e-12, h / np.where(norm > 0, norm, 1.0), 0.0)
        # Householder's reflection makes all sums of the columns equal to `scale`, so that all weights add up to 1.
        turned = V - 2 * h[:, :, None] * np.einsum("bj,bjm->bm", h, V)[:, None]
        W = turned + (1 - scale)[:, :, None] * best[some][:, None]
        b = np.concatenate([np.ones((len(some), count, 1)), -W], axis=2)
        F[some] = b.transpose(0, 2, 1) @ b
    return F
