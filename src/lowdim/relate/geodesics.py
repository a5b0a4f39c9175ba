"""Geodesic distances: lengths of the shortest paths on a graph of neighbours."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.relate.packed_symmetric import Half, bytes_for_half, half_panels
from lowdim.work import thread_limit
from lowdim.work.dispatch import operation
from lowdim.work.progress import stage

if TYPE_CHECKING:
    from lowdim.relate.graph import Graph


class Beside(NamedTuple):
    """Points outside a graph, each connected to some of its rows: starts (m + 1), rows, and the distances to them."""

    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    lengths: NDArray[np.float32]


@operation
def geodesics(
    graph: "Graph", sources: "NDArray | Beside | None" = None, *, squared: bool = False
) -> NDArray[np.float32]:
    """Distances (m, n) along the graph from each source to each row, or their squares; infinity where there is no path.

    Sources are rows of the graph (all of them for None) or points outside it. Each distance is the least over all
    paths of the lengths summed in float32 from the source, for any number of threads.
    """
    if not isinstance(sources, Beside):
        rows = np.arange(graph.n) if sources is None else np.asarray(sources)
        sources = Beside(np.arange(len(rows) + 1), rows.astype(np.int32), np.zeros(len(rows), np.float32))
    m = len(sources.starts) - 1
    D = np.empty((m, graph.n), np.float32)
    with stage("shortest paths", total=m) as tick:
        _native.geodesics(*graph, *sources, D, squared=squared, n_threads=thread_limit.current(), tick=tick)
    return D


def all_geodesics(graph: "Graph") -> tuple[Half, NDArray[np.int32]]:
    """Squared distances along the graph between all rows, each pair once, and the order (n,) of the rows in them.

    Each is the square of a sum in float32 along a shortest path, in an order that depends on the graph alone. The bits
    depend on neither the number of threads nor the instruction set.
    """
    panels = half_panels(graph.n)
    with stage("shortest paths", total=graph.n) as tick:
        order = _native.all_geodesics(*graph, panels, n_threads=thread_limit.current(), tick=tick)
    return Half(panels, graph.n), order


def bytes_for(m: int, n: int) -> float:
    """Memory that :func:`geodesics` needs for m sources and n rows: the distances and the workspace of each thread."""
    return 4.0 * m * n + _bytes_to_search(n)


def bytes_for_all(n: int) -> float:
    """The same for :func:`all_geodesics`, with a second graph."""
    return bytes_for_half(n) + _bytes_to_search(n) + 200.0 * n


def _bytes_to_search(n: int) -> float:
    return thread_limit.current() * n * (64 * 4 + 32.0)
