"""New points in a fixed map on a device."""

from collections.abc import Callable
from typing import Any

import torch
import triton

from lowdim import _native
from lowdim.backends.torch.density import of_new
from lowdim.backends.torch.kernels.sample_forces import sample_forces
from lowdim.backends.torch.repulsive_field import sums_at
from lowdim.backends.torch.tensors import implements_on_device
from lowdim.solve.descent import PLACING_STEPS
from lowdim.solve.divergence import Divergence
from lowdim.work.progress import Tick

_BLOCK = 2**24  # coordinates of neighbours held at a time

# Losses (m, 1) at positions (m, k), given those of their neighbours (m, near, k) and the weights of these (m, near),
# and the positions after a step of unit length.
Look = Callable[[Any, Any, Any], tuple[Any, Any]]
Looks = Callable[[slice], Look]  # of some of the new points


@implements_on_device(Divergence.place_new)
def place_new(self: Divergence, neighbors: Any, p: Any, Y: Any, tick: Tick) -> Any:
    """Positions (m, k) that minimise the divergence of each new point, with ``Y`` fixed."""

    def looks(some: slice) -> Look:
        added = None if self.density is None else of_new(self.density, some, Y.device)

        def look(others: Any, p: Any, y: Any) -> tuple[Any, Any]:
            return _divergences(self.falloff, others, p * self.late, Y, y, added)

        return look

    return placed_new(neighbors, p, Y, looks, tick)


def placed_new(neighbors: Any, p: Any, Y: Any, looks: Looks, tick: Tick) -> Any:
    """Positions (m, k) in float32 of new points with these neighbours in the map ``Y`` and weights (m, near).

    Each starts at the weighted median of its neighbours and at those of largest weight, takes steps that never increase
    its loss, keeps the position of the smallest, and stays in the bounding box of its neighbours.
    """
    m, near = neighbors.shape
    step = max(1, _BLOCK // (near * Y.shape[1]))
    out = torch.empty(m, Y.shape[1], device=Y.device)
    for start in range(0, m, step):
        some = slice(start, min(m, start + step))
        out[some] = _placed_block(Y[neighbors[some].long()].double(), p[some].double(), looks(some))
        tick(some.stop)
    return out


def _placed_block(others: Any, p: Any, look: Look) -> Any:
    weighs = (p > 0)[:, :, None]
    box = torch.where(weighs, others, torch.inf).amin(1), torch.where(weighs, others, -torch.inf).amax(1)
    best, least = _descended(others, p, _medians(others, p), box, look)
    order = torch.sort(p, dim=1, descending=True, stable=True).indices[:, : _native.PLACING_STARTS]
    for one in order.T:
        start = torch.gather(others, 1, one[:, None, None].expand(-1, 1, others.shape[2]))[:, 0]
        elsewhere = (start - best).square().sum(1, keepdim=True) > _native.PLACING_APART**2
        elsewhere &= torch.gather(p, 1, one[:, None]) > 0
        if bool(elsewhere.any()):
            y, value = _descended(others, p, start, box, look)
            better = elsewhere & (value < least)
            best, least = torch.where(better, y, best), torch.where(better, value, least)
    return best.float()


def _descended(others: Any, p: Any, y: Any, box: tuple[Any, Any], look: Look) -> tuple[Any, Any]:
    """Positions and losses (m, 1) after steps from ``y`` that neither increase a loss nor leave the box."""
    value, way = look(others, p, y)
    size = torch.ones_like(value)
    for _ in range(PLACING_STEPS):
        onto = torch.clamp(y + size * way, *box)
        moving = (onto - y).square().sum(1, keepdim=True) >= _native.PLACING_STILL**2
        if not bool(moving.any()):
            break
        there, onward = look(others, p, onto)
        better = moving & (there <= value)
        size = torch.where(better, (2 * size).clamp_(max=1.0), torch.where(moving, size / 2, size))
        y = torch.where(better, onto, y)
        value, way = torch.where(better, there, value), torch.where(better, onward, way)
    return y, value


def _medians(others: Any, p: Any) -> Any:
    """Weighted medians (m, k) of the positions (m, near, k)."""
    values, order = torch.sort(others, dim=1, stable=True)
    below = torch.gather(p[:, :, None].expand_as(others), 1, order).cumsum(1)
    half = 0.5 * p.sum(1)[:, None, None]
    first = (below >= half * (1 - 1e-12)).int().argmax(1, keepdim=True)
    return torch.gather(values, 1, first)[:, 0]


def _divergences(falloff: Any, others: Any, p: Any, Y: Any, y: Any, added: Any = None) -> tuple[Any, Any]:
    """:data:`Look` of ``KL(p‖q)`` with ``q_j = f(s_j)/φ(y)``, and of the density that is ``added``."""
    gap = y[:, None] - others
    s = gap.square().sum(2)
    if falloff.name == "gauss":
        pull, cost = torch.ones_like(s), s
    else:
        power = (falloff.dof + 1) / 2
        pull, cost = power / (falloff.dof + s), power * torch.log1p(s / falloff.dof)
    weight = p * pull
    curvature = weight.sum(1, keepdim=True)
    force, phi = sums_at(y.float(), Y, falloff)
    phi = phi.clamp_(min=1e-30)[:, None]
    drawn = (weight[:, :, None] * gap).sum(1)
    value = (p * cost).sum(1, keepdim=True) + phi.log()
    if added is not None:
        more, forces, stiffness = added(p, gap, s, torch.exp(-cost), pull)
        value, drawn, curvature = value + more, drawn - forces / 2, curvature + stiffness / 2
    return value, (force / phi - drawn) / curvature.clamp_(min=1e-30)


def among_sample(y: Any, S: Any, curve: tuple[float, float, float] | None) -> tuple[Any, Any]:
    """Forces (m, k) on single points and their costs (m, 1), summed over a sample ``S`` of the map.

    By ``curve``, the exponent, the logarithm of the scale and ``ε`` of UMAP's, or by further pairs of PaCMAP.
    """
    m, k = y.shape
    force, cost = torch.empty(m, k, device=S.device), torch.empty(m, device=S.device)
    wide = triton.next_power_of_2(k)
    law = curve or (1.0, 0.0, 0.0)
    block = {"BQ": max(1, 32 // wide), "BS": 32, "BD": wide}
    sample_forces[(triton.cdiv(m, block["BQ"]),)](
        y.float(), S, force, cost, m, len(S), k, *law, CURVE=curve is not None, **block
    )
    return force.double(), cost.double()[:, None]
