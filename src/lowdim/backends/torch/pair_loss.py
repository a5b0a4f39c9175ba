"""The loss of PaCMAP over fixed pairs on a device: points are kept in the random order of the ring."""

from typing import Any

import torch
import triton

from lowdim import _native
from lowdim.backends.torch.anchors import DrawnPoints
from lowdim.backends.torch.cross_entropy import block_of
from lowdim.backends.torch.kernels.pair_step import pair_step
from lowdim.backends.torch.new_points import among_sample, placed_new
from lowdim.backends.torch.tensors import implements_on_device
from lowdim.solve import pair_loss as numpy_pair_loss
from lowdim.solve.anchors import Anchors
from lowdim.solve.descent import Reached, Tell, sample_of
from lowdim.solve.pair_loss import LAST, rate_at, weights_at
from lowdim.work.progress import Tick, stage

_TOLD = 10  # iterations between two ticks
_NEAR = _native.PAIR_NEAR


class _Ring:
    """The pairs from both ends, and a map, with their rows in the order of the ring."""

    def __init__(self, pairs: Any, Y: Any, anchors: Anchors | None = None) -> None:
        near, mid, further, order, self.shifts, excluded = pairs
        (self.n, self.k), there = Y.shape, {"device": Y.device}
        self.order = order.long()
        place = torch.empty(self.n, dtype=torch.int64, **there)
        place[self.order] = torch.arange(self.n, **there)
        rows = torch.arange(self.n, **there)
        ends, entries = [], []
        kinds = [(rows.repeat_interleave(of.shape[1]), of.reshape(-1)) for of in (near, mid, further)]
        for kind, (a, b) in enumerate([*kinds, (excluded[:, 0], excluded[:, 1])]):
            differ = a != b  # a row that is its own partner has none
            a, b = place[a[differ].long()], place[b[differ].long()]
            ends += [a, b]
            entries += [4 * b + kind, 4 * a + kind]
        at, by = torch.sort(torch.cat(ends), stable=True)
        self.partners = torch.cat(entries)[by].int() if self.n < 2**29 else torch.cat(entries)[by]
        self.starts = torch.searchsorted(at, torch.arange(self.n + 1, **there))
        self.Y = Y[self.order]
        self.drawn = DrawnPoints(anchors, Y).in_order(self.order)

    def step(self, to: tuple[Any, Any, Any], weights: tuple[float, float, float], rate: float, *, cost: bool) -> None:
        """Update Adam's moments and write the next points, or instead the cost of each point, to ``to``."""
        block = block_of(self.k)
        pairs = (self.starts, self.partners, self.shifts)
        sizes = (self.n, self.k, len(self.shifts))
        pair_step[(triton.cdiv(self.n, block["BR"]),)](
            self.Y,
            *to,
            *pairs,
            *sizes,
            *weights,
            rate,
            *self.drawn.arguments,
            COST=cost,
            DRAWN=self.drawn.any,
            **block,
            num_warps=1,
        )

    def costs(self) -> Any:
        """Half the loss (n,) of each point's pairs, in this order, with the weights of the last phase, in float64."""
        out = torch.empty(self.n, device=self.Y.device)
        self.step((out, out, out), LAST, 0.0, cost=True)
        return out.double()

    def give_back(self, Y: Any) -> None:
        """Write the map, in the order of the rows, to ``Y``; centred unless anchors say where it is."""
        Y[self.order] = self.drawn.centred(self.Y)


@implements_on_device(numpy_pair_loss.PairLoss.lower)
def lower(
    self: numpy_pair_loss.PairLoss,
    pairs: Any,
    Y: Any,
    iterations: int,
    every: int,
    tell: Tell,
    tick: Tick,
    anchors: Anchors | None = None,
) -> int:
    """Move the map ``Y`` (n, k) in place; the loss reported has the weights of the last phase."""
    ring = _Ring(pairs, Y, anchors)
    first, second, onto = (torch.zeros_like(ring.Y) for _ in range(3))
    for done in range(iterations):
        if done and done % every == 0:
            value = float(ring.costs().sum())
            ring.give_back(Y)
            if tell(done, value):
                return done
        ring.drawn.fit(ring.Y)
        rate = rate_at(done, iterations, phased=self.phased, rate=self.rate)
        ring.step((first, second, onto), weights_at(done, iterations, phased=self.phased), rate, cost=False)
        ring.Y, onto = onto, ring.Y
        if done % _TOLD == 0:
            tick(done + 1)
    ring.give_back(Y)
    return iterations


@implements_on_device(numpy_pair_loss.PairLoss.at)
def at(self: numpy_pair_loss.PairLoss, pairs: Any, Y: Any) -> Reached:  # noqa: ARG001  # all have these weights
    """Loss of the map, over all pairs."""
    with stage("self"):
        ring = _Ring(pairs, Y)
        costs = ring.costs()
        points = torch.empty_like(costs)
        points[ring.order] = costs
    return Reached(float(points.sum()), points)


@implements_on_device(numpy_pair_loss.PairLoss.place_new)
def place_new(self: numpy_pair_loss.PairLoss, neighbors: Any, p: Any, Y: Any, tick: Tick) -> Any:
    """Positions (m, k) of new points, repelled by one sample of the points of the map."""
    S = Y[torch.as_tensor(sample_of(len(Y)), device=Y.device).long()].contiguous()
    weight = self.further / len(S)

    def look(others: Any, p: Any, y: Any) -> tuple[Any, Any]:
        gap = others - y[:, None]
        t = gap.square().sum(2) + (_NEAR + 1)
        factor = p * (2 * _NEAR) / (t * t)
        force, cost = among_sample(y, S, None)
        value = (p * (1 - _NEAR / t)).sum(1, keepdim=True) + weight * cost
        pull = (factor[:, :, None] * gap).sum(1)
        return value, (pull + weight * force) / factor.sum(1, keepdim=True).clamp_(min=1e-30)

    return placed_new(neighbors, p, Y, lambda _: look, tick)
