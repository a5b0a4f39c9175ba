"""The loss that UMAP's sampling minimises, on a device: points are kept in the random order of the ring."""

from dataclasses import replace
from math import log, log2
from typing import Any

import torch
import triton

from lowdim import _native
from lowdim.backends.torch.anchors import DrawnPoints
from lowdim.backends.torch.density import DensityTerm, of_new
from lowdim.backends.torch.kernels.cross_costs import pull_costs, push_costs
from lowdim.backends.torch.kernels.epoch import epoch
from lowdim.backends.torch.new_points import Look, among_sample, placed_new
from lowdim.backends.torch.tensors import INTERPRETED, implements_on_device
from lowdim.solve import cross_entropy as numpy_cross_entropy
from lowdim.solve.anchors import Anchors
from lowdim.solve.cross_entropy import SAMPLE, SHIFTS, all_pairs, in_units
from lowdim.solve.descent import Reached, Tell, sample_of
from lowdim.work.progress import Tick, stage

_EXACT = 100_000  # points up to which the loss takes all pairs
_TOLD = 10  # epochs between two ticks
_TOGETHER = 8  # shifts that a program takes
_PART = 1024  # points whose costs are summed by one program


def block_of(k: int) -> dict[str, int]:
    """Rows, entries and coordinates that a program takes at a time; few programs where they are interpreted."""
    wide = triton.next_power_of_2(k)
    return {"BR": 64 if INTERPRETED else max(1, 8 // wide), "BC": 32, "BD": wide}


def in_order(starts: Any, order: Any) -> tuple[Any, Any]:
    """Starts of sparse rows in another order, and the number of each entry in the old one."""
    counts = starts.diff()[order]
    moved = torch.zeros_like(starts)
    torch.cumsum(counts, 0, out=moved[1:])
    shift = (starts[order] - moved[:-1]).repeat_interleave(counts)
    return moved, shift + torch.arange(len(shift), device=starts.device)


class _Ring:
    """The graph and a map with their rows in the order of the ring."""

    def __init__(self, loss: Any, graph: Any, Y: Any, order: Any, anchors: Anchors | None = None) -> None:
        self.loss, self.order, device = loss, torch.as_tensor(order, device=Y.device).long(), Y.device
        self.n, self.k = Y.shape
        place = torch.empty(self.n, dtype=torch.int32, device=device)
        place[self.order] = torch.arange(self.n, dtype=torch.int32, device=device)
        self.starts, entries = in_order(graph[0], self.order)
        self.columns, self.values = place[graph[1][entries].long()], graph[2][entries]
        lengths = self.starts.diff()
        self.degrees = torch.segment_reduce(self.values.double(), "sum", lengths=lengths, initial=0).float()
        self.Y = in_units(loss, Y)[self.order]
        self.drawn = DrawnPoints(anchors, Y, loss.unit).in_order(self.order)
        self.law = (loss.b, log2(loss.a), _native.EPOCH_SOFT)

    def density(self) -> DensityTerm | None:
        """The correlation of densities of points that may move, if it is considered."""
        term = self.loss.density
        if term is None:
            return None
        radii = torch.as_tensor(term.radii, device=self.Y.device)[self.order]
        pinned = self.drawn.parts[1].isinf() if self.drawn.any else None
        graph = (self.starts, self.columns, self.values)
        return DensityTerm(replace(term, radii=radii), graph, {"a": self.loss.a, "b": self.loss.b}, pinned)

    def costs(self, shifts: Any) -> tuple[Any, Any]:
        """Attraction (n,) of each point, in this order, and for each shift the mean of its repulsion, in float64."""
        block, parts = block_of(self.k)["BR"], triton.cdiv(self.n, _PART)
        drawn = torch.empty(self.n, device=self.Y.device)
        pull_costs[(triton.cdiv(self.n, block),)](
            self.Y, self.starts, self.columns, self.values, drawn, self.n, self.k, *self.law, BR=block, BC=32
        )
        sums = torch.empty(parts, len(shifts), device=self.Y.device)
        push_costs[(triton.cdiv(len(shifts), _TOGETHER), parts)](
            self.Y, self.degrees, shifts, sums, self.n, self.k, len(shifts), *self.law, B=_PART, EACH=_TOGETHER
        )
        return drawn.double(), sums.sum(0, dtype=torch.float64) * (0.25 * log(2) / self.n)

    def give_back(self, Y: Any) -> None:
        """Write the map, in the order of the rows, to ``Y``; centred unless anchors say where it is."""
        mean = 0 if self.drawn.any else self.Y.double().mean(0)
        Y[self.order] = ((self.Y - mean) * self.loss.unit).float()


@implements_on_device(numpy_cross_entropy.CrossEntropy.lower)
def lower(
    self: numpy_cross_entropy.CrossEntropy,
    graph: Any,
    Y: Any,
    iterations: int,
    every: int,
    tell: Tell,
    tick: Tick,
    anchors: Anchors | None = None,
) -> int:
    """Move the map ``Y`` (n, k) in place; the loss reported is estimated from the pairs of that epoch."""
    n, k = Y.shape
    order, drawn = self.pairs(n, iterations, SHIFTS)
    order = numpy_cross_entropy.pinned_last(order, anchors)
    ring, shifts = _Ring(self, graph, Y, order, anchors), torch.as_tensor(drawn, device=Y.device)
    each, share, block = shifts.shape[1], (n - 1) / n, block_of(k)
    largest = float(graph[2].max()) if len(graph[2]) else 0.0
    rate, weight = self.rate / (largest or 1.0), 2 * self.negatives * share / (2.0 * each)
    longest = 2 * self.a ** (-0.5 / self.b)  # twice where w = ½
    velocity, onto = torch.zeros_like(ring.Y), torch.empty_like(ring.Y)
    density, none = ring.density(), torch.zeros(1, device=Y.device)
    for done in range(iterations):
        if done and done % every == 0:
            drawn_by, pushed = ring.costs(shifts[done])
            ring.give_back(Y)
            if tell(done, float(drawn_by.sum() + 2 * self.negatives * (n - 1) * pushed.mean())):
                return done
        left = 1 - done / iterations
        steps = (rate * left * left, _native.EPOCH_DAMPING, _native.EPOCH_MOMENTUM * left, weight, longest)
        graph_of = (ring.starts, ring.columns, ring.values, ring.degrees, shifts[done])
        ring.drawn.fit(ring.Y)
        anchored = ring.drawn.arguments
        dense = density is not None and density.on(done, iterations)
        more = density.gradient(ring.Y) if dense and density is not None else none
        epoch[(triton.cdiv(n, block["BR"]),)](
            ring.Y,
            velocity,
            onto,
            *graph_of,
            n,
            k,
            each,
            *ring.law,
            _native.EPOCH_CUT,
            *steps,
            *anchored,
            more,
            DRAWN=ring.drawn.any,
            DENSE=dense,
            **block,
            num_warps=1,
        )
        ring.Y, onto = onto, ring.Y
        if done % _TOLD == 0:
            tick(done + 1)
    ring.give_back(Y)
    return iterations


@implements_on_device(numpy_cross_entropy.CrossEntropy.at)
def at(self: numpy_cross_entropy.CrossEntropy, graph: Any, Y: Any) -> Reached:
    """``L`` over all pairs up to 100,000 points; above, its second term from 512 partners of each point."""
    n, exact = len(Y), self.exact and len(Y) <= _EXACT
    order, shifts = all_pairs(n, once=True) if exact else self.pairs(n, 1, SAMPLE)
    with stage("self"):
        ring = _Ring(self, graph, Y, order)
        drawn, pushed = ring.costs(torch.as_tensor(shifts[0], device=Y.device))
        points = torch.empty_like(drawn)
        points[ring.order] = drawn
    return numpy_cross_entropy.reached(self, n, points, pushed.cpu().numpy(), shifts[0], exact=exact)


@implements_on_device(numpy_cross_entropy.CrossEntropy.place_new)
def place_new(self: numpy_cross_entropy.CrossEntropy, neighbors: Any, v: Any, Y: Any, tick: Tick) -> Any:
    """Positions (m, k) of new points, repelled by one sample of the points of the map."""
    Y = in_units(self, Y)
    S = Y[torch.as_tensor(sample_of(len(Y)), device=Y.device).long()].contiguous()

    def looks(some: slice) -> Look:
        added = None if self.density is None else of_new(self.density, some, Y.device)

        def look(others: Any, v: Any, y: Any) -> tuple[Any, Any]:
            gap = others - y[:, None]
            s = gap.square().sum(2)
            t = s + _native.EPOCH_SOFT
            u = self.a * t**self.b
            factor = v * (2 * self.b) * u / (t * (1 + u))
            force, cost = among_sample(y, S, (self.b, log2(self.a), _native.EPOCH_CROWD_SOFT))
            weight = self.negatives * v.sum(1, keepdim=True) / len(S)
            value = (v * torch.log1p(u)).sum(1, keepdim=True) + weight * cost
            pull, stiffness = (factor[:, :, None] * gap).sum(1), factor.sum(1, keepdim=True)
            if added is not None:
                more, forces, stiffer = added(v, -gap, s, 1 / (1 + u), self.b * u / (t * (1 + u)))
                value, pull, stiffness = value + more, pull + forces, stiffness + stiffer
            return value, (pull + weight * force) / stiffness.clamp_(min=1e-30)

        return look

    return placed_new(neighbors, v, Y, looks, tick) * self.unit
