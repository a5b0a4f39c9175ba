"""Lengths of the shortest paths on a graph of tensors, from many sources in parallel.

Sweeps over all rows go on until none gets shorter, so that the lengths have the bits of any other exact search. Sources
near each other share a tile, so that most tiles are idle in most sweeps.
"""

from typing import Any

import torch
import triton

from lowdim.backends.torch.kernels.relax import relax
from lowdim.backends.torch.space_filling_curve import along_curve
from lowdim.backends.torch.tensors import implements_on_device
from lowdim.relate import geodesics as numpy_geodesics
from lowdim.relate.geodesics import Beside
from lowdim.work import memory
from lowdim.work.progress import stage

_TILE = 256  # sources of a program
_EDGES = 8  # neighbours per step
_LOOK = 8  # sweeps between two tests whether any length decreased
_PIVOTS = 3  # rows by whose distances sources are ordered
_MANY = 2**22  # lengths from which on the order pays
_BACK = 2**26  # lengths put back in order at a time


@implements_on_device(numpy_geodesics.geodesics)
def geodesics(graph: Any, sources: Any = None, *, squared: bool = False) -> Any:
    """Distances (m, n) along the graph from each source to each row, or their squares; infinity without a path."""
    device = graph.starts.device
    if not isinstance(sources, Beside):
        rows = torch.arange(graph.n, device=device) if sources is None else torch.as_tensor(sources, device=device)
        sources = Beside(torch.arange(len(rows) + 1, device=device), rows, torch.zeros(len(rows), device=device))
    m, n = len(sources.starts) - 1, graph.n
    memory.require(
        4.0 * m * n + 4.0 * n * triton.cdiv(m, _TILE) + 8.0 * _BACK,
        f"Distances along the graph from {m:,} rows to {n:,}",
        "Use landmarks, or fewer rows.",
        graph.starts,
    )
    if not m:
        return torch.empty(0, n, device=device)
    order = torch.arange(m, device=device)
    if m > 1 and m * n >= _MANY:
        order = torch.sort(along_curve(_pivot_distances(graph)[sources.rows[sources.starts[:-1]].long()])).indices
    T = _swept(graph, sources, order)
    back = torch.empty_like(order)
    back[order] = torch.arange(m, device=device)
    for some in T.split(max(1, _BACK // m)):
        some.copy_(some[:, back])
    return (T.square_() if squared else T).T


def _pivot_distances(graph: Any) -> Any:
    """Distances (n, pivots) of all rows to a few that lie far from each other."""
    found, row = [], 0
    for _ in range(_PIVOTS):
        device = graph.starts.device
        pivot = Beside(
            torch.tensor([0, 1], device=device), torch.tensor([row], device=device), torch.zeros(1, device=device)
        )
        apart = _swept(graph, pivot, torch.zeros(1, dtype=torch.int64, device=device))[:, 0]
        apart = torch.where(apart.isfinite(), apart, 0.0)
        found.append(apart)
        row = int(torch.stack(found).amin(0).argmax())
    return torch.stack(found, 1)


def _swept(graph: Any, sources: Any, order: Any) -> Any:
    """Distances (n, m) of all rows from the sources in this order."""
    n, m, device = graph.n, len(order), graph.starts.device
    tile = _TILE if m > 16 else 16
    tiles = triton.cdiv(m, tile)
    place = torch.empty_like(order)
    place[order] = torch.arange(m, device=device)
    column = place.repeat_interleave(sources.starts.diff())
    T = torch.full((n, m), torch.inf, device=device)
    T[sources.rows.long(), column] = sources.lengths
    stamps = torch.full((n, tiles), -9, dtype=torch.int32, device=device)
    stamps[sources.rows.long(), column // tile] = 0
    changed = torch.zeros(1, dtype=torch.int32, device=device)
    with stage("shortest paths"):
        for turn in range(1, n + 2):
            relax[(n, tiles)](
                T, *graph, stamps, changed, m, tiles, turn, B=tile, BE=_EDGES, num_warps=1 if tile < 64 else 2
            )
            if turn % _LOOK == 0:
                if not int(changed):
                    break
                changed.zero_()
    return T
