"""The loss that UMAP's sampling minimises, minimised in epochs in which all points move at once.

Over ordered pairs of different rows, with ``w = 1/(1 + a (‖y_i − y_j‖² + ε)^b)``, degrees ``d_i = Σ_j v_ij`` and ``c``
negatives for each edge, ``L = −Σ_ij v_ij log w_ij − (c/2n) Σ_ij (d_i + d_j) log(1 − w_ij)``: what UMAP's sampling
minimises (Damrich and Hamprecht 2021), not the cross-entropy of ``v`` and ``w`` that it is named after.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.solve import density as densities
from lowdim.solve.anchors import Anchors, native
from lowdim.solve.density import Density, map_radii
from lowdim.solve.descent import PLACING_STEPS, Reached, SparseRows, Tell, sample_of
from lowdim.work import thread_limit
from lowdim.work.backend_arrays import to_numpy
from lowdim.work.dispatch import operation
from lowdim.work.progress import Tick, stage
from lowdim.work.random import stream

SHIFTS = 16  # of an epoch: each point has a partner in both directions
_EXACT = 20_000  # points up to which the loss takes all pairs
SAMPLE = 512  # shifts by which it is estimated above


@cache
def curve(min_dist: float, spread: float) -> tuple[float, float]:
    """``a`` and ``b`` of ``1/(1 + a d^2b)`` nearest to 1 up to ``min_dist`` and ``exp(−(d − min_dist)/spread)`` beyond.

    >>> a, b = curve(0.1, 1.0)
    >>> round(a, 3), round(b, 3)
    (1.577, 0.895)
    """
    a, b = _native.fitted_curve(min_dist / spread)
    return a / spread ** (2 * b), b


@dataclass(frozen=True)
class CrossEntropy:
    """``L`` with this curve, ``negatives`` for each edge (``c``), and a rate that decreases to 0.

    Lengths of the map are taken in ``unit``: ``a`` belongs to distances divided by it, and so do ``ε`` and all steps.

    The second term is taken over random pairs, others in each epoch: points are in a random order, and each is paired
    with those a few random shifts later and earlier. The pairs are the same for any number of threads.
    """

    a: float
    b: float
    negatives: float
    rate: float = 1.0
    seed: int = 0
    unit: float = 1.0
    exact: bool = True  # the value is that of all pairs, up to 20,000 points
    density: Density | None = None  # its correlation is taken from ``L`` in the descent, and of new points
    name = "loss"

    @operation(on=1)
    def lower(
        self,
        graph: SparseRows,
        Y: NDArray[np.float32],
        iterations: int,
        every: int,
        tell: Tell,
        tick: Tick,
        anchors: Anchors | None = None,
    ) -> int:
        """Move the map ``Y`` (n, k) in place; the loss reported is estimated from the pairs of that epoch."""
        order, shifts = self.pairs(len(Y), iterations, SHIFTS)
        order = pinned_last(order, anchors)
        stopped = []

        def told(done: int, value: float) -> bool:
            np.multiply(Y, self.unit, out=Y)
            stopped.append(tell(done, value))
            return bool(stopped[-1])

        np.divide(Y, self.unit, out=Y)
        done = _native.lower_cross_entropy(
            *graph,
            Y,
            order,
            shifts,
            a=self.a,
            b=self.b,
            negatives=2 * self.negatives,  # both ends of a pair are pushed
            rate=self.rate,
            every=every,
            report=told,
            **native(anchors, self.unit) | densities.native(self.density),
            n_threads=thread_limit.current(),
            tick=tick,
        )
        if not (stopped and stopped[-1]):
            np.multiply(Y, self.unit, out=Y)
        return done

    def anchor_unit(self, graph: SparseRows) -> float:
        """Weight of an anchor that counts as much as the loss of one point, as a mean over edges."""
        return float(graph[2].sum()) / (len(graph[0]) - 1)

    @operation(on=1)
    def at(self, graph: SparseRows, Y: NDArray[np.float32]) -> Reached:
        """``L`` over all pairs up to 20,000 points; above, its second term from 512 partners of each point."""
        n, exact = len(Y), self.exact and len(Y) <= _EXACT
        order, shifts = all_pairs(n, once=True) if exact else self.pairs(n, 1, SAMPLE)
        with stage("loss"):
            points, terms = _native.cross_entropy(
                *graph, in_units(self, Y), order, shifts, a=self.a, b=self.b, n_threads=thread_limit.current()
            )
        return reached(self, n, points, terms, shifts[0], exact=exact)

    @operation(on=1)
    def place_new(
        self, neighbors: NDArray[np.int32], v: NDArray[np.float32], Y: NDArray[np.float32], tick: Tick
    ) -> NDArray[np.float32]:
        """Positions (m, k) of new points, repelled by one sample of the points of the map."""
        positions = _native.place_new_cross_entropy(
            neighbors,
            v,
            in_units(self, Y),
            sample_of(len(Y)),
            a=self.a,
            b=self.b,
            negatives=2 * self.negatives,  # both ends of a pair are pushed
            **densities.native(self.density),
            iterations=PLACING_STEPS,
            n_threads=thread_limit.current(),
            tick=tick,
        )
        return positions * np.float32(self.unit)

    def radii_in(self, graph: SparseRows, Y: NDArray[np.float32]) -> NDArray[np.float32]:
        """Logarithms (n,) of the squared local radii in the map, in its unit; NaN of points without edges."""
        return map_radii(graph, in_units(self, Y), {"a": self.a, "b": self.b})

    def gradient(self, graph: SparseRows, Y: NDArray[np.float32]) -> NDArray[np.float32]:
        """Gradient (n, k) of ``L`` over all pairs, in float32."""
        gradient = _native.cross_entropy_gradient(
            *graph,
            in_units(self, Y),
            *all_pairs(len(Y)),
            a=self.a,
            b=self.b,
            negatives=2 * self.negatives,  # both ends of a pair are pushed
            longest=np.inf,
            n_threads=thread_limit.current(),
        )
        return gradient / np.float32(self.unit)

    def pairs(self, n: int, epochs: int, each: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """A random order of the points, and the shifts (epochs, each); all of them if there are fewer."""
        numbers = stream(self.seed, "negatives")
        order = numbers.permutation(n).astype(np.int32)
        if n - 1 <= each:
            return order, np.tile(np.arange(1, n, dtype=np.int32), (epochs, 1))
        return order, numbers.integers(1, n, size=(epochs, each), dtype=np.int32)


def pinned_last(order: NDArray[np.int32], anchors: Anchors | None) -> NDArray[np.int32]:
    """The order with pinned points at its end, whose repulsion is not computed."""
    if anchors is None:
        return order
    return order[np.argsort(np.isinf(to_numpy(anchors.weights))[order], kind="stable")]


def reached(
    loss: CrossEntropy, n: int, points: Any, terms: NDArray[np.float64], shifts: NDArray[np.int32], *, exact: bool
) -> Reached:
    """``L`` by the attraction of each point and the repulsion of each shift, of all pairs or of some."""
    push = 2 * loss.negatives * (n - 1) * terms / n
    if not exact:
        error, mean = 3 * n * float(push.std()) / np.sqrt(len(push)), float(push.mean())
    else:  # a shift and its opposite make the same pairs, except for n/2
        twice = np.where(2 * shifts == n, 1, 2)
        error, mean = 0.0, float((twice * push).sum() / (n - 1))
    return Reached(float(points.sum() + n * mean), points + mean, error)


def in_units(loss: CrossEntropy, Y: Any) -> Any:
    """The map in the unit of the loss."""
    return Y / loss.unit if loss.unit != 1 else Y


def all_pairs(n: int, *, once: bool = False) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The rows in their order and all shifts, or only those that make each pair ``once``."""
    return np.arange(n, dtype=np.int32), np.arange(1, n // 2 + 1 if once else n, dtype=np.int32)[None]
