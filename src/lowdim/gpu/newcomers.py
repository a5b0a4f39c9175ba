"""New points of a map on a device, which stays as it is."""

from typing import Any

import torch

from lowdim.gpu.field import sums_at
from lowdim.work.progress import Tick

_STEPS = 100  # of a new point at most
_STILL = 1e-5  # a step of this length ends the search
_BLOCK = 2**24  # coordinates of neighbours held at a time


def settle(loss: Any, neighbors: Any, p: Any, Y: Any, tick: Tick) -> Any:
    """Places (m, k) at which new points have the least divergence of their own, ``Y`` held fast.

    Each starts at the weighted median of its neighbours and takes steps that never raise its loss.
    """
    m, near = neighbors.shape
    step = max(1, _BLOCK // (near * Y.shape[1]))
    out = torch.empty(m, Y.shape[1], device=Y.device)
    for start in range(0, m, step):
        some = slice(start, min(m, start + step))
        out[some] = _settled(loss, neighbors[some], p[some].double() * loss.late, Y)
        tick(some.stop)
    return out


def _settled(loss: Any, neighbors: Any, p: Any, Y: Any) -> Any:
    others = Y[neighbors.long()].double()
    y = _medians(others, p)
    value, way = _look(loss.falloff, others, p, Y, y)
    size = torch.ones(len(y), 1, dtype=torch.float64, device=Y.device)
    for _ in range(_STEPS):
        move = size * way
        moving = move.square().sum(1, keepdim=True) >= _STILL**2
        if not bool(moving.any()):
            break
        there, onward = _look(loss.falloff, others, p, Y, y + move)
        better = moving & (there <= value)
        size = torch.where(better, (2 * size).clamp_(max=1.0), torch.where(moving, size / 2, size))
        y = torch.where(better, y + move, y)
        value, way = torch.where(better, there, value), torch.where(better, onward, way)
    return y.float()


def _medians(others: Any, p: Any) -> Any:
    """Weighted medians (m, k) of the places (m, near, k)."""
    values, order = torch.sort(others, dim=1, stable=True)
    below = torch.gather(p[:, :, None].expand_as(others), 1, order).cumsum(1)
    half = 0.5 * p.sum(1)[:, None, None]
    first = (below >= half * (1 - 1e-12)).int().argmax(1, keepdim=True)
    return torch.gather(values, 1, first)[:, 0]


def _look(falloff: Any, others: Any, p: Any, Y: Any, y: Any) -> tuple[Any, Any]:
    """Loss (m, 1) at the places, and where a step of unit length would take each, by its own curvature."""
    gap = y[:, None] - others
    s = gap.square().sum(2)
    if falloff.name == "gauss":
        pull, cost = torch.ones_like(s), s
    else:
        power = (falloff.dof + 1) / 2
        pull, cost = power / (falloff.dof + s), power * torch.log1p(s / falloff.dof)
    weight = p * pull
    curvature = weight.sum(1, keepdim=True).clamp_(min=1e-30)
    force, phi = sums_at(y.float(), Y, falloff)
    phi = phi.clamp_(min=1e-30)[:, None]
    drawn = (weight[:, :, None] * gap).sum(1)
    return (p * cost).sum(1, keepdim=True) + phi.log(), (force / phi - drawn) / curvature
