"""The graph of neighbours of rows on a device, its edges as tensors; connected components are found in NumPy."""

from math import floor, log2
from typing import Any

import torch
from numpy.typing import NDArray

from lowdim.backends import TORCH
from lowdim.backends.torch.neighbors import demand_singles, nearest, within
from lowdim.backends.torch.tensors import implements_on_device
from lowdim.relate import graph as numpy_graph
from lowdim.relate.geodesics import Beside
from lowdim.relate.graph import Bridges, Graph
from lowdim.work.backend_arrays import all_to_numpy


def undirected(n: int, tails: Any, ends: Any, lengths: Any) -> Any:
    """Graph with an edge wherever one of two rows is a neighbour of the other; the shorter of two lengths is used."""
    tails, ends = tails.long(), ends.long()
    key, lengths = torch.cat([tails * n + ends, ends * n + tails]), torch.cat([lengths, lengths]).float()
    order = torch.sort(lengths, stable=True).indices
    order = order[torch.sort(key[order], stable=True).indices]
    key, lengths = key[order], lengths[order]
    first = torch.ones_like(key, dtype=torch.bool)
    first[1:] = key[1:] != key[:-1]
    key, lengths = key[first], lengths[first]
    starts = torch.searchsorted(key, torch.arange(n + 1, device=key.device) * n)
    return Graph(starts, (key % n).int(), lengths)


@implements_on_device(numpy_graph.neighbor_graph)
def neighbor_graph(X: Any, k: int | None, radius: float | None, metric: str) -> Any:
    """Graph of each row of ``X`` with its k nearest, or with all within the radius; a row without any is an error."""
    n = len(X)
    demand_singles(X, metric)
    if radius is None:
        found: Any = nearest(X, k or 1, metric=metric)
        tails = torch.arange(n, device=X.device).repeat_interleave(found.indices.shape[1])
        return undirected(n, tails, found.indices.view(-1), found.distances.view(-1))
    near: Any = within(X, radius, metric=metric)
    counts = near.indptr.diff()
    alone = (counts == 0).nonzero().view(-1)
    if len(alone):
        raise numpy_graph.rows_alone(radius, alone.cpu().numpy(), float(nearest(X, 1, metric=metric).distances.max()))
    return undirected(n, torch.arange(n, device=X.device).repeat_interleave(counts), near.indices, near.distances)


@implements_on_device(numpy_graph.beside)
def beside(X: Any, queries: Any, k: int | None, radius: float | None, metric: str) -> Any:
    """Neighbours of new rows among those of ``X``: the k nearest, or those within the radius (at least the nearest)."""
    m = len(queries)
    if radius is None:
        found: Any = nearest(X, min(k or 1, len(X)), queries, metric)
        starts = torch.arange(m + 1, device=X.device) * found.indices.shape[1]
        return Beside(starts, found.indices.view(-1), found.distances.view(-1).float())
    near: Any = within(X, radius, queries, metric)
    counts = near.indptr.diff()
    tails = torch.arange(m, device=X.device).repeat_interleave(counts)
    rows, lengths = near.indices, near.distances
    lone = (counts == 0).nonzero().view(-1)
    if len(lone):
        first: Any = nearest(X, 1, queries[lone], metric)
        tails, rows = torch.cat([tails, lone]), torch.cat([rows, first.indices[:, 0]])
        lengths = torch.cat([lengths, first.distances[:, 0]])
    tails, order = torch.sort(tails, stable=True)
    starts = torch.searchsorted(tails, torch.arange(m + 1, device=X.device))
    return Beside(starts, rows[order], lengths[order].float())


@TORCH.implements(numpy_graph.in_own_unit)
def in_own_unit(graph: Any) -> tuple[Any, float]:
    """The graph with its lengths divided by a power of 2 near the longest."""
    most = float(graph.lengths.max()) if len(graph.lengths) else 0.0
    unit = 2.0 ** floor(log2(most or 1.0))
    return graph._replace(lengths=graph.lengths / unit), unit


@TORCH.implements(numpy_graph.joined)
def joined(graph: Any, bridges: Bridges) -> Any:
    """The graph with the bridges as edges."""
    device = graph.starts.device
    pairs, lengths = (torch.as_tensor(part, device=device) for part in bridges)
    tails = torch.cat([_tails(graph), pairs[:, 0].long()])
    ends = torch.cat([graph.ends.long(), pairs[:, 1].long()])
    return undirected(graph.n, tails, ends, torch.cat([graph.lengths, lengths]))


@TORCH.implements(numpy_graph.part_of)
def part_of(graph: Any, rows: NDArray) -> Any:
    """The subgraph of some rows, numbered in the order given; edges to other rows are dropped."""
    device = graph.starts.device
    chosen = torch.as_tensor(rows, device=device)
    place = torch.full((graph.n,), -1, dtype=torch.int64, device=device)
    place[chosen] = torch.arange(len(chosen), device=device)
    tails, ends = place[_tails(graph)], place[graph.ends.long()]
    inside = (tails >= 0) & (ends >= 0)
    return undirected(len(chosen), tails[inside], ends[inside], graph.lengths[inside])


@TORCH.implements(numpy_graph.components)
def components(graph: Any) -> NDArray:
    """Component (n,) of each row, in NumPy, numbered from the largest to the smallest."""
    return numpy_graph.components(all_to_numpy(graph))


@TORCH.implements(numpy_graph.closest_bridges)
def closest_bridges(X: Any, labels: NDArray, metric: str) -> Bridges:
    """The shortest bridges that connect all components, in NumPy; neighbours are searched on the device."""
    return numpy_graph.spanning_bridges(X, labels, metric)


def _tails(graph: Any) -> Any:
    """Row that each stored edge starts from."""
    return torch.arange(graph.n, device=graph.starts.device).repeat_interleave(graph.starts.diff())
