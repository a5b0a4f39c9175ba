"""The loss of PaCMAP over fixed pairs of rows, minimised by Adam on all of them at once.

With ``d̃ = ‖y_i − y_j‖² + 1``: ``Σ d̃/(10 + d̃)`` over near pairs, ``Σ d̃/(10000 + d̃)`` over pairs of middle distance and
``Σ 1/(1 + d̃)`` over further ones, weighted in three phases (Wang, Huang, Rudin and Shaposhnik 2021).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.solve.anchors import Anchors, native
from lowdim.solve.descent import PLACING_STEPS, Reached, Tell, sample_of
from lowdim.work import thread_limit
from lowdim.work.dispatch import operation
from lowdim.work.progress import Tick, stage

Indices = NDArray[np.int32]
# Near, mid and further partners (n, each), and further pairs in a ring: order (n,), shifts, excluded pairs (e, 2).
Partners = tuple[Indices, Indices, Indices, Indices, Indices, Indices]
LAST = (1.0, 0.0, 1.0)  # weights of the last phase, with which the loss is reported


@dataclass(frozen=True)
class PairLoss:
    """The loss with these weights in the end: near pairs 1, further ones 1.

    ``phased`` runs the phases that first arrange the global structure; ``further`` is the number of further pairs of a
    new point.

    With ``local``, that of LocalMAP (Wang, Sun, Huang and Rudin 2025): in the last phase near pairs cost ``local/2
    (√d̃/(10 + d̃) + arctan(√(d̃/10))/√10)``, and every ten iterations further partners are drawn again among the rows
    within that distance in the map.
    """

    phased: bool = True
    rate: float = 1.0
    further: float = 0.0
    local: float = 0.0
    seed: int = 0
    name = "loss"

    @operation(on=1)
    def lower(
        self,
        pairs: Partners,
        Y: NDArray[np.float32],
        iterations: int,
        every: int,
        tell: Tell,
        tick: Tick,
        anchors: Anchors | None = None,
    ) -> int:
        """Move the map ``Y`` (n, k) in place; the loss reported has the weights of the last phase."""
        return _native.lower_pairs(
            *pairs,
            Y,
            iterations=iterations,
            phased=self.phased,
            rate=self.rate,
            every=every,
            report=tell,
            local=self.local,
            further_each=round(self.further),
            seed=self.seed,
            **native(anchors),
            n_threads=thread_limit.current(),
            tick=tick,
        )

    def anchor_unit(self, pairs: Partners) -> float:
        """Weight of an anchor that counts as much as the loss of one point, as a mean over near pairs."""
        return float(pairs[0].shape[1])

    @operation(on=1)
    def at(self, pairs: Partners, Y: NDArray[np.float32]) -> Reached:
        """Loss of the map, over all pairs."""
        with stage("loss"):
            points, _ = _native.pair_loss(*pairs, Y, LAST, local=self.local, n_threads=thread_limit.current())
        return Reached(float(points.sum()), points)

    @operation(on=1)
    def place_new(
        self, neighbors: NDArray[np.int32], p: NDArray[np.float32], Y: NDArray[np.float32], tick: Tick
    ) -> NDArray[np.float32]:
        """Positions (m, k) of new points, repelled by one sample of the points of the map."""
        return _native.place_new_pairs(
            neighbors,
            p,
            Y,
            sample_of(len(Y)),
            further=self.further,
            iterations=PLACING_STEPS,
            n_threads=thread_limit.current(),
            tick=tick,
        )


def weights_at(done: int, iterations: int, *, phased: bool) -> tuple[float, float, float]:
    """Weights of near, middle and further pairs in an iteration.

    >>> weights_at(0, 450, phased=True), weights_at(449, 450, phased=True)
    ((2.0, 1000.0, 1.0), (1.0, 0.0, 1.0))
    """
    return _native.pair_weights(done, iterations, phased)


def rate_at(done: int, iterations: int, *, phased: bool, rate: float = 1.0) -> float:
    """Rate of Adam in an iteration, the correction of its moments included.

    Without the first phases, whose large gradients Adam's second moments remember, it falls to 0.

    >>> round(rate_at(199, 450, phased=True), 3), round(rate_at(449, 450, phased=True), 3)
    (0.426, 0.602)
    >>> round(rate_at(199, 450, phased=False), 3), round(rate_at(449, 450, phased=False), 4)
    (0.238, 0.0013)
    """
    return _native.pair_rate(done, iterations, phased, rate)


def gradient(
    pairs: Partners, Y: NDArray[np.float32], weights: tuple[float, float, float] = LAST, local: float = 0.0
) -> tuple[float, NDArray[np.float32]]:
    """Loss at the map ``Y`` (n, k) with these weights of the three kinds, and its gradient (n, k)."""
    points, G = _native.pair_loss(*pairs, Y, weights, local=local, n_threads=thread_limit.current())
    return float(points.sum()), G
