"""The descent of SNE and t-SNE on a device, with the points in an order of its own.

On a GPU an iteration is recorded once for each size of the grid and replayed. Points that leave the grid between two
checks of the map are detected, and the iterations since then are repeated on a larger one.
"""

from math import exp, inf, log
from typing import Any

import numpy as np
import torch
import triton

from lowdim import _native
from lowdim.backends.torch import cuda_kernels, tensors
from lowdim.backends.torch.anchors import DrawnPoints
from lowdim.backends.torch.costs import attraction_costs, entropies
from lowdim.backends.torch.density import DensityTerm
from lowdim.backends.torch.kernels.attraction import attraction
from lowdim.backends.torch.kernels.attraction_any import attraction_any
from lowdim.backends.torch.kernels.falloffs import CAUCHY, law
from lowdim.backends.torch.kernels.packed_rows import pack
from lowdim.backends.torch.kernels.step import step
from lowdim.backends.torch.repulsive_field import Exact, Grid, whole
from lowdim.backends.torch.space_filling_curve import along_curve
from lowdim.backends.torch.tensors import implements_on_device
from lowdim.solve.anchors import Anchors
from lowdim.solve.descent import Tell
from lowdim.solve.divergence import PROGRESS, Divergence
from lowdim.work.progress import Tick

_SPACING = 0.42  # of the grid at most, in the width of the falloff
_NARROW = 2**17  # points up to which an index has 17 bits
_MOST_GROWTH = 2.0**12  # growth of the map between two checks
_FIRST_RATE, _LEAST_RATE = 0.18, 1e-4  # logarithm of the map's growth in an iteration, as long as none is known
_LEAST_GROWTH = 1.12  # that a grid has room for
_ROW = 256  # entries packed at a time
_LANES = 16  # threads that share a row in the CUDA kernel of the attraction
_PREPARED: set[tuple[Any, ...]] = set()  # kinds of iterations that have been run in this process


@implements_on_device(Divergence.lower)
def lower(
    self: Divergence,
    P: Any,
    Y: Any,
    iterations: int,
    every: int,
    tell: Tell,
    tick: Tick,
    anchors: Anchors | None = None,
) -> int:
    """Move the map ``Y`` (n, k) in place; stops early without further progress."""
    return _DescentLoop(self, P, Y, iterations, anchors).run(every, tell, tick)


class _DescentLoop:
    """State of a descent: points, their velocities and gains in the present order, and the forces on them."""

    def __init__(self, loss: Any, P: Any, Y: Any, iterations: int, anchors: Anchors | None) -> None:
        self.loss, self.P, self.given = loss, P, Y
        self.n, self.k = Y.shape
        self.iterations, self.exaggerated = iterations, min(loss.exaggerated, iterations)
        self.Y = Y.clone()
        self.velocity, self.gains = torch.zeros_like(Y), torch.ones_like(Y)
        self.pull, self.push = torch.zeros_like(Y), torch.zeros_like(Y)
        self.state = [self.Y, self.velocity, self.gains]
        self.drawn = DrawnPoints(anchors, Y)
        self.density: DensityTerm | None = None
        self.dense_from: int | None = None  # iteration, if earlier than planned
        if loss.density is not None:
            pinned = self.drawn.parts[1].isinf() if self.drawn.any else None
            self.density = DensityTerm(loss.density, P, {"dof": loss.falloff.dof}, pinned)
        self.kept = [part.clone() for part in self.state]
        self.plan, self.told = torch.zeros(4, device=Y.device), (0.0,) * 4
        self.order = torch.arange(self.n, device=Y.device)
        self.wide = self.n > _NARROW
        self.scale = 1.0 if self.wide else 512.0 * self.n  # weights are at most 1/n
        size = torch.int64 if self.wide else torch.int32
        small = len(P.indices) < 2**31
        self.starts = torch.zeros(self.n + 1, dtype=torch.int32 if small else torch.int64, device=Y.device)
        self.packed = torch.empty(len(P.indices) if self.k <= 2 else 0, dtype=size, device=Y.device)
        grid = loss.repulsion == "fft"
        self.field: Any = Grid(Y, loss.falloff, _SPACING * loss.falloff.width) if grid else Exact(Y, loss.falloff)
        self.rate = _FIRST_RATE
        self.recorded: dict[int, Any] = {}
        self.pool: Any = None

    def run(self, every: int, tell: Tell, tick: Tick) -> int:
        """Iterations done."""
        done, before, early_before, again, gathered_at = 0, inf, inf, 1.0, None
        entropy = float(entropies(self.P).sum())
        low, high, *_ = self._look(None)
        while done < self.iterations:
            extent = max(b - a for a, b in zip(low, high, strict=True))
            if done < self.exaggerated and extent < _native.SMALLEST_MAP:
                self._end_exaggeration(done, shorter=False)  # the map would contract until nothing is left
            if done == self.exaggerated:
                self.velocity.zero_()
                self.gains.fill_(1.0)
            if done in (0, self.exaggerated):
                self.rate = _FIRST_RATE
            if self.k <= 2 and done in (0, 50, self.exaggerated, self.exaggerated + 200):
                self._reorder()
            torch._foreach_copy_(self.kept, self.state)
            to = self._until(done, every)
            due, check = to % every == 0, to % _native.CHECK_EVERY == 0
            early = to < self.exaggerated and to % _native.CHECK_EARLY == 0
            while True:
                self.field.fit(low, high, again * self._growth(to - done))
                self._iterate(done, to)
                measured = self._measure(due) if to < self.iterations and (due or check or early) else None
                *bounds, escaped, seen = self._look(measured)
                if not escaped:
                    break
                torch._foreach_copy_(self.state, self.kept)  # again, on a larger grid
                again *= 2
                if again > _MOST_GROWTH:
                    raise ValueError(f"The map grew without bound at iteration {done}. Lower learning_rate.")
            low, high = bounds
            grown = max(b - a for a, b in zip(low, high, strict=True))
            self.rate = max(_LEAST_RATE, log(max(grown, 1e-30) / max(extent, 1e-30)) / (to - done))
            done, again = to, 1.0
            tick(done)
            if measured is None:
                continue
            cost = entropy + seen[0]
            value = cost + log(max(seen[1], 1e-300))
            pulled = self.drawn.cost(self.Y)
            if due and tell(done, value):
                return done
            lowered, exaggerated = (value + (by - 1) * cost + pulled for by in (self.loss.late, self.loss.exaggeration))
            late = done >= self.exaggerated + _native.CHECK_EVERY and grown > _native.GROWN_MAP
            if check and late and before - lowered < PROGRESS * abs(lowered) and not self._dense(done):
                share = 0.0 if self.density is None else self.density.density.share
                if share == 0:
                    break
                self.dense_from = done  # without further progress density is considered
                self.iterations = done + int(share * self.iterations)
            gain = (early_before - exaggerated) / self.loss.exaggeration
            if early and gain < _native.GATHERED and grown > _native.GROWN_MAP:
                gathered_at = done if gathered_at is None else gathered_at
                waited = done - gathered_at
                if gain < _native.SETTLED or waited >= _native.LONGEST_WAIT:
                    self._end_exaggeration(done, shorter=True)
                    self.iterations -= waited // 2  # the others give half of the wait
            before = lowered if check else before
            early_before = exaggerated if early else early_before
        self._give_back(self.Y)
        return done

    def _dense(self, at: int) -> bool:
        """Whether density is considered in this iteration."""
        if self.density is None or at < self.exaggerated:
            return False
        return self.density.on(at, self.iterations) or (self.dense_from is not None and at >= self.dense_from)

    def _take_density(self, at: int) -> None:
        """Take a quarter of the gradient of the correlation from the attraction, less where whole steps overshoot."""
        if not self._dense(at) or self.density is None:
            return
        self.given[self.order] = self.Y
        force = self.density.gradient(self.given)[self.order]
        damped = 1 + 0.25 * _native.DENSITY_DAMPING * self.loss.rate_at(self.n, exaggerated=False) * force[:, self.k :]
        self.pull -= 0.25 / self.loss.late * force[:, : self.k] / damped

    def _end_exaggeration(self, done: int, *, shorter: bool) -> None:
        """End it now; a ``shorter`` descent has as many iterations after it as was planned."""
        self.iterations -= self.exaggerated - done if shorter else 0
        self.exaggerated = done

    def _measure(self, told: bool) -> Any:
        """Cost of attraction without the entropy, and the normaliser, of the current map, given back if ``told``."""
        self.field.repel(self.Y, self.push)
        if told:
            self._give_back(self.Y)
        else:
            self.given[self.order] = self.Y
        return torch.stack([attraction_costs(self.P, self.given, self.loss.falloff).sum(), self.field.total])

    def _look(self, measured: Any) -> tuple[list[float], list[float], bool, list[float]]:
        """Bounds of the map, whether a point left the grid, and what was measured."""
        parts = [*torch.aminmax(self.Y, dim=0), self.field.flag[None], *([] if measured is None else [measured])]
        seen = torch.cat(parts).tolist()  # in the widest of their types
        return seen[: self.k], seen[self.k : 2 * self.k], bool(seen[2 * self.k]), seen[2 * self.k + 1 :]

    def _growth(self, count: int) -> float:
        """Factor by which the map may grow in so many iterations."""
        return max(_LEAST_GROWTH, 1.08 * exp(1.3 * self.rate * count))

    def _until(self, done: int, every: int) -> int:
        """Iteration of the next check of the map: soon while it grows fast."""
        check = _native.CHECK_EARLY if done < self.exaggerated else _native.CHECK_EVERY
        stops = [done + min(check, max(5, int(0.35 / self.rate))), self.iterations]
        stops += [done + size - done % size for size in (every, check)]
        stops += [stop for stop in (self.exaggerated, self.exaggerated + 200) if stop > done]
        return min(stops)

    def _plan(self, done: int) -> tuple[float, float, float, float]:
        """Rate, momentum, factor on attraction and longest step of an iteration, as on the CPU."""
        early, falloff = done < self.exaggerated, self.loss.falloff
        momentum, _, longest = _native.pace(**falloff.law(), exaggerated=early, since=done - self.exaggerated)
        factor = self.loss.exaggeration if early else self.loss.late
        return self.loss.rate_at(self.n, exaggerated=early), momentum, factor, longest

    def _set_plan(self, done: int) -> None:
        """Send changed numbers to the device, as arguments of a kernel, which nothing waits for."""
        plan = self._plan(done)
        for place, (old, new) in enumerate(zip(self.told, plan, strict=True)):
            if old != new:
                self.plan[place].fill_(new)
        self.told = plan

    def _iterate(self, done: int, to: int) -> None:
        """Do these iterations; on a GPU the first of a kind is recorded for the others."""
        key = self.field.key
        for at in range(done, to):
            self._set_plan(at)
            if self._dense(at):
                self._step(at)  # with operations of torch, which are not recorded
                continue
            if self.Y.is_cuda and key not in self.recorded and self._kind(key) in _PREPARED:
                self._record(key)
            if key in self.recorded:
                self.recorded[key].replay()
            else:
                self._step()  # compilation and planning are not allowed while recording
                _PREPARED.add(self._kind(key))
        ahead = self.field.next_key  # recorded while the device works
        if self.Y.is_cuda and ahead not in (None, *self.recorded) and self._kind(ahead) in _PREPARED:
            self.field.open(ahead)
            self._record(ahead)
            self.field.key = key

    def _kind(self, key: Any) -> tuple[Any, ...]:
        """What the kernels and plans of an iteration depend on."""
        cuda_kernel = cuda_kernels.find("attraction", LANES=_LANES) is not None
        return self.Y.device, key, self.k, self.wide, self.starts.dtype, law(self.loss.falloff)["LAW"], cuda_kernel

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

    def _step(self, at: int = -1) -> None:
        same = law(self.loss.falloff)
        narrow = self.Y.is_cuda and self.k == 2 and not self.wide and same["LAW"] == CAUCHY
        cuda_kernel = cuda_kernels.find("attraction", LANES=_LANES) if narrow else None
        if cuda_kernel is not None:
            grid = (triton.cdiv(self.n * _LANES, 256),)
            sizes = (np.int32(self.n), np.float32(1 / self.scale))
            cuda_kernel(grid, 256, self.Y.device, self.Y, self.starts, self.packed, self.pull, *sizes)
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
        self._take_density(at)
        self.field.repel(self.Y, self.push)
        block = triton.next_power_of_2(self.k)
        self.drawn.fit(self.Y)
        forces = (self.pull, self.push, self.field.total, self.plan, *self.drawn.arguments)
        step[(triton.cdiv(self.n, 128),)](*self.state, *forces, self.n, self.k, DRAWN=self.drawn.any, B=128, BD=block)

    def _reorder(self) -> None:
        """Sort points, and the rows of P, along a curve through the map."""
        moved = torch.sort(along_curve(self.Y), stable=True).indices
        for part in (*self.state, *self.drawn.parts):
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
            SORT=not tensors.INTERPRETED,  # sorting takes seconds per row in the interpreter
            num_warps=2,
        )

    def _give_back(self, Y: Any) -> None:
        """Write the map, in the order of the rows, to the given tensor; centred unless anchors say where it is."""
        self.given[self.order] = self.drawn.centred(Y)
