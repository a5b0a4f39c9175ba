"""The graph of neighbours: symmetric edges, its connected components, and bridges between them."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from lowdim.relate import precomputed_graph
from lowdim.relate.geodesics import Beside
from lowdim.relate.neighbors import demand_singles, nearest, within
from lowdim.work.backend_arrays import to_numpy
from lowdim.work.dispatch import operation
from lowdim.work.rows import take

_FEW = 32  # rows of a component up to which all such components share one search
_ROUNDS = 32  # rounds in which closed classes grow


class Graph(NamedTuple):
    """Undirected graph of n rows: each edge is stored from both ends, those of row i at starts[i] … starts[i + 1].

    ``starts`` (n + 1) int64, ``ends`` int32 and sorted, ``lengths`` float32.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int32]
    lengths: NDArray[np.float32]

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.starts) - 1

    def tails(self) -> NDArray[np.int32]:
        """Row that each stored edge starts from."""
        return np.repeat(np.arange(self.n, dtype=np.int32), np.diff(self.starts))


class Bridges(NamedTuple):
    """Pairs of rows (b, 2) that connect the components of a graph, and their distances (b,)."""

    pairs: NDArray[np.int32]
    lengths: NDArray[np.float32]


def undirected(n: int, tails: NDArray, ends: NDArray, lengths: NDArray) -> Graph:
    """Graph with an edge wherever one of two rows is a neighbour of the other.

    Where rounding made the two lengths of an edge differ, the shorter is used; edges of length 0 are kept.

    >>> undirected(3, np.array([0, 1, 2]), np.array([1, 0, 1]), np.array([1.0, 1.0, 2.0])).ends
    array([1, 0, 2, 1], dtype=int32)
    """
    key = np.concatenate([tails.astype(np.int64) * n + ends, ends.astype(np.int64) * n + tails])
    order = np.argsort(key)
    key = key[order]
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    key, lengths = key[first], np.minimum.reduceat(np.concatenate([lengths, lengths])[order], first)
    starts = np.searchsorted(key, np.arange(n + 1, dtype=np.int64) * n)
    return Graph(starts.astype(np.int64), (key % n).astype(np.int32), lengths.astype(np.float32))


@operation
def neighbor_graph(X: Any, k: int | None, radius: float | None, metric: str) -> Graph:
    """Graph of each row of ``X`` with its k nearest, or with all within the radius; a row without any is an error."""
    n = X.shape[0]
    demand_singles(X, metric)
    if radius is None:
        found = nearest(X, k or 1, metric=metric)
        return undirected(
            n, np.repeat(np.arange(n), found.indices.shape[1]), found.indices.ravel(), found.distances.ravel()
        )
    radius = float(radius)
    near = within(X, radius, metric=metric)
    alone = np.flatnonzero(np.diff(near.indptr) == 0)
    if len(alone):
        least = float(nearest(X, 1, metric=metric).distances.max())
        raise rows_alone(radius, alone, least)
    return undirected(n, np.repeat(np.arange(n), np.diff(near.indptr)), near.indices, near.distances)


def rows_alone(radius: float, alone: NDArray, least: float) -> ValueError:
    """Error message for a radius that leaves rows without neighbours; ``least`` is the smallest that does not."""
    return ValueError(
        f"radius must reach a neighbour of every row; got {radius:g}, which leaves {len(alone):,} rows without (the "
        f"first is row {alone[0]}). Pass {1.0006 * least:.4g} or more, or use n_neighbors."  # never rounded below
    )


@operation(on=1)
def beside(X: Any, queries: Any, k: int | None, radius: float | None, metric: str) -> Beside:
    """Neighbours of new rows among those of ``X``: the k nearest, or those within the radius (at least the nearest).

    For ``metric="precomputed"`` the queries are distances to the rows of ``X``, which is not read.
    """
    m = queries.shape[0]
    if radius is None:
        rows, lengths = _nearest_to(X, queries, k or 1, metric)
        return Beside(np.arange(m + 1) * rows.shape[1], rows.ravel(), lengths.ravel())
    if metric == "precomputed" and sp.issparse(queries):
        starts, rows, lengths = precomputed_graph.within(queries, float(radius), itself=False)
        tails = np.repeat(np.arange(m), np.diff(starts))
    elif metric == "precomputed":
        tails, rows = (found.astype(np.int32) for found in np.nonzero(queries <= radius))
        lengths = queries[tails, rows]
    else:
        near = within(X, float(radius), queries=queries, metric=metric)
        tails, rows, lengths = np.repeat(np.arange(m), np.diff(near.indptr)), near.indices, near.distances
    lone = np.setdiff1d(np.arange(m), tails)
    if len(lone):
        first, apart = _nearest_to(X, queries[lone], 1, metric)
        tails, rows = np.concatenate([tails, lone]), np.concatenate([rows, first[:, 0]])
        lengths = np.concatenate([lengths, apart[:, 0]])
    order = np.argsort(tails, kind="stable")
    starts = np.searchsorted(tails[order], np.arange(m + 1)).astype(np.int64)
    return Beside(starts, rows[order].astype(np.int32), lengths[order].astype(np.float32))


def _nearest_to(X: Any, queries: Any, k: int, metric: str) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The k nearest rows (m, k) of ``X`` to each query, all where there are fewer, and their distances."""
    if metric == "precomputed" and sp.issparse(queries):
        found, lengths = precomputed_graph.nearest(queries, k, itself=False)
        return found, lengths.astype(np.float32)
    if metric == "precomputed":
        rows = np.argsort(queries, axis=1, kind="stable")[:, :k]
        return rows.astype(np.int32), np.take_along_axis(queries, rows, axis=1).astype(np.float32)
    near = nearest(X, min(k, X.shape[0]), queries=queries, metric=metric)
    return near.indices, near.distances.astype(np.float32)


@operation
def in_own_unit(graph: Graph) -> tuple[Graph, float]:
    """The graph with its lengths divided by a power of 2 near the longest, so that squares are finite in float32.

    >>> in_own_unit(Graph(np.array([0, 1, 2]), np.array([1, 0], np.int32), np.full(2, 6e30, np.float32)))[1] > 4e30
    True
    """
    unit = float(np.exp2(np.floor(np.log2(graph.lengths.max(initial=0) or 1.0))))
    return graph._replace(lengths=graph.lengths / np.float32(unit)), unit


@operation
def joined(graph: Graph, bridges: Bridges) -> Graph:
    """The graph with the bridges as edges."""
    tails = np.concatenate([graph.tails(), bridges.pairs[:, 0]])
    ends = np.concatenate([graph.ends, bridges.pairs[:, 1]])
    return undirected(graph.n, tails, ends, np.concatenate([graph.lengths, bridges.lengths]))


@operation
def part_of(graph: Graph, rows: NDArray) -> Graph:
    """The subgraph of some rows, numbered in the order given; edges to other rows are dropped.

    >>> part_of(undirected(3, np.array([0, 1]), np.array([1, 2]), np.array([1.0, 2.0])), np.array([2, 1])).lengths
    array([2., 2.], dtype=float32)
    """
    place = np.full(graph.n, -1, np.int32)
    place[rows] = np.arange(len(rows), dtype=np.int32)
    tails, ends = place[graph.tails()], place[graph.ends]
    inside = np.flatnonzero((tails >= 0) & (ends >= 0))
    inside = inside[np.lexsort((ends[inside], tails[inside]))]
    starts = np.searchsorted(tails[inside], np.arange(len(rows) + 1))
    return Graph(starts.astype(np.int64), ends[inside], graph.lengths[inside])


@operation
def components(graph: Graph) -> NDArray[np.int32]:
    """Component (n,) of each row, numbered from the largest to the smallest."""
    return _by_size(connected_components(_pattern(graph.starts, graph.ends), directed=False)[1])


def closed_classes(starts: NDArray, ends: NDArray) -> NDArray[np.int32]:
    """Closed class (n,) of each row of a directed graph, numbered from the largest; −1 for rows in none.

    A class is a set of rows that reach each other; it is closed if no edge leaves it. The rows of M in LLE have as
    many independent null vectors as there are closed classes.

    >>> closed_classes(np.array([0, 1, 2, 3]), np.array([1, 0, 1]))
    array([ 0,  0, -1], dtype=int32)
    """
    count, labels = connected_components(_pattern(starts, ends), directed=True, connection="strong")
    if count == 1:
        return np.zeros(len(labels), np.int32)
    tails = np.repeat(labels, np.diff(starts))
    open_ = np.zeros(labels.max() + 1, bool)
    open_[tails[tails != labels[ends]]] = True
    out = np.full(len(labels), -1, np.int32)
    inside = ~open_[labels]
    out[inside] = _by_size(labels[inside])
    return out


def _pattern(starts: NDArray, ends: NDArray) -> sp.csr_array:
    """Edges without their lengths, since SciPy would drop those of length 0."""
    n = len(starts) - 1
    return sp.csr_array((np.ones(len(ends), np.int8), ends, starts), shape=(n, n))


def _by_size(labels: NDArray) -> NDArray[np.int32]:
    """Labels numbered by falling size, the part of the first row first among equals."""
    _, first, codes, counts = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), np.int32)
    rank[np.lexsort((first, -counts))] = np.arange(len(counts), dtype=np.int32)
    return rank[codes]


@operation
def closest_bridges(X: Any, labels: NDArray, metric: str) -> Bridges:
    """The shortest bridges that join all parts: the least spanning tree over their closest pairs.

    By Borůvka's rounds: every part but the largest finds the nearest row outside it, exactly. Parts are numbered from
    0; ``X`` are rows, or distances for ``metric="precomputed"``.

    >>> closest_bridges(np.array([[0.0], [1.0], [5.0], [7.0]]), np.array([0, 0, 1, 2]), "euclidean").pairs
    array([[2, 3],
           [1, 2]], dtype=int32)
    """
    return spanning_bridges(X, labels, metric)


def spanning_bridges(X: Any, labels: NDArray, metric: str) -> Bridges:
    """The same for rows of any backend."""
    labels = labels.copy()
    pairs: list[tuple[int, int]] = []
    lengths: list[float] = []
    while labels.any():
        largest = np.bincount(labels).argmax()
        rows = np.flatnonzero(labels != largest)
        near, apart = _nearest_outside(X, labels, rows, metric)
        best: dict[int, tuple[float, int, int]] = {}
        for d, i, j in zip(apart.tolist(), rows.tolist(), near.tolist(), strict=True):
            part = int(labels[i])
            best[part] = min(best.get(part, (np.inf, 0, 0)), (d, min(i, j), max(i, j)))
        for d, i, j in sorted(best.values()):
            if labels[i] != labels[j]:
                labels[labels == labels[j]] = labels[i]
                pairs.append((i, j))
                lengths.append(d)
        labels = np.unique(labels, return_inverse=True)[1]
    order = np.argsort(lengths, kind="stable")
    return Bridges(np.array(pairs, np.int32).reshape(-1, 2)[order], np.array(lengths, np.float32)[order])


class Neighborhoods(NamedTuple):
    """Directed neighbours: those of row i are ends[starts[i] … starts[i + 1]]."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int32]


def bridge_classes(X: Any, neighbors: NDArray) -> tuple[Neighborhoods, Bridges]:
    """Neighbours and bridges that leave one closed class: in rounds, each class is joined to the nearest row outside.

    ``neighbors`` (n, k) are those of each row. A bridge leads to the nearest row, in a class or not, so that classes
    grow along the data rather than across, and is an edge from both ends. After the last round, the classes
    left are connected by their closest pairs.
    """
    n, k = neighbors.shape
    bridges = Bridges(np.empty((0, 2), np.int32), np.empty(0, np.float32))
    near = Neighborhoods(np.arange(n + 1) * k, neighbors.ravel())
    for turn in range(_ROUNDS + 1):
        parts = closed_classes(*near)
        if parts.max() == 0:
            break
        if turn < _ROUNDS:
            rows = np.flatnonzero(parts > 0)
            other, apart = _nearest_outside(X, parts + 1, rows, "euclidean")
            order = np.lexsort((rows, apart))
            best = order[np.unique(parts[rows[order]], return_index=True)[1]]
            new = Bridges(np.column_stack([rows, other])[best].astype(np.int32), apart[best])
        else:
            rows = np.flatnonzero(parts >= 0)
            new = closest_bridges(X[rows], parts[rows], "euclidean")
            new = Bridges(rows[new.pairs].astype(np.int32), new.lengths)
        pairs = np.sort(np.concatenate([bridges.pairs, new.pairs]), axis=1)
        pairs, first = np.unique(pairs, axis=0, return_index=True)
        bridges = Bridges(pairs, np.concatenate([bridges.lengths, new.lengths])[first])
        tails = np.concatenate([np.repeat(np.arange(n), k), pairs.ravel()])
        order = np.argsort(tails, kind="stable")
        ends = np.concatenate([neighbors.ravel(), pairs[:, ::-1].ravel()])[order]
        near = Neighborhoods(np.searchsorted(tails[order], np.arange(n + 1)), ends)
    order = np.argsort(bridges.lengths, kind="stable")
    return near, Bridges(bridges.pairs[order], bridges.lengths[order])


def overlap_bridges(neighbors: NDArray, pairs: NDArray, shared: int) -> Neighborhoods:
    """Neighbours (n, k) as lists, each end of a bridge with the other end and the first ``shared`` neighbours of that.

    The neighbourhoods of the two ends then share enough rows to be aligned.

    >>> overlap_bridges(np.array([[1], [0], [3], [2]], np.int32), np.array([[1, 2]]), 1).ends
    array([1, 0, 2, 3, 0, 1, 3, 2], dtype=int32)
    """
    n, k = neighbors.shape
    if not len(pairs):
        return Neighborhoods(np.arange(n + 1) * k, neighbors.ravel())
    near, tails = [neighbors.ravel()], [np.repeat(np.arange(n), k)]
    for i, j in np.concatenate([pairs, pairs[:, ::-1]]).tolist():
        new = np.setdiff1d(np.concatenate([[j], neighbors[j, :shared]]), np.concatenate([[i], neighbors[i]]))
        near.append(new.astype(np.int32))
        tails.append(np.full(len(new), i))
    key = np.unique(np.column_stack([np.concatenate(tails), np.concatenate(near)]), axis=0)
    return Neighborhoods(np.searchsorted(key[:, 0], np.arange(n + 1)), key[:, 1].astype(np.int32))


def _nearest_outside(X: Any, labels: NDArray, rows: NDArray, metric: str) -> tuple[NDArray, NDArray]:
    """Nearest row of another component, and its distance, for each of ``rows``."""
    near, apart = np.full(len(rows), -1), np.full(len(rows), np.inf, np.float32)
    sizes = np.bincount(labels)
    few = sizes[labels[rows]] <= _FEW
    if few.any():  # at least one of so many nearest rows is in another component
        k = int(sizes[labels[rows[few]]].max()) + 1
        found = nearest(X, k, queries=take(X, rows[few]), metric=metric, how="exact")
        indices, distances = to_numpy(found.indices), to_numpy(found.distances)
        other = np.argmax(labels[indices] != labels[rows[few]][:, None], axis=1)[:, None]
        near[few] = np.take_along_axis(indices, other, axis=1)[:, 0]
        apart[few] = np.take_along_axis(distances, other, axis=1)[:, 0]
    for asking, among in _sides(labels, rows[~few], len(sizes)):
        here = np.searchsorted(rows, asking)
        if metric == "precomputed":
            D = X[np.ix_(asking, among)]
            j = D.argmin(axis=1)
            other, away = among[j], D[np.arange(len(D)), j]
        else:
            found = nearest(take(X, among), 1, queries=take(X, asking), metric=metric, how="exact")
            other, away = among[to_numpy(found.indices)[:, 0]], to_numpy(found.distances)[:, 0]
        nearer = (near[here] < 0) | (away < apart[here]) | ((away == apart[here]) & (other < near[here]))
        near[here[nearer]], apart[here[nearer]] = other[nearer], away[nearer]
    return near, apart


def _sides(labels: NDArray, rows: NDArray, count: int) -> Iterator[tuple[NDArray, NDArray]]:
    """Some of the ascending ``rows``, and rows of others of ``count`` components: together, all of those for each row.

    Where there are many components, those whose numbers differ in a binary digit, in a few searches for all of them.
    """
    digits, parts = (count - 1).bit_length(), np.unique(labels[rows])
    if len(parts) <= 2 * digits:
        for part in parts:
            yield rows[labels[rows] == part], np.flatnonzero(labels != part)
        return
    for digit in range(digits):
        one = (labels >> digit & 1).astype(bool)
        for side in (one, ~one):
            asking, among = rows[side[rows]], np.flatnonzero(~side)
            if len(asking) and len(among):
                yield asking, among
