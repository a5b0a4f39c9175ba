"""Geodesic distances: lengths of the shortest paths on a graph of neighbours."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.work import jobs
from lowdim.work.places import verb
from lowdim.work.progress import stage
from lowdim.work.random import stream

if TYPE_CHECKING:
    from lowdim.relate.graph import Graph


class Beside(NamedTuple):
    """Points beside a graph, each joined to some of its rows: starts (m + 1), rows, and the distances to them."""

    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    lengths: NDArray[np.float32]


@verb
def geodesics(
    graph: "Graph", sources: "NDArray | Beside | None" = None, *, squared: bool = False
) -> NDArray[np.float32]:
    """Distances (m, n) along the graph from each source to each row, or their squares; infinity where no path leads.

    Sources are rows of the graph (all of them for None) or points beside it. Each distance is the least over all
    paths of the lengths summed in float32 from the source on, whatever the number of threads.
    """
    if not isinstance(sources, Beside):
        rows = np.arange(graph.n) if sources is None else np.asarray(sources)
        sources = Beside(np.arange(len(rows) + 1), rows.astype(np.int32), np.zeros(len(rows), np.float32))
    m = len(sources.starts) - 1
    D = np.empty((m, graph.n), np.float32)
    with stage("shortest paths", total=m) as tick:
        _native.geodesics(*graph, *sources, D, squared=squared, n_threads=jobs.current(), tick=tick)
    return D


def bytes_for(m: int, n: int) -> float:
    """Memory that :func:`geodesics` needs from m sources on n rows: the distances and each thread's lanes."""
    return 4.0 * m * n + jobs.current() * n * (64 * 4 + 32)


def draw_landmarks(n: int, m: int, codes: NDArray | None, seed: int) -> NDArray[np.int64]:
    """At most m of n rows, drawn at random, in order; each class of ``codes`` (n,) has one first."""
    drawn = stream(seed, "landmarks").permutation(n)
    if codes is not None:
        _, first = np.unique(codes[drawn], return_index=True)
        drawn = np.concatenate([drawn[first], np.delete(drawn, first)])
    return np.sort(drawn[:m])


def residual_variance(D: NDArray[np.float32], rows: NDArray, Y: NDArray, *, squared: bool) -> NDArray[np.float64]:
    """Share (k,) of the variance of distances that those in the first 1 … k coordinates of ``Y`` leave unexplained.

    That is ``1 − R²`` over all pairs of ``rows`` (m,) with the n rows of ``Y``, from ``D`` (m, n) or its squares.
    """
    k, m = Y.shape[1], len(D)
    whole = m == len(Y)  # each pair is there twice
    with stage("residual variance", total=m) as tick:
        sums = _native.distance_sums(
            D,
            rows.astype(np.int32),
            np.ascontiguousarray(Y.T, dtype=np.float32),
            squared=squared,
            beyond=whole,
            n_threads=jobs.current(),
            tick=tick,
        ).sum(axis=0)
    count = D.size / 2 if whole else D.size
    d, d2 = sums[0] / count, sums[1] / count
    e, e2, de = (sums[2:].reshape(k, 3) / count).T
    spread = (d2 - d * d) * (e2 - e * e)
    explained = np.square(de - d * e) / np.where(spread > 0, spread, 1.0)
    return np.where(spread > 0, np.clip(1.0 - explained, 0.0, 1.0), 1.0)


def class_distances(D: NDArray[np.float32], own: NDArray, codes: NDArray, n_classes: int) -> NDArray[np.float64]:
    """Mean distance (C, C) between the members of two classes, 0 within one, NaN where one has none.

    ``D`` (m, n) are the distances of rows of the classes ``own`` (m,) to rows of the classes ``codes`` (n,).

    >>> D = np.array([[0, 1, 4], [1, 0, 3], [4, 3, 0]], np.float32)
    >>> class_distances(D, np.array([0, 0, 1]), np.array([0, 0, 1]), 2)
    array([[0. , 3.5],
           [3.5, 0. ]])
    """
    member = np.eye(n_classes, dtype=np.float32)[codes]
    sums = np.zeros((n_classes, n_classes))
    np.add.at(sums, own, D @ member)  # float32 sums of a row, float64 over rows
    pairs = np.outer(np.bincount(own, minlength=n_classes), np.bincount(codes, minlength=n_classes))
    C = np.divide(sums, pairs, out=np.full_like(sums, np.nan), where=pairs > 0)
    C = (C + C.T) / 2
    np.fill_diagonal(C, 0.0)
    return C
