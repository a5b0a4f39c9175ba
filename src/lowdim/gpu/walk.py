"""The descent of SNE and t-SNE on a device, in an order of the points of its own.

On a GPU an iteration is recorded once for each size of the grid and played back. Points that leave the grid between two
looks at the map are noticed, and the iterations since then done again on a larger one.
"""

from math import exp, inf, log
from typing import Any

import numpy as np
import torch
import triton

from lowdim.gpu import places, twins
from lowdim.gpu.costs import attraction_costs, entropies
from lowdim.gpu.curve import along_curve
from lowdim.gpu.field import Exact, Grid, whole
from lowdim.gpu.kernels.attraction import attraction
from lowdim.gpu.kernels.attraction_any import attraction_any
from lowdim.gpu.kernels.falloffs import CAUCHY, law
from lowdim.gpu.kernels.pack import pack
from lowdim.gpu.kernels.step import step
from lowdim.solve.descent import Tell
from lowdim.solve.divergence import CALM, PROGRESS, TINY
from lowdim.work.progress import Tick

_SPACING = 0.5  # of the grid at most, in the width of the falloff
_CHECK = 50  # iterations between two looks at the progress
_LONGEST = {"student": 5.0, "gauss": 0.5}  # steps
_SMALLEST, _GROWN = 1e-7, 0.1  # extents of maps
_NARROW = 2**17  # points up to which an index has 17 bits
_MOST_GROWTH = 2.0**12  # of the map between two looks
_FIRST_RATE, _LEAST_RATE = 0.18, 1e-4  # logarithm of the map's growth in an iteration, as long as none is known
_LEAST_GROWTH = 1.12  # that a grid has room for
_ROW = 256  # entries packed at a time
_LANES = 16  # threads that share a row in the twin of the attraction
_PREPARED: set[tuple[Any, ...]] = set()  # kinds of iterations that have been run in this process


def lower(loss: Any, P: Any, Y: Any, iterations: int, every: int, tell: Tell, tick: Tick) -> int:
    """Move the map ``Y`` (n, k) in place; it stops early where progress does."""
    return _Walk(loss, P, Y, iterations).run(every, tell, tick)


class _Walk:
    """State of a descent: points, their velocities and gains in the present order, and the forces on them."""

    def __init__(self, loss: Any, P: Any, Y: Any, iterations: int) -> None:
        self.loss, self.P, self.given = loss, P, Y
        self.n, self.k = Y.shape
        self.iterations, self.exaggerated = iterations, min(loss.exaggerated, iterations)
        self.Y = Y.clone()
        self.velocity, self.gains = torch.zeros_like(Y), torch.ones_like(Y)
        self.pull, self.push = torch.zeros_like(Y), torch.zeros_like(Y)
        self.state = [self.Y, self.velocity, self.gains]
        self.kept = [part.clone() for part in self.state]
        self.plan = torch.zeros(4, device=Y.device)
        self.order = torch.arange(self.n, device=Y.device)
        self.wide = self.n > _NARROW
        self.scale = 1.0 if self.wide else 512.0 * self.n  # weights are at most 1/n
        size = torch.int64 if self.wide else torch.int32
        small = len(P.indices) < 2**31
        self.starts = torch.zeros(self.n + 1, dtype=torch.int32 if small else torch.int64, device=Y.device)
        self.packed = torch.empty(len(P.indices) if self.k <= 2 else 0, dtype=size, device=Y.device)
        grid = loss.repulsion == "interpolation"
        self.field: Any = Grid(Y, loss.falloff, _SPACING * loss.falloff.width) if grid else Exact(Y, loss.falloff)
        self.rate = _FIRST_RATE
        self.recorded: dict[int, Any] = {}
        self.pool: Any = None

    def run(self, every: int, tell: Tell, tick: Tick) -> int:
        """Iterations done."""
        done, before, again = 0, inf, 1.0
        entropy = float(entropies(self.P).sum())
        low, high, *_ = self._look(None)
        while done < self.iterations:
            extent = max(b - a for a, b in zip(low, high, strict=True))
            if again == 1:
                if done < self.exaggerated and extent < _SMALLEST:
                    self.exaggerated = done  # the map would be drawn together until nothing is left
                if done == self.exaggerated:
                    self.velocity.zero_()
                    self.gains.fill_(1.0)
                if done in (0, self.exaggerated):
                    self.rate = _FIRST_RATE
                if self.k <= 2 and done in (0, 50, self.exaggerated, self.exaggerated + 200):
                    self._reorder()
            to = self._until(done, every)
            self.field.fit(low, high, again * self._growth(to - done))
            due, check = done % every == 0, done % _CHECK == 0
            self._set_plan(done)
            torch._foreach_copy_(self.kept, self.state)
            self._iterate(to - done)
            # The map before these iterations is measured after them, and read with the bounds: the device never waits.
            measured = self._measure() if done and again == 1 and (due or check) else None
            *bounds, escaped, seen = self._look(measured)
            if measured is not None:
                cost = entropy + seen[0]
                value = cost + log(max(seen[1], 1e-300))
                if due and tell(done, value):
                    return done
                lowered = value + (self.loss.late - 1) * cost
                late = done >= self.exaggerated + _CHECK
                if check and late and extent > _GROWN and before - lowered < PROGRESS * abs(lowered):
                    return done
                before = lowered if check else before
            if escaped:  # once more, on a larger grid
                torch._foreach_copy_(self.state, self.kept)
                again *= 2
                if again > _MOST_GROWTH:
                    raise ValueError(f"The map grew without bound at iteration {done}. Lower learning_rate.")
                continue
            low, high = bounds
            grown = max(b - a for a, b in zip(low, high, strict=True)) / max(extent, 1e-30)
            self.rate = max(_LEAST_RATE, log(max(grown, 1e-30)) / (to - done))
            done, again = to, 1.0
            tick(done)
        self._give_back(self.Y)
        return self.iterations

    def _measure(self) -> Any:
        """Cost of attraction but for the entropy, and the normaliser, of the map that was kept, which is given back."""
        flag = self.field.flag.clone()
        self.field.repel(self.kept[0], self.push)
        self.field.flag.copy_(flag)
        self._give_back(self.kept[0])
        return torch.stack([attraction_costs(self.P, self.given, self.loss.falloff).sum(), self.field.total])

    def _look(self, measured: Any) -> tuple[list[float], list[float], bool, list[float]]:
        """Bounds of the map, whether a point left the grid, and what was measured."""
        parts = [*torch.aminmax(self.Y, dim=0), self.field.flag[None], *([] if measured is None else [measured])]
        seen = torch.cat([part.double() for part in parts]).tolist()
        return seen[: self.k], seen[self.k : 2 * self.k], bool(seen[2 * self.k]), seen[2 * self.k + 1 :]

    def _growth(self, count: int) -> float:
        """Factor by which the map may grow in so many iterations."""
        return max(_LEAST_GROWTH, 1.08 * exp(1.3 * self.rate * count))

    def _until(self, done: int, every: int) -> int:
        """Iteration at which the map is looked at next: soon while it grows fast."""
        stops = [done + min(_CHECK, max(5, int(0.35 / self.rate))), self.iterations]
        stops += [done + size - done % size for size in (every, _CHECK)]
        stops += [stop for stop in (self.exaggerated, self.exaggerated + 200) if stop > done]
        return min(stops)

    def _set_plan(self, done: int) -> None:
        early = done < self.exaggerated
        factor = self.loss.exaggeration if early else self.loss.late
        rate = self.loss.rate
        if rate is None:
            calm = self.loss.falloff.name == "gauss" and self.n < TINY
            rate = self.n / (CALM if calm else factor)
        longest = _LONGEST[self.loss.falloff.name]
        self.plan.copy_(torch.tensor([rate, 0.5 if early else 0.8, factor, longest]))

    def _iterate(self, count: int) -> None:
        """Do so many iterations; on a GPU the first of a kind is recorded for the others."""
        if not self.Y.is_cuda:
            for _ in range(count):
                self._step()
            return
        key = self.field.key
        if key not in self.recorded:
            if self._kind(key) not in _PREPARED:
                self._step()  # compiles and plans what a recording must not
                _PREPARED.add(self._kind(key))
                count -= 1
            if not count:
                return
            self._record(key)
        for _ in range(count):
            self.recorded[key].replay()
        ahead = self.field.next_key  # recorded while the device works
        if ahead is not None and ahead not in self.recorded and self._kind(ahead) in _PREPARED:
            self.field.open(ahead)
            self._record(ahead)
            self.field.key = key

    def _kind(self, key: int) -> tuple[Any, ...]:
        """What the kernels and plans of an iteration depend on."""
        return self.Y.device, key, self.k, self.wide, self.starts.dtype, law(self.loss.falloff)["LAW"]

    def _record(self, key: int) -> None:
        """Record an iteration on the grid of this size."""
        self.field.key = key
        graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream(self.Y.device)
        with torch.cuda.stream(side):
            graph.capture_begin(*([self.pool] if self.pool else []))
            try:
                self._step()
            finally:
                graph.capture_end()
        self.pool = self.pool or graph.pool()
        self.recorded[key] = graph

    def _step(self) -> None:
        same = law(self.loss.falloff)
        narrow = self.Y.is_cuda and self.k == 2 and not self.wide and same["LAW"] == CAUCHY
        twin = twins.find("attraction", LANES=_LANES) if narrow else None
        if twin is not None:
            grid = (triton.cdiv(self.n * _LANES, 256),)
            sizes = (np.int32(self.n), np.float32(1 / self.scale))
            twin(grid, 256, self.Y.device, self.Y, self.starts, self.packed, self.pull, *sizes)
        elif self.k <= 2:
            attraction[(triton.cdiv(self.n, 2),)](
                whole(self.Y),
                self.starts,
                self.packed,
                self.pull,
                self.n,
                1 / self.scale,
                **same,
                DIM=self.k,
                WIDE=self.wide,
                BR=2,
                BC=64,
                num_warps=1,
            )
        else:
            attraction_any[(self.n, self.k)](
                self.Y, *self.P, self.pull, self.k, **same, COST=False, BC=128, num_warps=1
            )
        self.field.repel(self.Y, self.push)
        block = triton.next_power_of_2(self.k)
        step[(triton.cdiv(self.n, 128),)](
            *self.state, self.pull, self.push, self.field.total, self.plan, self.n, self.k, B=128, BD=block
        )

    def _reorder(self) -> None:
        """Put points, and the rows of P by which they are drawn, in the order of a curve through the map."""
        moved = torch.sort(along_curve(self.Y), stable=True).indices
        for part in self.state:
            part.copy_(part[moved])
        self.order = self.order[moved]
        place = torch.empty(self.n, dtype=torch.int32, device=self.Y.device)
        place[self.order] = torch.arange(self.n, dtype=torch.int32, device=self.Y.device)
        self.starts[1:] = self.P.indptr.diff()[self.order].cumsum(0)
        pack[(self.n,)](
            *self.P,
            self.starts,
            self.order,
            place,
            self.packed,
            self.scale,
            WIDE=self.wide,
            B=_ROW,
            SORT=not places.INTERPRETED,  # sorting takes seconds a row there
            num_warps=2,
        )

    def _give_back(self, Y: Any) -> None:
        """Write the map about its mean, in the rows' order, to where it was given."""
        self.given[self.order] = (Y.double() - Y.double().mean(0)).float()
