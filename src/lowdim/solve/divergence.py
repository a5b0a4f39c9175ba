"""``KL(P‖Q)`` as the loss of a map: its descent, its value, its gradient, and positions of new points.

``Q_ij = f(‖y_i − y_j‖²) / Z`` over all pairs, with Student's ``f = (1 + s/ν)^(−(ν + 1)/2)`` or Gauss's ``f = e^−s``.
The gradient is ``4 Σ_j (p_ij − q_ij) a_ij (y_i − y_j)``, ``a = −f′/f``.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.solve import density as densities
from lowdim.solve.anchors import Anchors, native
from lowdim.solve.density import Density, map_radii
from lowdim.solve.descent import PLACING_STEPS, Reached, SparseRows, Tell
from lowdim.work import thread_limit
from lowdim.work.dispatch import operation
from lowdim.work.progress import Tick, stage
from lowdim.work.random import stream

REPULSIONS = ("auto", "exact", "barnes_hut", "fft")
FAST = {"barnes_hut": 3, "fft": 2}  # most dimensions
# Cells of the grid, in the width of the falloff: under exaggeration and for new points, in the other iterations, and
# for the normaliser. At 0.33 the divergence ends within 0.5 % of that of exact sums, at 0.36 within 1 %. Wide maps of
# few points need no fine cells.
_SPACING, _FINE, _FINEST = 0.42, 0.33, 0.25
# Points up to which exact sums are taken, since there are few pairs, and no grid or tree to set up: where near pairs
# are summed beside a grid, where a grid alone gives all forces, and in space.
_FEW, _FEW_BY_GRID, _FEW_IN_SPACE = 2000, 3500, 3000
_FEW_ON_DEVICE = (
    20_000  # where there are no near pairs, and the error of a grid alone raises the divergence by 1 to 7 %
)
_EXACT_NORMALISER = 20_000  # points up to which all pairs take negligible time
_SAMPLE = 1000  # points at which an approximate normaliser is compared with exact sums
_TINY, _CALM = (
    8,
    12.0,
)  # below so many points, steps of more than n / 12 oscillate across the narrow minima of the Gaussian falloff
PROGRESS = 1e-5  # share of the divergence that 50 iterations must gain


class Falloff(NamedTuple):
    """Similarity as a function of squared distance in the map: Student's t with ``dof``, or a Gaussian."""

    name: str
    dof: float = 1.0

    def law(self) -> dict[str, Any]:
        """Arguments of the native kernels."""
        return {"falloff": self.name, "dof": self.dof}

    @property
    def width(self) -> float:
        """Width of the falloff relative to that of ``dof`` = 1."""
        return min(1.0, float(np.sqrt(self.dof))) if self.name == "student" else 1.0


def choose(n: int, k: int, falloff: Falloff, *, tree: bool = True) -> str:
    """Rule behind ``method="auto"``; some devices have neither a tree nor near pairs.

    >>> cauchy = Falloff("student")
    >>> [choose(n, k, cauchy) for n, k in ((1500, 2), (3000, 2), (3000, 1), (70_000, 3), (70_000, 5))]
    ['exact', 'fft', 'exact', 'barnes_hut', 'exact']
    """
    if k <= 2:
        pairs = tree and k == 2 and falloff == Falloff("student")
        return "fft" if n > (_FEW if pairs else _FEW_BY_GRID if tree else _FEW_ON_DEVICE) else "exact"
    return "barnes_hut" if tree and k == 3 and n > _FEW_IN_SPACE else "exact"


@dataclass(frozen=True)
class Divergence:
    """The loss ``KL(P‖Q)`` of t-SNE and SNE, minimised by gradient descent with momentum and gains.

    The first ``exaggerated`` iterations multiply ``P`` by ``exaggeration``, the others by ``late``. ``rate`` None is
    n / exaggeration in each phase, or n / 12 for a few points under Gauss's falloff.
    """

    falloff: Falloff
    repulsion: str
    angle: float = 0.5
    exaggerated: int = 0
    exaggeration: float = 12.0
    late: float = 1.0
    rate: float | None = None
    density: Density | None = None  # its correlation is taken from the loss in the descent, and of new points
    name = "KL"

    @operation(on=1)
    def lower(
        self,
        P: SparseRows,
        Y: NDArray[np.float32],
        iterations: int,
        every: int,
        tell: Tell,
        tick: Tick,
        anchors: Anchors | None = None,
    ) -> int:
        """Move the map ``Y`` (n, k) in place; stops early without further progress."""
        return _native.descend(
            *P,
            Y,
            how=self.repulsion,
            angle=self.angle,
            spacing=_SPACING * self.falloff.width,
            fine_spacing=_FINE * self.falloff.width,
            iterations=iterations,
            exaggerated=min(self.exaggerated, iterations),
            exaggeration=self.exaggeration,
            late=self.late,
            rate=self._fixed_rate(len(Y)) or 0.0,
            every=every,
            progress=PROGRESS,
            report=tell,
            tick=tick,
            **self.falloff.law() | native(anchors) | densities.native(self.density),
            n_threads=thread_limit.current(),
        )

    def anchor_unit(self, P: SparseRows) -> float:
        """Weight of an anchor that counts as much as the loss of one point: the affinities sum to 1."""
        return 1 / (len(P[0]) - 1)

    def rate_at(self, n: int, *, exaggerated: bool) -> float:
        """Rate of learning for n points, in either phase."""
        factor = self.exaggeration if exaggerated else self.late
        share = _native.pace(**self.falloff.law(), exaggerated=exaggerated, since=0)[1]
        return self._fixed_rate(n) or share * n / factor

    def _fixed_rate(self, n: int) -> float | None:
        """Rate of learning that both phases have, if there is one."""
        calm = self.rate is None and self.falloff.name == "gauss" and n < _TINY
        return n / _CALM if calm else self.rate

    def at(self, P: SparseRows, Y: NDArray[np.float32]) -> Reached:
        """``KL(P‖Q)`` without exaggeration."""
        return divergence(P, Y, self.falloff)

    @operation(on=1)
    def place_new(
        self, neighbors: NDArray[np.int32], p: NDArray[np.float32], Y: NDArray[np.float32], tick: Tick
    ) -> NDArray[np.float32]:
        """Positions (m, k) that minimise the divergence of each new point, with ``Y`` fixed."""
        return _native.place(
            neighbors,
            p * np.float32(self.late),
            Y,
            spacing=_SPACING * self.falloff.width,
            iterations=PLACING_STEPS,
            tick=tick,
            **self.falloff.law() | densities.native(self.density),
            n_threads=thread_limit.current(),
        )

    def radii_in(self, P: SparseRows, Y: NDArray[np.float32]) -> NDArray[np.float32]:
        """Logarithms (n,) of the squared local radii in the map; NaN of points without edges."""
        return map_radii(P, Y, {"dof": self.falloff.dof})


def gradient(P: SparseRows, Y: NDArray, falloff: Falloff) -> tuple[float, NDArray]:
    """``KL(P‖Q)`` at the map ``Y`` (n, k), and its gradient (n, k), by exact sums in the precision of ``Y``."""
    law = {**falloff.law(), "n_threads": thread_limit.current()}
    pull, costs = _native.attraction(*P, Y, **law)
    push, phi = _native.repulsion_at(Y, Y, **law)
    Z = float((phi - 1.0).sum())
    return float(costs.sum() + np.log(Z)), 4.0 * (pull - push / Z)


@operation
def divergence(P: SparseRows, Y: NDArray[np.float32], falloff: Falloff) -> Reached:
    """``KL(P‖Q)`` at the map ``Y`` (n, k), with ``Q`` normalised over all pairs.

    Up to 20,000 points the normaliser is summed exactly. Above, it comes from a fine grid or tree, is corrected by the
    mean difference from exact sums at 1000 points; three standard errors of the divergence are reported, with the
    relative error of the grid's forces at these points.
    """
    with stage("divergence"):
        _, costs = _native.attraction(*P, Y, **falloff.law(), n_threads=thread_limit.current())
        log_z, error, force_error = _log_normaliser(Y, falloff)
        points = costs + np.add.reduceat(P[2], P[0][:-1], dtype=np.float64) * log_z
    return Reached(float(points.sum()), points, error, force_error)


def with_new(old: Reached, P: SparseRows, Y: NDArray[np.float32], falloff: Falloff) -> Reached:
    """``KL(P‖Q)`` of a map to which points were added, in NumPy.

    Old points have not moved and keep their affinities to each other, with the divergence ``old`` of their map, n/N of
    all; the new ones bring ``P`` (N, N).
    """
    n, N = len(old.points), len(Y)
    with stage("divergence"):
        _, points = _native.attraction(*P, Y, **falloff.law(), n_threads=thread_limit.current())
        before, off, _ = _log_normaliser(np.ascontiguousarray(Y[:n]), falloff)
        log_z, error, force_error = _log_normaliser(Y, falloff)
        shares = np.diff(np.concatenate([[0.0], np.cumsum(P[2], dtype=np.float64)])[P[0]])
        points += shares * log_z
        points[:n] += n / N * (old.points + (log_z - before + np.log(n / N)) / n)
    return Reached(float(points.sum()), points, n / N * (old.error + off) + error, force_error)


def _log_normaliser(Y: NDArray[np.float32], falloff: Falloff) -> tuple[float, float, float | None]:
    """``log Σ f`` over all pairs, three standard errors of it, and the relative error of the forces of a grid."""
    (n, k), law = Y.shape, {**falloff.law(), "n_threads": thread_limit.current()}
    if n <= _EXACT_NORMALISER or k > FAST["barnes_hut"]:
        _, field = _native.repulsion_at(Y, Y, **law)
        Z, error, force_error = float((field - 1.0).sum()), 0.0, None
    else:
        way = "fft" if k <= FAST["fft"] else "barnes_hut"
        _, phi, Z = _native.repulsion(Y, how=way, spacing=_FINEST * falloff.width, angle=0.2, **law)
        some = stream(0, "divergence").choice(n, _SAMPLE, replace=False)
        push, exact = _native.repulsion_at(Y[some], Y, **law)
        off = exact - phi[some]
        Z += n * float(off.mean())
        error = 3 * n * float(off.std()) / np.sqrt(_SAMPLE) / Z
        force_error = None
        if way == "fft":
            forces = _native.repulsion(Y, how=way, spacing=_FINE * falloff.width, **law)[0][some]
            force_error = float(np.linalg.norm(forces - push) / np.linalg.norm(push))
    return float(np.log(max(Z, np.finfo(float).tiny))), error, force_error
