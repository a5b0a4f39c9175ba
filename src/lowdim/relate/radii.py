"""Local radii of rows: how far their neighbours are, which is how thinly rows are spread around them.

The squared radius of row i is ``Σ_j v_ij d_ij² / Σ_j v_ij`` over the edges of its graph; densMAP and den-SNE keep its
logarithm (Narayan, Berger and Cho 2021).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.relate.fuzzy import fuzzy_union, memberships
from lowdim.relate.neighbors import nearest
from lowdim.work import thread_limit
from lowdim.work.backend_arrays import to_numpy
from lowdim.work.dispatch import operation
from lowdim.work.progress import stage

SparseRows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]  # starts, columns, values
_FLOOR = 1e-8  # of the median squared radius, which rows without any have


@operation(on=1)
def local_radii(graph: SparseRows, indices: NDArray[np.int32], distances: NDArray[np.floating]) -> NDArray[np.float64]:
    """Squared radii (m,) of the last m rows of a symmetric graph, whose neighbours (m, k) have these ``distances``.

    An edge has its distance from the list of either end; NaN for rows whose edges have none.

    >>> graph = np.array([0, 1, 2]), np.array([1, 0], np.int32), np.ones(2, np.float32)
    >>> local_radii(graph, np.array([[1], [0]], np.int32), np.array([[3.0], [3.0]]))
    array([9., 9.])
    """
    with stage("radii", total=len(indices)) as tick:
        return _native.local_radii(*graph, indices, distances, n_threads=thread_limit.current(), tick=tick)


def log_radii(squares: Any, floor: float | None = None) -> tuple[NDArray[np.float64], float]:
    """Logarithms (n,) of squared radii, and the floor added to them: by default 1e-8 of their median above 0.

    >>> log_radii(np.array([1.0, 1.0, 0.0]))[0].round(2)
    array([  0.  ,   0.  , -18.42])
    """
    squares = np.asarray(to_numpy(squares), np.float64)
    if floor is None:
        some = squares[squares > 0]
        floor = _FLOOR * float(np.median(some)) if len(some) else 1.0
    return np.log(squares + floor), floor


def rows_radii(X: Any, n_neighbors: int, metric: Any = "euclidean") -> NDArray[np.float64]:
    """Logarithms (n,) of the squared radii of rows by the fuzzy graph of ``n_neighbors``, themselves included.

    >>> rows_radii(np.array([[0.0], [1.0], [3.0], [6.0]]), 2).round(2)
    array([0.  , 0.92, 1.87, 2.2 ])
    """
    near = nearest(X, max(1, min(n_neighbors, X.shape[0]) - 1), None, metric)
    graph = fuzzy_union(near.indices, memberships(near.distances).values)
    return log_radii(local_radii(graph, near.indices, near.distances))[0]
