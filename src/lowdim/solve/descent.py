"""Descent of a map whose loss is a parameter, and positions of new points by the same loss.

A loss knows the native optimiser that lowers it: :mod:`lowdim.solve.divergence` has that of SNE and t-SNE.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lowdim.solve.anchors import Anchors
from lowdim.work.progress import Tick, note, stage
from lowdim.work.random import stream
from lowdim.work.rows import own, searchable

SparseRows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]  # starts, columns, values
Tell = Callable[[int, float], bool]  # iterations done, loss; True stops
Report = Callable[[int, float, NDArray[np.float32]], bool]  # the same with a copy of the map
MOST_DIMENSIONS = 64
PLACING_STEPS = 100  # of a new point at most
_OTHERS = 2048  # points of a map that repel a new one


class Descended(NamedTuple):
    """Result of a descent: the map (n, k), the number of iterations, and the recorded losses."""

    embedding: NDArray[np.float32]
    iterations: int
    marks: list[int]
    losses: list[float]

    def trace(self, reached: float, start: int, marks: Any, losses: Any) -> tuple[int, NDArray, NDArray]:
        """Iterations in all, and at which of them the loss was recorded, with the one ``reached`` in the end.

        ``start``, ``marks`` and ``losses`` are those of the descent that this one continues.
        """
        own = [mark for mark in self.marks if mark < self.iterations]
        values = [*self.losses[: len(own)], reached]
        marks = np.concatenate([marks, [start + mark for mark in (*own, self.iterations)]]).astype(np.int64)
        return start + self.iterations, marks, np.concatenate([losses, values])


class Reached(NamedTuple):
    """Loss of a map, the contribution of each point (n,), and the errors of what was not computed over all pairs.

    ``error`` is three standard errors of the value, 0 if it is exact. ``force_error`` is the relative error of the
    forces of the descent, None where it was not measured.
    """

    value: float
    points: NDArray[np.float64]
    error: float = 0.0
    force_error: float | None = None


class Loss(Protocol):
    """Interface of a loss that a descent minimises; ``relations`` are its input, such as sparse affinities."""

    @property
    def name(self) -> str:
        """Short name, for progress."""
        ...

    def lower(
        self,
        relations: Any,
        Y: NDArray[np.float32],
        iterations: int,
        every: int,
        tell: Tell,
        tick: Tick,
        anchors: Anchors | None = None,
    ) -> int:
        """Move the map ``Y`` (n, k) in place and return the iterations done; at intervals, ``tell`` may stop it.

        The map is centred, unless anchors say where it is.
        """
        ...

    def anchor_unit(self, relations: Any) -> float:
        """Weight of an anchor that counts as much as the loss, as a mean over its pairs, of one point."""
        ...

    def at(self, relations: Any, Y: NDArray[np.float32]) -> Reached:
        """Loss of the map."""
        ...

    def place_new(
        self, neighbors: NDArray[np.int32], weights: NDArray[np.float32], Y: NDArray[np.float32], tick: Tick
    ) -> NDArray[np.float32]:
        """Places (m, k) of new points with these neighbours (m, near) and weights; none depends on another."""
        ...


def descend(
    relations: Any,
    Y: NDArray,
    loss: Loss,
    *,
    iterations: int,
    every: int,
    report: Report | None = None,
    anchors: Anchors | None = None,
) -> Descended:
    """Minimise ``loss`` by gradient descent, starting from the map ``Y`` (n, k).

    Every so many iterations ``report(iteration, loss, map)`` may stop the descent by returning True. The same bits for
    any number of threads. ``anchors`` are added to the loss; pinned points must start at theirs, and stay there.
    """
    Y = own(searchable(Y, np.float32))
    marks: list[int] = []
    losses: list[float] = []

    def tell(done: int, value: float) -> bool:
        marks.append(done)
        losses.append(value)
        note(f"{loss.name} {value:.4f}")
        return bool(report is not None and report(done, value, own(Y)))

    with stage("descent", total=iterations) as tick:
        done = loss.lower(relations, Y, iterations, every, tell, tick, anchors)
    return Descended(Y, done, marks, losses)


def place(neighbors: NDArray[np.int32], weights: NDArray[np.float32], Y: NDArray, loss: Loss) -> NDArray[np.float32]:
    """Place new points (m, k) with these neighbours (m, near) and weights in the fixed map ``Y``.

    Each lowers its own loss from positions among its neighbours; none depends on another.
    """
    with stage("places", total=len(neighbors)) as tick:
        return loss.place_new(neighbors, weights, searchable(Y, np.float32), tick)


def sample_of(n: int) -> NDArray[np.int32]:
    """Points of a map of n that repel new ones, where all would take too long."""
    return np.sort(stream(0, "places").permutation(n)[:_OTHERS]).astype(np.int32)
