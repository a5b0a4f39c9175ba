"""All distances between rows, in any metric."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.relate.neighbors import strips
from lowdim.work.progress import stage


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
        for rows, strip in strips(X, queries, metric):
            D[rows] = strip
            tick(rows.stop)
    if queries is None:
        np.fill_diagonal(D, 0.0)
    return D
