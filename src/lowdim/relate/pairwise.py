"""All distances between rows, in any metric."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.relate.neighbors import strips
from lowdim.work import thread_limit
from lowdim.work.blockwise import float_dtype
from lowdim.work.progress import stage
from lowdim.work.value_limits import SQUARES

_STRIP = 2**22  # distances at a time


def pairwise(X: Any, metric: str, queries: Any = None, *, dtype: Any = np.float64) -> NDArray:
    """Distances (m, n) of the queries, or the rows of ``X`` themselves, from all rows of ``X``.

    From a row to itself they are 0 without queries. For ``metric="precomputed"`` ``X`` and the queries are distances.

    >>> pairwise(np.array([[0.0], [3.0]]), "euclidean")
    array([[0., 3.],
           [3., 0.]])
    """
    m = (X if queries is None else queries).shape[0]
    n = X.shape[0] if queries is None or metric != "precomputed" else queries.shape[1]
    D = np.empty((m, n), dtype)
    with stage("distances", total=m) as tick:
        for rows, strip in _dense_strips(X, queries) if _dense(X, metric) else strips(X, queries, metric):
            D[rows] = strip
            tick(rows.stop)
    if queries is None:
        np.fill_diagonal(D, 0.0)
    return D


def _dense(X: Any, metric: str) -> bool:
    return str(metric) == "euclidean" and isinstance(X, np.ndarray)


def _dense_strips(X: NDArray, queries: NDArray | None) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Euclidean distances from sums of squared differences, on all threads; a strip is overwritten by the next."""
    X = np.ascontiguousarray(X, float_dtype(X.dtype))
    Q = X if queries is None else np.ascontiguousarray(queries, X.dtype)
    SQUARES.demand("Distances", max(float(np.abs(A).max(initial=0)) for A in (X, Q)))
    step = max(1, min(len(Q), _STRIP // len(X)))
    D = np.empty((step, len(X)))
    for start in range(0, len(Q), step):
        rows = slice(start, min(len(Q), start + step))
        out = D[: rows.stop - start]
        _native.euclidean(Q[rows], X, out, n_threads=thread_limit.current())
        yield rows, out
