"""Descent of a map along the gradient of ``KL(P‖Q)``, the divergence reached, and places for new points.

``Q_ij = f(‖y_i − y_j‖²) / Z`` over all pairs, with Student's ``f = (1 + s/ν)^(−(ν + 1)/2)`` or Gauss's ``f = e^−s``.
The gradient is ``4 Σ_j (p_ij − q_ij) a_ij (y_i − y_j)``, ``a = −f′/f``.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.work import jobs
from lowdim.work.progress import note, stage
from lowdim.work.random import stream

SparseRows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]  # starts, columns, values
Report = Callable[[int, float, NDArray[np.float32]], bool]
REPULSIONS = ("auto", "exact", "barnes_hut", "interpolation")
FAST = {"barnes_hut": 3, "interpolation": 2}  # most dimensions
MOST_DIMENSIONS = 64
_SPACING, _FINE = 0.5, 0.25  # of the grid, in the width of the falloff: for forces, and for the normaliser
_FEW, _FEW_IN_SPACE = 1000, 3000  # points up to which exact sums are taken: few pairs, and no grid or tree to set up
_EXACT_NORMALISER = 20_000  # points up to which all pairs take no time worth saving
_SAMPLE = 1000  # points at which an approximate normaliser is held against exact sums
_TINY, _CALM = 8, 12.0  # below so many points steps of more than n / 12 swing across Gauss's narrow minima
_STEPS = 100  # of a new point at most
_PROGRESS = 1e-5  # share of the divergence that 50 iterations must gain


class Falloff(NamedTuple):
    """How likeness falls off with squared distance in the map: Student's with ``dof`` or Gauss's."""

    name: str
    dof: float = 1.0

    def law(self) -> dict[str, Any]:
        """Return it as native kernels take it, with the threads they may use."""
        return {"falloff": self.name, "dof": self.dof, "n_threads": jobs.current()}

    @property
    def width(self) -> float:
        """Length on which it falls, against that of ``dof`` = 1."""
        return min(1.0, float(np.sqrt(self.dof))) if self.name == "student" else 1.0


class Descended(NamedTuple):
    """A map (n, k), the iterations done, and the divergence on the way."""

    embedding: NDArray[np.float32]
    iterations: int
    marks: list[int]
    losses: list[float]


class Divergence(NamedTuple):
    """``KL(P‖Q)``, what each point adds to it (n,), and how the normaliser was computed."""

    value: float
    points: NDArray[np.float64]
    how: str


def choose(n: int, k: int) -> str:
    """Rule behind ``repulsion="auto"``.

    >>> choose(500, 2), choose(70_000, 2), choose(70_000, 3), choose(70_000, 5)
    ('exact', 'interpolation', 'barnes_hut', 'exact')
    """
    if k <= 2:
        return "interpolation" if n > _FEW else "exact"
    return "barnes_hut" if k == 3 and n > _FEW_IN_SPACE else "exact"


def descend(
    P: SparseRows,
    Y: NDArray,
    falloff: Falloff,
    *,
    repulsion: str,
    angle: float,
    iterations: int,
    exaggerated: int,
    exaggeration: float,
    rate: float | None,
    every: int,
    report: Report | None = None,
) -> Descended:
    """Move the map ``Y`` (n, k) for so many iterations, the first ``exaggerated`` ones with ``P`` exaggerated.

    ``rate`` None is n / exaggeration in each phase, or n / 12 for a few points under Gauss's falloff. Every so many
    iterations ``report(iteration, loss, map)`` may stop the descent by returning True; it also stops where progress
    does. The same bits for any number of threads.
    """
    Y = np.array(Y, dtype=np.float32, order="C")
    if rate is None and falloff.name == "gauss" and len(Y) < _TINY:
        rate = len(Y) / _CALM
    marks: list[int] = []
    losses: list[float] = []

    def tell(done: int, loss: float) -> bool:
        marks.append(done)
        losses.append(loss)
        note(f"KL {loss:.4f}")
        return bool(report is not None and report(done, loss, Y.copy()))

    with stage("descent", total=iterations) as tick:
        done = _native.descend(
            *P,
            Y,
            how=repulsion,
            angle=angle,
            spacing=_SPACING * falloff.width,
            iterations=iterations,
            exaggerated=exaggerated,
            exaggeration=exaggeration,
            rate=rate or 0.0,
            every=every,
            progress=_PROGRESS,
            report=tell,
            tick=tick,
            **falloff.law(),
        )
    return Descended(Y, done, marks, losses)


def gradient(P: SparseRows, Y: NDArray, falloff: Falloff) -> tuple[float, NDArray]:
    """``KL(P‖Q)`` at the map ``Y`` (n, k), and its gradient (n, k), by exact sums in the precision of ``Y``."""
    law = falloff.law()
    pull, costs = _native.attraction(*P, Y, **law)
    push, phi = _native.repulsion_at(Y, Y, **law)
    Z = float((phi - 1.0).sum())
    return float(costs.sum() + np.log(Z)), 4.0 * (pull - push / Z)


def divergence(P: SparseRows, Y: NDArray[np.float32], falloff: Falloff) -> Divergence:
    """``KL(P‖Q)`` at the map ``Y`` (n, k), with ``Q`` normalised over all pairs.

    Up to 20,000 points the normaliser is summed exactly. Above, it comes from a fine grid or tree, is corrected by the
    mean difference from exact sums at 1000 points, and what that leaves uncertain in the divergence is told.
    """
    (n, k), law = Y.shape, falloff.law()
    with stage("divergence"):
        _, costs = _native.attraction(*P, Y, **law)
        if n <= _EXACT_NORMALISER or k > FAST["barnes_hut"]:
            _, field = _native.repulsion_at(Y, Y, **law)
            Z, how = float((field - 1.0).sum()), "exact: all pairs"
        else:
            way = "interpolation" if k <= FAST["interpolation"] else "barnes_hut"
            _, phi, Z = _native.repulsion(Y, how=way, spacing=_FINE * falloff.width, angle=0.2, **law)
            some = stream(0, "divergence").choice(n, _SAMPLE, replace=False)
            _, exact = _native.repulsion_at(Y[some], Y, **law)
            off = exact - phi[some]
            Z += n * float(off.mean())
            error = 3 * n * float(off.std()) / np.sqrt(_SAMPLE) / Z
            how = f"{way}, corrected by exact sums at {_SAMPLE} points: KL within {error:.0e}"
        shares = np.add.reduceat(P[2], P[0][:-1], dtype=np.float64)
        points = costs + shares * np.log(max(Z, np.finfo(float).tiny))
    return Divergence(float(points.sum()), points, how)


def place(neighbors: NDArray[np.int32], p: NDArray[np.float32], Y: NDArray, falloff: Falloff) -> NDArray[np.float32]:
    """Places (m, k) for new points with these neighbours (m, near) and probabilities, in the map ``Y`` held fast.

    Each starts at the weighted median of its neighbours and lowers its own divergence; none depends on another.
    """
    with stage("places", total=len(neighbors)) as tick:
        return _native.place(
            neighbors,
            p,
            np.ascontiguousarray(Y, dtype=np.float32),
            spacing=_SPACING * falloff.width,
            iterations=_STEPS,
            tick=tick,
            **falloff.law(),
        )
