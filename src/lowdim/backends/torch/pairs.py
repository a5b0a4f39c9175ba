"""The pairs of rows that PaCMAP uses, on a device; random numbers are drawn as for NumPy rows."""

from typing import Any

import torch

from lowdim.backends.torch.neighbors import demand_metric, euclidean_rows
from lowdim.backends.torch.tensors import implements_on_device, to_numpy
from lowdim.relate import pairs as numpy_pairs
from lowdim.relate.pairs import Further
from lowdim.work.progress import stage

_ROOM = 2**25  # numbers held at a time
_RING = 5000  # rows from which further pairs form a ring, fewer than in NumPy, where other partners are drawn


@implements_on_device(numpy_pairs.scales)
def scales(distances: Any) -> Any:
    """Mean distance (n,) of the fourth to sixth neighbour at ascending ``distances`` (n, k), or of the last ones."""
    return numpy_pairs.scale_columns(distances).double().mean(1).clamp_(min=numpy_pairs.LEAST)


@implements_on_device(numpy_pairs.nearest_by_scale)
def nearest_by_scale(indices: Any, distances: Any, own: Any, theirs: Any, k: int) -> Any:
    """Columns (m, k) of the neighbours (m, c) with the smallest ``d²`` over the scales of both rows."""
    own, theirs = own.to(distances.dtype)[:, None], theirs.to(distances.dtype)
    scaled = (distances / own).square() * (own / theirs[indices.long()])
    return torch.sort(scaled, dim=1, stable=True).indices[:, :k].int()


@implements_on_device(numpy_pairs.at_columns)
def at_columns(indices: Any, columns: Any) -> Any:
    """Entries (m, k) of ``indices`` (m, c) at these columns of each row."""
    return torch.gather(indices, 1, columns.long())


@implements_on_device(numpy_pairs.chosen)
def chosen(columns: Any, width: int) -> Any:
    """Weights (m, width) that are 1 at these columns (m, k) of each row, 0 elsewhere."""
    return torch.zeros(len(columns), width, device=columns.device).scatter_(1, columns.long(), 1.0)


@implements_on_device(numpy_pairs.draw_mid)
def draw_mid(X: Any, each: int, metric: str, seed: int) -> Any:
    """Partners (n, each) of middle distance: the second nearest of six random rows."""
    demand_metric(metric)
    A, _ = euclidean_rows(X, None, metric)
    n, d = A.shape
    mid = torch.empty(n, each, dtype=torch.int32, device=X.device)
    with stage("pairs", total=n) as tick:
        for rows, drawn in numpy_pairs.candidates(n, each, seed):
            own, others = slice(int(rows[0]), int(rows[-1]) + 1), torch.as_tensor(drawn, device=X.device).long()
            step = max(1, _ROOM // (others.shape[1] * d))
            apart = torch.cat(
                [
                    (A[own][some].double()[:, None] - A[others[some]]).square().sum(2)
                    for some in torch.arange(len(rows), device=X.device).split(step)
                ]
            )
            few = others.shape[1] // each
            nearest = torch.sort(apart.view(-1, few), dim=1, stable=True).indices[:, min(2, few) - 1 : min(2, few)]
            mid[own] = torch.gather(others.view(-1, few), 1, nearest).view(-1, each).int()
            tick(own.stop)
    return mid


@implements_on_device(numpy_pairs.draw_further)
def draw_further(near: Any, each: int, seed: int) -> Further:
    """Further pairs, ``each`` per row, at random among the rows that are not ``near`` (n, k)."""
    n, there = len(near), {"device": near.device}
    if n < min(_RING, numpy_pairs.RING):  # few, so they are drawn in NumPy
        drawn = numpy_pairs.draw_further(to_numpy(near), each, seed)
        return Further(*(torch.as_tensor(part, **there) for part in drawn))
    order, shifts = (torch.as_tensor(part, **there) for part in numpy_pairs.ring(n, each, seed))
    place = torch.empty(n, dtype=torch.int64, **there)
    place[order.long()] = torch.arange(n, **there)
    paired = torch.zeros(n, dtype=torch.bool, **there)
    paired[shifts.long()] = paired[n - shifts.long()] = True
    rows, columns = paired[(place[near.long()] - place[:, None]) % n].nonzero().T
    others = near[rows, columns].long()
    both = torch.unique(torch.minimum(rows, others) * n + torch.maximum(rows, others))
    excluded = torch.stack([both // n, both % n], dim=1).int()
    return Further(torch.empty(n, 0, dtype=torch.int32, **there), order, shifts, excluded)
