"""Anchors of a map: positions that points are drawn to, beside any loss.

Users give each point a share λ from 0 to 1. With the loss as a mean over its pairs, the descent lowers
``(1 − λ) loss + λ Σ_i ‖y_i − a_i‖² / Σ_i ‖a_i − ā‖²``, divided by ``1 − λ``; 1 pins a point. Anchors at the scale that
fits best cost ``min_α Σ_i ‖y_i − α a_i‖² / (Σ_i ‖y_i‖² + n)`` instead of the second sum.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Anchors(NamedTuple):
    """Positions (n, k) and weights w (n,) of the anchors of a map, 0 of free points and infinite of pinned ones.

    They cost ``Σ_i w_i ‖y_i − a_i‖²``, or if ``scaled`` ``W min_α Σ w ‖y − α a‖² / (Σ w ‖y‖² + W)`` with ``W = Σ w``.
    Then no point may be pinned.
    """

    places: NDArray[np.float32]
    weights: NDArray[np.float32]
    scaled: bool = False


def strengths(shares: NDArray, unit: float) -> NDArray[np.float32]:
    """Weights ``unit λ/(1 − λ)`` of anchors with these shares λ.

    >>> strengths(np.array([0.0, 0.5, 1.0]), 3.0)
    array([ 0.,  3., inf], dtype=float32)
    """
    shares = np.asarray(shares, np.float64)
    pinned = shares >= 1
    return np.where(pinned, np.inf, unit * shares / np.where(pinned, 1.0, 1.0 - shares)).astype(np.float32)


def native(anchors: Anchors | None, unit: float = 1.0) -> dict[str, Any]:
    """Arguments of the native descents, for a map in this unit of length."""
    if anchors is None:
        return {}
    if unit == 1:
        return {"anchors": anchors.places, "weights": anchors.weights, "scaled": anchors.scaled}
    places = anchors.places / np.float32(unit)
    weights = anchors.weights if anchors.scaled else anchors.weights * np.float32(unit**2)  # scaled ones have no unit
    return {"anchors": places, "weights": weights, "scaled": anchors.scaled}


def cost(anchors: Anchors, Y: NDArray) -> float:
    """Cost of the anchors of points that are not pinned, at the map ``Y`` (n, k).

    >>> A = np.array([[1.0, 0.0], [0.0, 2.0]], np.float32)
    >>> [round(cost(Anchors(A, np.ones(2, np.float32), scaled), 3 * A), 6) for scaled in (False, True)]
    [20.0, 0.0]
    """
    free = np.isfinite(anchors.weights)
    A, Y = anchors.places[free].astype(np.float64), Y[free].astype(np.float64)
    w = anchors.weights[free].astype(np.float64)[:, None]
    if not anchors.scaled:
        return float((w * np.square(Y - A)).sum())
    own, total = float((w * A * A).sum()), float(w.sum())
    if own == 0:
        return 0.0
    gaps = Y - float((w * A * Y).sum()) / own * A
    return total * float((w * gaps * gaps).sum()) / (float((w * Y * Y).sum()) + total)
