"""Nearest neighbours of rows, exact, with ties broken by (distance, index)."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.relate.moments import moments
from lowdim.work import jobs
from lowdim.work.progress import stage

METRICS = ("euclidean", "cosine", "manhattan", "mahalanobis", "precomputed")
_STRIP_BYTES = 2**25  # of distances at a time


class Neighbors(NamedTuple):
    """Indices (m, k) and distances (m, k), nearest first, and how they were found."""

    indices: NDArray[np.int32]
    distances: NDArray[np.floating]
    how: str
    recall: float | None = None


class Within(NamedTuple):
    """Rows of neighbours within a radius, one after the other: starts (m + 1), indices and distances."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    distances: NDArray[np.floating]


def nearest(
    X: Any,
    k: int,
    queries: Any = None,
    metric: str = "euclidean",
    how: str = "auto",
    seed: int = 0,
    exclude_self: bool = True,
) -> Neighbors:
    """The ``k`` nearest rows of ``X`` to each of ``queries``; without queries, to each row of ``X`` but itself.

    >>> nearest(np.array([[0.0], [1.0], [3.0]]), 1).indices.ravel()
    array([1, 0, 1], dtype=int32)
    """
    itself = queries is None and exclude_self
    m = (X if queries is None else queries).shape[0]
    indices, distances = np.empty((m, k), np.int32), np.empty((m, k), np.float32)
    with stage("neighbours", total=m) as tick:
        for rows, D in _strips(X, queries, metric):
            if itself:
                D[np.arange(len(D)), np.arange(rows.start, rows.stop)] = np.inf
            chosen = np.argsort(D, axis=1, kind="stable")[:, :k]
            indices[rows] = chosen
            distances[rows] = np.take_along_axis(D, chosen, axis=1)
            tick(rows.stop)
    return Neighbors(indices, distances, "exact")


def within(X: Any, radius: float, queries: Any = None, metric: str = "euclidean") -> Within:
    """Rows of ``X`` within ``radius`` of each of ``queries``; without queries, of each row of ``X`` but itself."""
    counts, indices, distances = [], [], []
    for rows, D in _strips(X, queries, metric):
        if queries is None:
            D[np.arange(len(D)), np.arange(rows.start, rows.stop)] = np.inf
        for row in D:
            chosen = np.flatnonzero(row <= radius)
            chosen = chosen[np.argsort(row[chosen], kind="stable")]
            counts.append(len(chosen))
            indices.append(chosen.astype(np.int32))
            distances.append(row[chosen].astype(np.float32))
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Within(indptr, np.concatenate(indices), np.concatenate(distances))


def _strips(X: Any, queries: Any, metric: str) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Distances from some queries at a time to all rows of ``X``."""
    X, Q = _prepared(X, X if queries is None else queries, metric)
    step = max(1, _STRIP_BYTES // (8 * X.shape[0]))
    squares = None if metric in ("manhattan", "precomputed") else _squares(X)
    for start in range(0, Q.shape[0], step):
        rows = slice(start, min(Q.shape[0], start + step))
        B = Q[rows]
        if metric == "precomputed":
            D = B.copy()
        elif metric == "manhattan":
            A = B.toarray() if sp.issparse(B) else B
            D = np.empty((len(A), X.shape[0]))
            _native.manhattan(A, X.toarray() if sp.issparse(X) else X, D, n_threads=jobs.current())
        else:
            G = B @ X.T
            G = G.toarray() if sp.issparse(G) else G
            D = np.maximum(_squares(B)[:, None] + squares - 2 * G, 0)
            D = D / 2 if metric == "cosine" else np.sqrt(D)
        yield rows, D


def _prepared(X: Any, Q: Any, metric: str) -> tuple[Any, Any]:
    X, Q = X.astype(np.float64), Q.astype(np.float64)
    if metric == "cosine":
        X, Q = (sp.diags_array(1 / np.sqrt(_squares(A))) @ A for A in (X, Q))
    if metric == "mahalanobis":
        M = moments(X)
        values, vectors = np.linalg.eigh(M.scatter / max(1, M.rows - 1))
        keep = values > values[-1] * len(values) * np.finfo(float).eps
        white = vectors[:, keep] / np.sqrt(values[keep])
        X, Q = X @ white, Q @ white
    return X, Q


def _squares(X: Any) -> NDArray[np.float64]:
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))
