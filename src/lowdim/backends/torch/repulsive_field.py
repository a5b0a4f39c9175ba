"""The field ``φ(y) = Σ_j f(‖y − y_j‖²)`` of a map on a device: by a grid up to the plane, or by exact sums."""

from functools import lru_cache
from math import pi
from typing import Any

import torch
import triton

from lowdim.backends.torch.convolution import SIZES, Convolution, sizes_for
from lowdim.backends.torch.kernels.all_pairs import pairs
from lowdim.backends.torch.kernels.all_pairs_any import pairs_any
from lowdim.backends.torch.kernels.falloffs import law
from lowdim.backends.torch.kernels.grid_read import read
from lowdim.backends.torch.kernels.grid_spread import spread

BLOCK = 32  # points of a program
_ONE = 2.0**36  # the weight 1 of a spline as an integer
_KEPT, _KEPT_LARGE = 48, 8  # transforms of the falloff kept for the next map, up to 2 and up to 8 MB each
_SUMS = 2**25  # partial sums held at a time
_PART = 1024  # points that one partial sum takes
_PARTS, _LEAST_PART, _PROGRAMS = (
    16,
    64,
    2048,
)  # sums that a force is split into, points of one, programs that run at once
_AHEAD = 2048  # nodes of the largest grid that is recorded before it is needed
_FINE = 64  # cells that a small map has at least
_FINEST = 1 / 16  # spacing, in that of a large map


def whole(Y: Any) -> Any:
    """Points as kernels load them: a point of the plane is one number."""
    return Y.view(torch.int64).view(-1) if Y.shape[1] == 2 else Y


def sums_at(Q: Any, Y: Any, falloff: Any) -> tuple[Any, Any]:
    """Force ``Σ_j f a (q − y_j)`` (m, k) and ``φ`` (m,) at the queries, in float64, by exact sums."""
    (m, k), n = Q.shape, len(Y)
    plane = k <= 2
    rows = 3 if plane else k + 1
    parts = triton.cdiv(n, _PART)
    force = torch.empty(m, k, dtype=torch.float64, device=Q.device)
    phi = torch.empty(m, dtype=torch.float64, device=Q.device)
    step = max(1, _SUMS // (rows * parts))
    for start in range(0, m, step):
        some = slice(start, min(m, start + step))
        block, count = Q[some].contiguous(), len(Q[some])
        partial = torch.empty(parts, rows, count, device=Q.device)
        if plane:
            grid = (triton.cdiv(count, 256), parts)
            pairs[grid](
                whole(block), whole(Y), partial, count, n, _PART, **law(falloff), DIM=k, BI=256, BJ=16, num_warps=2
            )
        else:
            pairs_any[(triton.cdiv(count, 64), parts, k)](
                block, Y, partial, count, n, _PART, k, **law(falloff), BI=64, BJ=16, num_warps=2
            )
        sums = partial.sum(0, dtype=torch.float64)
        force[some], phi[some] = sums[:k].T, sums[-1]
    return force, phi


class Exact:
    """Repulsion by sums over all pairs."""

    def __init__(self, Y: Any, falloff: Any) -> None:
        self.falloff, self.key, self.next_key = falloff, 0, None
        self.flag = torch.zeros((), dtype=torch.int32, device=Y.device)  # no point can leave it
        n, self.k = Y.shape
        self.rows = 3 if self.k <= 2 else self.k + 1
        parts = max(_PARTS, triton.cdiv(_PROGRAMS, triton.cdiv(n, 256)))  # enough programs for every processor
        parts = max(1, min(parts, triton.cdiv(n, _LEAST_PART), triton.cdiv(2**28, n * self.rows)))
        self.columns = triton.cdiv(triton.cdiv(n, parts), 16) * 16
        self.parts = triton.cdiv(n, self.columns)
        self.partial = torch.zeros(self.parts, self.rows, n, device=Y.device)
        self.total = torch.zeros((), dtype=torch.float64, device=Y.device)

    def fit(self, low: list[float], high: list[float], growth: float) -> None:
        """Nothing depends on the extent of the map."""

    def repel(self, Y: Any, push: Any) -> None:
        """Forces to ``push`` (n, k), and the normaliser to ``total``."""
        n = len(Y)
        sizes = (n, n, self.columns)
        if self.k <= 2:
            grid = (triton.cdiv(n, 256), self.parts)
            pairs[grid](
                whole(Y), whole(Y), self.partial, *sizes, **law(self.falloff), DIM=self.k, BI=256, BJ=16, num_warps=2
            )
        else:
            pairs_any[(triton.cdiv(n, 64), self.parts, self.k)](
                Y, Y, self.partial, *sizes, self.k, **law(self.falloff), BI=64, BJ=16, num_warps=2
            )
        sums = self.partial.sum(0)
        push.copy_(sums[: self.k].T)
        self.total.copy_(sums[-1].sum(dtype=torch.float64) - n)


class Grid:
    """Repulsion by a grid: points spread over nodes, a convolution by Fourier transforms, and read back.

    The grid is chosen for the extent of the map by :meth:`fit`; ``key`` is its size, for which an iteration can be
    recorded. ``flag`` becomes 1 when a point leaves it.
    """

    def __init__(self, Y: Any, falloff: Any, spacing: float) -> None:
        self.falloff, self.spacing, self.k = falloff, spacing, Y.shape[1]
        there = {"device": Y.device}
        self.box = torch.zeros(3, **there)
        self.held: dict[int, float] = {}  # spacing of the transform in each capacity
        self.flag = torch.zeros((), dtype=torch.int32, **there)
        self.sums = torch.zeros(triton.cdiv(len(Y), BLOCK), dtype=torch.float64, **there)
        self.total = torch.zeros((), dtype=torch.float64, **there)
        self.rooms: dict[int, Convolution] = {}
        self.kernels: dict[tuple[int, float], Any] = {}
        self.key = 0

    def fit(self, low: list[float], high: list[float], growth: float) -> None:
        """Choose the grid for a map between these bounds that may grow by this factor."""
        extent = growth * max(max(b - a for a, b in zip(low, high, strict=True)), 1e-3 * self.spacing)
        h = self.spacing
        while extent / h < _FINE and h > _FINEST * self.spacing:
            h /= 2
        h = max(h, extent / (SIZES[self.k][-1] // 2 - 8))
        size = next(size for size in sizes_for(self.k, self.box.device) if size // 2 - 8 >= extent / h - 1e-9)
        while h > _FINEST * self.spacing and extent / (h * 2**-0.25) <= size // 2 - 8:
            h *= 2**-0.25  # as fine as this size allows
        nodes, device = size // 2, self.box.device
        transform = _kept if size <= 1024 or self.k == 1 else _kept_large if size <= 2048 else _transformed
        if (size, h) not in self.kernels:
            self.kernels[size, h] = transform(size, h, self.falloff, self.k, device)
        self.open(size)
        if self.held.get(size) != h:
            self.rooms[size].falloff.copy_(self.kernels[size, h])
            self.held[size] = h
        centre = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
        origin = [c - h * nodes / 2 for c in centre]
        self.box.copy_(torch.tensor([origin[0], origin[-1], 1 / h]))
        self.flag.zero_()
        self.key = size

    def open(self, size: int) -> None:
        """Allocate a grid of this size."""
        if size not in self.rooms:
            self.rooms[size] = Convolution(size, self.k, self.box.device)

    @property
    def next_key(self) -> int | None:
        """Size that a map which outgrows this grid needs."""
        sizes = sizes_for(self.k, self.box.device)
        return next((size for size in sizes if self.key < size <= _AHEAD), None)

    def repel(self, Y: Any, push: Any) -> None:
        """Forces to ``push`` (n, k), and the normaliser to ``total``."""
        n, room, programs = len(Y), self.rooms[self.key], (triton.cdiv(len(Y), BLOCK),)
        room.clear()
        spread[programs](
            whole(Y), self.box, room.counts, self.flag, n, room.nodes, ONE=_ONE, DIM=self.k, B=BLOCK, num_warps=1
        )
        phi = room.apply(1 / _ONE)
        sizes = (n, room.nodes, len(phi))
        read[programs](whole(Y), self.box, phi, push, self.sums, *sizes, DIM=self.k, B=BLOCK, num_warps=1)
        torch.sum(self.sums, 0, out=self.total)


def _transformed(size: int, h: float, falloff: Any, k: int, device: Any) -> Any:
    """Transform of the falloff on a grid of this spacing, corrected for two splines and divided by the nodes.

    The halved axis is the first. Twice the resolution keeps out the aliases of the falloff.
    """
    there = {"dtype": torch.float64, "device": device}
    a = torch.arange(2 * size, **there)
    square = (torch.minimum(a, 2 * size - a) * (h / 2)) ** 2
    s = square if k == 1 else square[:, None] + square
    values = torch.exp(-s) if falloff.name == "gauss" else (1 + s / falloff.dof) ** (-(falloff.dof + 1) / 2)
    waves = torch.round(torch.fft.fftfreq(size, **there) * size).long()
    half = waves[: size // 2 + 1].abs()
    angle = 2 * pi * torch.fft.fftfreq(size, **there)
    window = [torch.special.sinc((angle + 2 * pi * alias) / (2 * pi)) ** 4 for alias in range(-2, 3)]
    along = window[2] ** 2 / sum(one**2 for one in window) ** 2 / (2 * size)
    spectrum = torch.fft.rfftn(values).real
    if k == 1:
        return (spectrum[half] * along[: size // 2 + 1]).float()
    chosen = spectrum[waves % (2 * size)][:, half] * along[:, None] * along[: size // 2 + 1]
    return chosen.float().T.contiguous()


_kept, _kept_large = (lru_cache(size)(_transformed) for size in (_KEPT, _KEPT_LARGE))
