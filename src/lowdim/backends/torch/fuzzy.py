"""The fuzzy graph of UMAP on a device."""

from math import exp, log2
from typing import Any

import torch
import triton
from numpy.typing import NDArray

from lowdim.backends.torch.affinities import united
from lowdim.backends.torch.kernels.memberships import memberships as membership_kernel
from lowdim.backends.torch.tensors import implements_on_device
from lowdim.relate import fuzzy as numpy_fuzzy
from lowdim.relate.fuzzy import FuzzyGraph, Memberships
from lowdim.work.progress import stage

_BLOCK = 8  # rows of a program


@implements_on_device(numpy_fuzzy.memberships)
def memberships(distances: Any, local_connectivity: float = 1.0, typical: float | None = None) -> Memberships:
    """Memberships of neighbours at ascending ``distances`` (n, k); the row itself is the (k + 1)st."""
    n, k = distances.shape
    most = float(distances.max()) if n else 0.0
    if most == float("inf") or most != most:
        raise ValueError(f"Memberships: distances must be finite in {distances.dtype}; got {most}. Scale the data.")
    typical = typical_distance(distances) if typical is None else typical
    with stage("memberships", total=n):
        rho = _nearest_distinct(distances, min(float(local_connectivity), float(k)))
        v, sigma = torch.empty(n, k, device=rho.device), torch.empty(n, device=rho.device)
        sizes = (n, k, log2(k + 1), typical)
        membership_kernel[(triton.cdiv(n, _BLOCK),)](
            distances, rho, v, sigma, *sizes, BR=_BLOCK, BK=triton.next_power_of_2(k)
        )
    return Memberships(v, rho.float(), sigma)


def _nearest_distinct(distances: Any, local: float) -> Any:
    """Distance (n,) at which ``local`` neighbours are reached, duplicates not counted, in float64."""
    d, k = distances.double(), distances.shape[1]
    same, whole = (d <= 0).sum(1, keepdim=True), int(local)
    reached = d.gather(1, (same + whole - 1).clamp_(0, k - 1)) if whole else torch.zeros_like(d[:, :1])
    beyond = d.gather(1, (same + whole).clamp_(max=k - 1))
    rho = reached + (local - whole) * (beyond - reached)
    rho = torch.where(k - same < local, d[:, -1:], rho)
    return torch.where(same == k, 0.0, rho)[:, 0].contiguous()


@implements_on_device(numpy_fuzzy.typical_distance)
def typical_distance(distances: Any) -> float:
    """Mean of ``distances`` (n, k), the distance 0 of each row to itself included."""
    k = distances.shape[1]
    return float(distances.mean(dtype=torch.float64)) * k / (k + 1)


@implements_on_device(numpy_fuzzy.fuzzy_union)
def fuzzy_union(indices: Any, v: Any, mix: float = 1.0) -> FuzzyGraph:
    """Graph of the neighbours (n, k) of each row and their memberships (n, k): union (``mix`` = 1) to intersection."""

    def join(own: Any, back: Any) -> Any:
        both = own * back
        return mix * (own + back - both) + (1 - mix) * both

    with stage("graph"):
        return FuzzyGraph(*united(indices, v, join))


@implements_on_device(numpy_fuzzy.sharpened)
def sharpened(graph: Any, codes: NDArray, supervision: float) -> FuzzyGraph:
    """Graph with weaker edges between classes ``codes`` (n,), −1 for rows without a label."""
    indptr, indices, values = graph
    n, far = len(indptr) - 1, supervision / max(1 - supervision, 1e-12)
    counts, ends, known = indptr.diff(), indices.long(), torch.as_tensor(codes, device=values.device)
    tails = torch.arange(n, device=values.device).repeat_interleave(counts)
    a, b = known[tails], known[ends]
    other = exp(-numpy_fuzzy.OTHER * far)
    factor = torch.where(a == b, 1.0, torch.full_like(values, other, dtype=torch.float64))
    unknown = torch.full_like(factor, exp(-min(numpy_fuzzy.UNKNOWN, far)))
    return _connected(indptr, tails, ends, values * torch.where((a < 0) | (b < 0), unknown, factor))


@implements_on_device(numpy_fuzzy.intersected)
def intersected(graph: Any, targets: Any, weight: float) -> FuzzyGraph:
    """Fuzzy intersection of a graph with that of the targets, which has a ``weight`` of 0 to 1."""
    n, device = len(graph.indptr) - 1, graph.values.device
    rows = torch.arange(n, device=device)
    keys = [rows.repeat_interleave(part.indptr.diff()) * n + part.indices.long() for part in (graph, targets)]
    every = torch.unique(torch.cat(keys))  # ascending
    floors = numpy_fuzzy.absent(graph.values, targets.values)
    v, u = (torch.full(every.shape, floor, dtype=torch.float64, device=device) for floor in floors)
    v[torch.searchsorted(every, keys[0])] = graph.values.double()
    u[torch.searchsorted(every, keys[1])] = targets.values.double()
    starts = torch.searchsorted(every, torch.arange(n + 1, device=device) * n)
    return _connected(starts, every // n, every % n, numpy_fuzzy.together(v, u, weight))


def _connected(indptr: Any, tails: Any, ends: Any, weighed: Any) -> FuzzyGraph:
    """Rows scaled to a largest membership of 1, and both directions of their edges united."""
    n = len(indptr) - 1
    most = torch.segment_reduce(weighed, "max", lengths=indptr.diff())
    weighed = weighed / torch.where(most > 0, most, 1.0)[tails]
    # Both directions are stored: those of an edge have one place in the orders by (row, column) and (column, row).
    forth, back = torch.argsort(tails * n + ends), torch.argsort(ends * n + tails)
    own, theirs = weighed[forth], weighed[back]
    return FuzzyGraph(indptr, ends[forth].int(), (own + theirs - own * theirs).float())
