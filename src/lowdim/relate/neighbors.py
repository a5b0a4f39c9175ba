"""Nearest neighbours of rows, by ``k`` or by radius, with ties broken by (distance, index).

Euclidean distances of dense rows are searched natively: exactly (see :mod:`lowdim.relate.partition` for what makes that
fast), by a tree in few dimensions, or approximately (:mod:`lowdim.relate.near_graph`), with the recall measured. The
cosine and Mahalanobis' distance are Euclidean distances of transformed rows. For sparse rows, other metrics
(:mod:`lowdim.relate.metrics` has the table) and precomputed distances, blocks of distances are searched; a precomputed
sparse graph is searched in its stored entries.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.relate import near_graph, partition, precomputed_graph, trees
from lowdim.relate.kernels import city_block
from lowdim.relate.metrics import distances_to, kind_of
from lowdim.relate.moments import moments
from lowdim.relate.row_norms import squared_norms, unit_rows
from lowdim.work import memory, thread_limit
from lowdim.work.blockwise import float_dtype
from lowdim.work.dispatch import operation
from lowdim.work.progress import stage
from lowdim.work.random import stream
from lowdim.work.value_limits import SINGLES, SQUARES

HOW = ("auto", "exact", "approximate")
_STRIP_BYTES = 2**26  # of distances at a time
_BY_ROW = 128  # columns up to which products need no BLAS
_SINGULAR = 1e-12  # share of the largest eigenvalue of the correlations below which an eigenvalue is taken as zero
_ROUNDING = 1e-14  # of a squared distance from sums in another order
_SAMPLE = 500  # queries for which the number of pairs within a radius is estimated
_PAIR_BYTES = 84  # of a pair within a radius, in the search and in the graph and eigenvectors made of them


class Neighbors(NamedTuple):
    """Indices (m, k) and distances (m, k), nearest first, the search used, and its recall."""

    indices: NDArray[np.int32]
    distances: NDArray[np.floating]
    how: str
    recall: float | None = None


class Within(NamedTuple):
    """Neighbours within a radius, query after query: starts (m + 1), indices and distances, nearest first."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    distances: NDArray[np.floating]


@operation
def nearest(
    X: Any,
    k: int,
    queries: Any = None,
    metric: str = "euclidean",
    how: str = "auto",
    seed: int = 0,
) -> Neighbors:
    """The ``k`` nearest rows of ``X`` to each of ``queries``; without queries, to each row of ``X`` except itself.

    >>> nearest(np.array([[0.0], [1.0], [3.0]]), 1).indices.ravel()
    array([1, 0, 1], dtype=int32)
    """
    m = (X if queries is None else queries).shape[0]
    memory.require(8 * m * k, f"The {k} neighbours of {m:,} rows", "Use fewer neighbours or rows.")
    if metric == "precomputed" and sp.issparse(X if queries is None else queries):
        return Neighbors(
            *precomputed_graph.nearest(X if queries is None else queries, k, itself=queries is None), "given"
        )
    if kind_of(metric).apart is not None or sp.issparse(X):
        return _by_strips(X, k, queries, metric)
    (n, d), alone = X.shape, queries is None
    if how == "approximate" or (how == "auto" and near_graph.is_faster(n, m, d, k, itself=alone)):
        return _by_graph(X, k, queries, metric, seed)
    A, Q, halved = as_euclidean(X, queries, metric)
    if trees.suits(A, k):
        found = trees.nearest(A, k, Q)
        return Neighbors(found[0], _turned(found[1], halved), "tree")
    parts = partition.of(A, Q, seed)
    with stage("neighbours", total=m) as tick:
        indices, distances = parts.nearest(k, tick)
    return Neighbors(indices, _turned(distances, halved), "exact")


def _by_graph(X: Any, k: int, queries: Any, metric: str, seed: int) -> Neighbors:
    halved = metric in ("cosine", "correlation")
    if metric == "mahalanobis":
        X, queries, _ = as_euclidean(X, queries, metric)
    rows, asking = near_graph.prepared(X, queries, metric)
    with stage("neighbours", total=(X if queries is None else queries).shape[0]) as tick:
        indices, distances, recall = near_graph.nearest(rows, asking, k, seed, tick)
    return Neighbors(indices, _turned(distances, halved), "approximate", recall)


@operation
def within(X: Any, radius: float, queries: Any = None, metric: str = "euclidean") -> Within:
    """Rows of ``X`` within ``radius`` of each of ``queries``; without queries, of each row of ``X`` except itself.

    >>> within(np.array([[0.0], [1.0], [3.0]]), 1.5).indices
    array([1, 0], dtype=int32)
    """
    if metric == "precomputed" and sp.issparse(X if queries is None else queries):
        return Within(*precomputed_graph.within(X if queries is None else queries, radius, itself=queries is None))
    if kind_of(metric).apart is not None or sp.issparse(X):
        return _within_strips(X, radius, queries, metric)
    A, Q, halved = as_euclidean(X, queries, metric)
    parts, reach = partition.of(A, Q, seed=0), np.sqrt(2 * radius) if halved else radius
    m = (A if Q is None else Q).shape[0]
    some = stream(0, "within").permutation(m)[:_SAMPLE]
    sample = partition.of(A, (A if Q is None else Q)[some], seed=0).within(reach, _most_pairs(), None)
    if sample is not None:
        _demand_pairs(float(sample[0].mean()) * m, radius)
    with stage("neighbours", total=m) as tick:
        found = None if sample is None else parts.within(reach, _most_pairs(), tick)
    if found is None:
        raise MemoryError(
            f"{too_many(f'more than {_most_pairs():,}', radius)} need more memory than there is. "
            "Lower radius, or use n_neighbors."
        )
    counts, indices, distances = found
    return Within(_starts(counts), indices, _turned(distances, halved))


def _most_pairs() -> int:
    return memory.available() // _PAIR_BYTES


def too_many(count: int | str, radius: float) -> str:
    """Description of the pairs within a radius."""
    return f"The {count} pairs of neighbours within radius={radius:g}"


def _demand_pairs(pairs: float, radius: float) -> None:
    memory.require(_PAIR_BYTES * pairs, too_many(f"{pairs:,.0f}", radius), "Lower radius, or use n_neighbors.")


@operation
def demand_singles(X: Any, metric: str) -> None:
    """Refuse rows or distances whose distances are not finite in float32."""
    if metric not in ("cosine", "correlation", "hamming", "jaccard"):
        SINGLES.demand("Neighbours", float(X.max()) - float(X.min()))


def as_euclidean(X: NDArray, queries: NDArray | None, metric: str) -> tuple[NDArray, NDArray | None, bool]:
    """Rows whose Euclidean distances are those of the metric, or (True) half of whose squares are."""
    X = np.ascontiguousarray(X, float_dtype(X.dtype))
    Q = None if queries is None else np.ascontiguousarray(queries, X.dtype)
    if metric == "correlation":
        X, Q = _centred(X), None if Q is None else _centred(Q)
    if metric in ("cosine", "correlation"):
        return unit_rows(X, "Neighbours"), None if Q is None else unit_rows(Q, "Neighbours"), True
    if metric == "mahalanobis":
        turn = whitening(X, getattr(metric, "given", {}).get("VI"))
        return whitened(X, *turn), None if Q is None else whitened(Q, *turn), False
    return X, Q, False


def whitening(X: Any, form: NDArray | None = None) -> tuple[NDArray, NDArray]:
    """Mean (d,) of the rows and a whitening matrix (d, r), r the rank of their covariance, for features in any units.

    With a ``form`` V (d, d) the matrix is such that distances are those of ``√((x − y)ᵀ V (x − y))``.

    >>> whitening(np.array([[0.0, 5.0], [2.0, 5.0], [4.0, 5.0]]))
    (array([2., 5.]), array([[0.5],
           [0. ]]))
    """
    if form is not None:
        if len(form) != X.shape[1]:
            raise ValueError(
                f"metric='mahalanobis' needs a VI of shape ({X.shape[1]}, {X.shape[1]}), a row per feature; got "
                f"{form.shape}. Pass that of these features."
            )
        with thread_limit.alone():
            values, vectors = np.linalg.eigh(form)
        return np.zeros(len(form)), vectors * np.sqrt(np.maximum(values, 0.0))
    M = moments(X)
    S = M.scatter / max(1, M.rows - 1)
    size = np.sqrt(np.diagonal(S))
    kept = np.flatnonzero(size > 0)
    if not len(kept):
        raise ValueError("metric='mahalanobis' needs rows that differ; got equal ones. Use metric='euclidean'.")
    with thread_limit.alone():
        values, vectors = np.linalg.eigh(S[np.ix_(kept, kept)] / np.outer(size[kept], size[kept]))
    sure = values > _SINGULAR * values[-1]
    white = np.zeros((len(S), int(sure.sum())))
    white[kept] = vectors[:, sure] / np.sqrt(values[sure]) / size[kept, None]
    return M.mean, white


@operation
def whitened(X: Any, mean: NDArray, white: NDArray) -> NDArray:
    """``(X − mean) white``; summed row by row where that is affordable, so that equal rows stay equal to the bit."""
    if sp.issparse(X):
        Z = X.astype(np.float64) @ white - mean @ white
    elif len(white) > _BY_ROW:
        Z = (X - mean) @ white
    else:
        Z = np.einsum("ij,jk->ik", X - mean, white, optimize=False)
    return np.ascontiguousarray(Z, X.dtype)


def _centred(X: NDArray) -> NDArray:
    """Rows less their own means; those whose values are all equal are refused, since they correlate with nothing."""
    flat = np.flatnonzero((X[:, :1] == X).all(axis=1))
    if len(flat):
        raise near_graph.constant_row(int(flat[0]))
    return np.ascontiguousarray(X - X.mean(axis=1, dtype=np.float64, keepdims=True), X.dtype)


def _turned(distances: NDArray, halved: bool) -> NDArray:
    return np.square(distances, out=distances) / np.float32(2) if halved else distances


def _starts(counts: NDArray) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def _by_strips(X: Any, k: int, queries: Any, metric: str) -> Neighbors:
    m = (X if queries is None else queries).shape[0]
    indices, distances = np.empty((m, k), np.int32), np.empty((m, k), _precision(X, metric))
    with stage("neighbours", total=m) as tick:
        for rows, D in strips(X, queries, metric):
            skip = np.arange(rows.start, rows.stop, dtype=np.int32) if queries is None else None
            indices[rows], distances[rows] = _native.smallest(D, k, skip=skip, n_threads=thread_limit.current())
            tick(rows.stop)
    return Neighbors(indices, distances, "exact")


def _within_strips(X: Any, radius: float, queries: Any, metric: str) -> Within:
    m = (X if queries is None else queries).shape[0]
    counts, indices, distances = np.zeros(m, np.int64), [], []
    with stage("neighbours", total=m) as tick:
        for rows, D in strips(X, queries, metric):
            near = radius >= D
            if queries is None:
                near[np.arange(len(D)), np.arange(rows.start, rows.stop)] = False
            i, j = np.nonzero(near)
            order = np.lexsort((j, D[i, j], i))
            counts[rows] = near.sum(axis=1)
            _demand_pairs(float(counts.sum()), radius)
            indices.append(j[order].astype(np.int32))
            distances.append(D[i, j][order].astype(_precision(X, metric)))
            tick(rows.stop)
    return Within(_starts(counts), np.concatenate(indices), np.concatenate(distances))


def _precision(X: Any, metric: str) -> np.dtype:
    """Given distances keep their precision; others are found to that of float32."""
    return float_dtype(X.dtype) if metric == "precomputed" else np.dtype(np.float32)


def strips(X: Any, queries: Any, metric: str) -> Iterator[tuple[slice, NDArray]]:
    """Distances from some queries at a time to all rows of ``X``."""
    Q = X if queries is None else queries
    step = max(1, _STRIP_BYTES // (8 * X.shape[0]))
    if metric == "precomputed":
        for start in range(0, Q.shape[0], step):
            rows = slice(start, min(Q.shape[0], start + step))
            yield rows, np.ascontiguousarray(Q[rows], float_dtype(X.dtype))
        return
    if sp.issparse(X) and not kind_of(metric).sparse:
        raise ValueError(
            f"metric={str(metric)!r} needs dense rows; got sparse ones. Pass X.toarray() if it fits in memory, or "
            "reduce X by PCA first."
        )
    SQUARES.demand("Neighbours", max(float(abs(A).max()) for A in (X, Q)))
    X, Q = X.astype(np.float64), Q.astype(np.float64)
    if not sp.issparse(X) and kind_of(metric).apart is None:
        X, turned, halved = as_euclidean(X, None if Q is X else Q, metric)
        Q, metric = X if turned is None else turned, "cosine" if halved else "euclidean"
    elif metric == "cosine":
        X, Q = unit_rows(X, "Neighbours"), unit_rows(Q, "Neighbours")
    squares = squared_norms(X)
    for start in range(0, Q.shape[0], step):
        rows = slice(start, min(Q.shape[0], start + step))
        B = Q[rows].toarray() if sp.issparse(Q) else np.ascontiguousarray(Q[rows])
        D = np.empty((len(B), X.shape[0]))
        if metric == "manhattan":
            city_block(B, X, D)
        elif kind_of(metric).apart is not None:
            D[...] = distances_to(B, X, metric)
        else:
            D[...] = (X @ np.ascontiguousarray(B.T)).T
            D *= -2
            size = squared_norms(B)[:, None] + squares
            D += size
            D[_ROUNDING * size > D] = 0  # equal rows
            D = D / 2 if metric == "cosine" else np.sqrt(D, out=D)
        yield rows, D
