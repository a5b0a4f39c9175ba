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

    def step(
        self, to: tuple[Any, Any, Any], weights: tuple[float, float, float], rate: float, local: float, *, cost: bool
    ) -> None:
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
            local / 2,
            *self.drawn.arguments,
            COST=cost,
            DRAWN=self.drawn.any,
            LOCAL=local > 0,
            **block,
            num_warps=1,
        )

    def costs(self, local: float) -> Any:
        """Half the loss (n,) of each point's pairs, in this order, with the weights of the last phase, in float64."""
        out = torch.empty(self.n, device=self.Y.device)
        if not local:
            self.step((out, out, out), LAST, 0.0, 0.0, cost=True)
            return out.double()
        self.step((out, out, out), (0.0, 0.0, 1.0), 0.0, 0.0, cost=True)
        rows = torch.arange(self.n, device=self.Y.device).repeat_interleave(self.starts.diff())
        near = self.partners % 4 == 0
        rows, others = rows[near], (self.partners[near] // 4).long()
        root = ((self.Y[rows] - self.Y[others]).double().square().sum(1) + 1).sqrt()
        wide = _NEAR**0.5
        each = local / 2 * (root / (_NEAR + root * root) + torch.atan(root / wide) / wide)
        counts = torch.bincount(rows, minlength=self.n)
        return out.double() + 0.5 * torch.segment_reduce(each, "sum", lengths=counts, initial=0)

    def give_back(self, Y: Any) -> None:
        """Write the map, in the order of the rows, to ``Y``; centred unless anchors say where it is."""
        Y[self.order] = self.drawn.centred(self.Y)


def drawn_locally(near: Any, before: Any, Y: Any, loss: Any, again: int) -> Any:
    """Further partners (n, each) drawn again as on the CPU, by the same random numbers."""
    n, each = len(Y), round(loss.further)
    rows, there = torch.arange(n, device=Y.device), {"device": Y.device}
    start = before.long() if before.shape[1] == each else rows[:, None].expand(n, each)
    keys = (again * n + rows) * _signed(0xD1342543DE82EF95) + loss.seed
    moves = (near != rows[:, None]).all(1)
    drawn = torch.empty(n, each, dtype=torch.int64, **there)
    for slot in range(each):
        found, open_rows = start[:, slot].clone(), rows[moves]
        for one in range(_native.LOCAL_TRIES):
            if not len(open_rows):
                break
            j = _below(n, keys[open_rows], slot * _native.LOCAL_TRIES + one)
            fits = (j != open_rows) & ((Y[open_rows] - Y[j]).square().sum(1) <= loss.local**2)
            fits &= (drawn[open_rows, :slot] != j[:, None]).all(1) & (near[open_rows] != j[:, None]).all(1)
            found[open_rows[fits]] = j[fits]
            open_rows = open_rows[~fits]
        drawn[:, slot] = found
    return drawn.int()


def _signed(number: int) -> int:
    """An unsigned number of 64 bits as the signed one of the same bits."""
    return number - 2**64 if number >= 2**63 else number


def _below(n: int, keys: Any, place: int) -> Any:
    """A number below n for each key by its place in a sequence (splitmix64)."""

    def shifted(x: Any, bits: int) -> Any:
        return (x >> bits) & (2 ** (64 - bits) - 1)

    x = keys + _signed((place + 1) * 0x9E3779B97F4A7C15 % 2**64)
    x = (x ^ shifted(x, 30)) * _signed(0xBF58476D1CE4E5B9)
    x = (x ^ shifted(x, 27)) * _signed(0x94D049BB133111EB)
    x = x ^ shifted(x, 31)
    return shifted(shifted(x, 32) * n, 32)


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
    begins = 4 * iterations // 9 if self.phased else 0
    near, further = pairs[0].long(), pairs[2]
    first, second, onto = (torch.zeros_like(ring.Y) for _ in range(3))
    for done in range(iterations):
        local = self.local if done > begins else 0.0
        if local and done % _native.LOCAL_AGAIN == 0:
            map_now = torch.empty_like(ring.Y)
            map_now[ring.order] = ring.Y
            further = drawn_locally(near, further, map_now, self, done // _native.LOCAL_AGAIN)
            ring = _Ring((*pairs[:2], further, pairs[3], pairs[4][:0], pairs[5][:0]), map_now, anchors)
        if done and done % every == 0:
            value = float(ring.costs(self.local).sum())
            ring.give_back(Y)
            if tell(done, value):
                return done
        ring.drawn.fit(ring.Y)
        rate = rate_at(done, iterations, phased=self.phased, rate=self.rate)
        weights = weights_at(done, iterations, phased=self.phased)
        ring.step((first, second, onto), weights, rate, local, cost=False)
        ring.Y, onto = onto, ring.Y
        if done % _TOLD == 0:
            tick(done + 1)
    ring.give_back(Y)
    return iterations


@implements_on_device(numpy_pair_loss.PairLoss.at)
def at(self: numpy_pair_loss.PairLoss, pairs: Any, Y: Any) -> Reached:  # all have these weights
    """Loss of the map, over all pairs."""
    with stage("self"):
        ring = _Ring(pairs, Y)
        costs = ring.costs(self.local)
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
