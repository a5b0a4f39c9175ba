"""Suspected short circuits: neighbours that lie far apart along the data."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.relate.geodesics import geodesics
from lowdim.relate.graph import Graph, components
from lowdim.work.backend_arrays import moved_to, to_numpy
from lowdim.work.dispatch import operation
from lowdim.work.user_warnings import warn

_FEWEST = 5  # neighbours in the reference graph
_SUSPECTS = 256  # longest edges, whose rows' detours are measured
_DETOUR, _EXTENT = 8.0, 1 / 3  # times the edge, and share of the extent of the graph, from which a detour counts


class ShortCircuits(NamedTuple):
    """Suspected edges (s, 2), their lengths (s,), and the shortest paths (s,) without such edges."""

    pairs: NDArray[np.int32]
    lengths: NDArray[np.float32]
    detours: NDArray[np.float32]


@operation
def short_circuits(graph: Graph) -> ShortCircuits:
    """Edges that may connect rows far apart along the data, longest detour first.

    Where there are more neighbours than the graph needs to stay connected, the fewest that suffice, with some to
    spare, form a reference graph. Of the other edges, from the rows whose edges are longest relative to their
    neighbourhoods, one is suspected if the shortest path between its ends in the reference graph is eight times its
    length and a third of the graph's extent. In high dimension paths are never that long, and nothing is suspected.
    """
    return find_short_circuits(graph, graph.starts)


def find_short_circuits(graph: Graph, like: Any) -> ShortCircuits:
    """The same, with shortest paths computed on the device of ``like``."""
    tails = graph.tails()
    spare = _thinned(graph, tails)
    local = np.add.reduceat(np.append(graph.lengths, 0), graph.starts[:-1]) / np.maximum(1, np.diff(graph.starts))
    unusual = graph.lengths / np.maximum(local[tails] + local[graph.ends], 1e-30)
    extra = np.flatnonzero(spare & (tails < graph.ends))
    sources = np.unique(tails[extra[np.argsort(-unusual[extra], kind="stable")[:_SUSPECTS]]])
    starts = np.concatenate([[0], np.cumsum(~spare)])[graph.starts]
    thin = moved_to(Graph(starts.astype(np.int64), graph.ends[~spare], graph.lengths[~spare]), like)
    D = to_numpy(geodesics(thin, sources))
    place = np.full(graph.n, -1)
    place[sources] = np.arange(len(sources))
    edges = np.flatnonzero(spare & (place[tails] >= 0) & ((tails < graph.ends) | (place[graph.ends] < 0)))
    detours, lengths = D[place[tails[edges]], graph.ends[edges]], graph.lengths[edges]
    extent = float(D.max(initial=0, where=np.isfinite(D)))
    bad = np.flatnonzero(np.isfinite(detours) & (detours > np.maximum(_EXTENT * extent, _DETOUR * lengths)))
    bad = bad[np.argsort(-detours[bad], kind="stable")]
    pairs = np.sort(np.column_stack([tails[edges[bad]], graph.ends[edges[bad]]]), axis=1)
    return ShortCircuits(pairs, lengths[bad], detours[bad])


def _thinned(graph: Graph, tails: NDArray) -> NDArray[np.bool_]:
    """Which edges can be removed: all but the shortest of each row, 1.5 times as many as connectivity needs."""
    parts, most = components(graph).max(), int(np.diff(graph.starts).max(initial=0))
    rank = np.empty(len(tails), np.int64)
    rank[np.lexsort((graph.lengths, tails))] = np.arange(len(tails)) - graph.starts[tails]
    reverse = np.argsort(graph.ends, kind="stable")  # the same edge from its other end
    rank = np.minimum(rank, rank[reverse])
    few = _FEWEST
    while few < most:
        kept = rank < few
        starts = np.concatenate([[0], np.cumsum(kept)])[graph.starts]
        few += few // 2
        if components(Graph(starts, graph.ends[kept], graph.lengths[kept])).max() == parts:
            break
    return np.asarray(rank >= few)


def report_short_circuits(graph: Graph, rows: NDArray | None, name: str, advice: str) -> NDArray[np.int32]:
    """Suspected short circuits (s, 2) of a graph on ``rows`` (None: all), with a warning."""
    suspects = short_circuits(graph)
    pairs = suspects.pairs if rows is None else rows[suspects.pairs].astype(np.int32)
    if len(pairs):
        told = "1 pair is a suspected short circuit"
        if len(pairs) > 1:
            told = f"{len(pairs):,} pairs are suspected short circuits"
        (i, j) = pairs[0]
        warn(
            f"{name}: neighbours should be close along the data; {told} (short_circuits_), such as rows {i} and {j}, "
            f"{suspects.lengths[0]:.3g} apart and {suspects.detours[0]:.3g} along other edges. {advice}"
        )
    return pairs
