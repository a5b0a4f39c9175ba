"""A graph of groups of neighbouring rows: each group is a row and those of its neighbours that have no nearer group."""

from typing import Any, NamedTuple

import torch

_ROUNDS = 6  # in which rows become the middle of a group
_LAST = torch.iinfo(torch.int64).max


class Graph(NamedTuple):
    """Sparse symmetric rows: their starts (n + 1,), columns and weights."""

    starts: Any
    columns: Any
    values: Any


def tails_of(starts: Any) -> Any:
    """The row of each entry."""
    return torch.arange(len(starts) - 1, device=starts.device).repeat_interleave(starts.diff())


def coarsened(graph: Graph, seed: int) -> tuple[Graph, Any]:
    """The graph of the groups, entries between rows of one group on its diagonal, and the group (n,) of each row."""
    group = _grouped(graph, seed)
    count = int(group.max()) + 1
    key = group[tails_of(graph.starts)] * count + group[graph.columns.long()]
    key, order = torch.sort(key, stable=True)
    key, sizes = torch.unique_consecutive(key, return_counts=True)
    values = torch.segment_reduce(graph.values.double()[order], "sum", lengths=sizes)
    starts = torch.searchsorted(key, torch.arange(count + 1, device=key.device) * count)
    return Graph(starts, (key % count).int(), values.float()), group


def _grouped(graph: Graph, seed: int) -> Any:
    """Group (n,) of each row, numbered from 0."""
    n, device = len(graph.starts) - 1, graph.starts.device
    tails, ends = tails_of(graph.starts), graph.columns.long()
    drawn = torch.Generator(device).manual_seed(seed & (2**63 - 1))
    rank = torch.randperm(n, device=device, generator=drawn)
    group = torch.full((n,), -1, dtype=torch.int64, device=device)
    for _ in range(_ROUNDS):
        free = group < 0
        if not bool(free.any()):
            break
        rivals = torch.where(free[tails] & free[ends] & (tails != ends), rank[ends], -1)
        middle = free & (rank > _most(rivals, tails, n))
        group[middle] = middle.nonzero().view(-1)
        group = torch.where(free & ~middle, _strongest(graph, tails, middle[ends], ends), group)
    left = group < 0  # rows between groups join that of a neighbour
    near = _strongest(graph, tails, ~left[ends], group[ends])
    group = torch.where(left, torch.where(near >= 0, near, torch.arange(n, device=device)), group)
    return torch.unique(group, return_inverse=True)[1]


def _strongest(graph: Graph, tails: Any, counted: Any, of: Any) -> Any:
    """For each row the entry of ``of`` at its largest weight among the edges that count, −1 without any."""
    n = len(graph.starts) - 1
    weights = torch.where(counted, graph.values, -1.0)
    most = torch.full((n,), -1.0, device=weights.device).scatter_reduce_(0, tails, weights, "amax")
    edges = torch.arange(len(weights), device=weights.device)
    first = torch.where(counted & (weights == most[tails]), edges, _LAST)
    first = torch.full((n,), _LAST, device=weights.device).scatter_reduce_(0, tails, first, "amin")
    return torch.where(first < _LAST, of[first.clamp(max=max(0, len(of) - 1))], -1)


def _most(values: Any, tails: Any, n: int) -> Any:
    return torch.full((n,), -1, dtype=torch.int64, device=values.device).scatter_reduce_(0, tails, values, "amax")
