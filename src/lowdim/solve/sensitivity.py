"""Where the loss of one row is smallest with all others fixed, and how that position moves with the row's weights.

At a minimum ``∇L(y, w) = 0``, so that ``dy = −H⁻¹ (∂∇L/∂w) dw`` with the Hessian ``H`` of ``L`` in ``y``.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.solve.cross_entropy import CrossEntropy
from lowdim.solve.descent import sample_of
from lowdim.solve.divergence import Divergence

Floats = NDArray[np.float64]
_TURNS, _HALVINGS = 100, 40
_STILL = 1e-12  # squared length of a step, relative to the spread of the neighbours


class Placed(NamedTuple):
    """Position (k,), its slopes (k, d) with the values of the row, and whether it is a minimum."""

    position: Floats
    slopes: Floats
    resolved: bool


class _Local(NamedTuple):
    """Loss at a position, gradient (k,), Hessian (k, k), and the gradient's slopes (near, k) with the weights."""

    value: float
    gradient: Floats
    hessian: Floats
    by_weight: Floats


def implicit(
    loss: Any, own: int | None, near: NDArray, weights: Floats, rises: Floats, Y: NDArray, start: NDArray
) -> Placed:
    """Minimum near ``start`` (k,) of the loss of a row with these neighbours ``near`` in the map ``Y`` (n, k).

    ``rises`` (near, d) are the slopes of the ``weights`` (near,). ``own`` is the row's number in the map, which does
    not repel itself; None for a new row.
    """
    unit = float(getattr(loss, "unit", 1.0))
    Y = np.asarray(Y, np.float64) / unit
    others, crowd = Y[near], _crowd(loss, Y, own)
    local = _local_entropy if isinstance(loss, CrossEntropy) else _local_divergence
    found = _minimum(lambda y: local(loss, others, weights, crowd, y), rises, others, np.asarray(start) / unit)
    return Placed(found.position * unit, found.slopes * unit, found.resolved)


def of_least_stress(lengths: Floats, rises: Floats, others: Floats, start: Floats) -> Placed:
    """Minimum near ``start`` (k,) of the stress ``Σ (δ_j − ‖y − y_j‖)²`` to the ``others`` (n, k).

    ``rises`` (n, d) are the slopes of the distances ``lengths`` (n,).
    """

    def local(y: Floats) -> _Local:
        gaps = y - others
        d = np.maximum(np.sqrt((gaps**2).sum(axis=1)), 1e-300)
        ratio, units = lengths / d, gaps / d[:, None]
        hessian = 2 * float((1 - ratio).sum()) * np.eye(len(y)) + 2 * (units * ratio[:, None]).T @ units
        return _Local(float(((lengths - d) ** 2).sum()), 2 * (1 - ratio) @ gaps, hessian, -2 * units)

    return _minimum(local, rises, others, start)


def _minimum(local: Callable[[Floats], _Local], rises: Floats, others: Floats, start: NDArray) -> Placed:
    """Minimum of a row's loss by Newton's method, and the slopes (k, d) that ``rises`` of the weights give it."""
    y = np.asarray(start, np.float64)
    size = float(((others - others.mean(axis=0)) ** 2).sum(axis=1).mean()) or 1.0
    here = local(y)
    still = False
    for _ in range(_TURNS):
        values, vectors = np.linalg.eigh(here.hessian)
        curved = np.maximum(np.abs(values), 1e-9 * max(np.abs(values).max(), 1e-300))
        step = -vectors @ ((vectors.T @ here.gradient) / curved)
        still = bool(step @ step <= _STILL * size)
        there = here
        for _ in range(_HALVINGS):
            there = local(y + step)
            if there.value <= here.value or still:
                break
            step = step / 2
        else:
            break
        y, here = y + step, there
        if still:
            break
    least = float(np.linalg.eigvalsh(here.hessian)[0])
    resolved = still and least > 0
    slopes = np.full((len(y), rises.shape[1]), np.nan)
    if resolved:
        slopes = -np.linalg.solve(here.hessian, here.by_weight.T @ rises)
    return Placed(y, slopes, resolved)


def _crowd(loss: Any, Y: Floats, own: int | None) -> Floats:
    """Points of the map that repel a row: all, or the sample that repels new rows."""
    some = sample_of(len(Y)) if isinstance(loss, CrossEntropy) else np.arange(len(Y))
    return Y[some if own is None else some[some != own]]


def _local_divergence(loss: Divergence, others: Floats, weights: Floats, crowd: Floats, y: Floats) -> _Local:
    """``λ Σ w c(s) + log Σ f(s)``, ``c = −log f``: ``c″`` and ``f″ = (c′² − c″) f`` give the Hessian."""
    cost, first, second = _falloff(loss, ((y - others) ** 2).sum(axis=1))
    w = loss.late * weights
    gaps, away = y - others, y - crowd
    crowd_cost, crowd_first, crowd_second = _falloff(loss, (away**2).sum(axis=1))
    low = float(crowd_cost.min())
    q = np.exp(low - crowd_cost)
    phi = float(q.sum())
    q = q / phi
    push = -2 * (q * crowd_first) @ away
    identity = np.eye(len(y))
    curve = -2 * float(q @ crowd_first) * identity
    curve += 4 * (away * (q * (crowd_first**2 - crowd_second))[:, None]).T @ away - np.outer(push, push)
    pull = 2 * (w * first) @ gaps
    stiff = 2 * float(w @ first) * identity + 4 * (gaps * (w * second)[:, None]).T @ gaps
    by_weight = 2 * loss.late * first[:, None] * gaps
    return _Local(float(w @ cost) + np.log(phi) - low, pull + push, stiff + curve, by_weight)


def _falloff(loss: Divergence, s: Floats) -> tuple[Floats, Floats, Floats]:
    """``−log f`` of squared distances, and its first two derivatives."""
    if loss.falloff.name == "gauss":
        return s, np.ones_like(s), np.zeros_like(s)
    dof = loss.falloff.dof
    power = (dof + 1) / 2
    return power * np.log1p(s / dof), power / (dof + s), -power / (dof + s) ** 2


def _local_entropy(loss: CrossEntropy, others: Floats, weights: Floats, crowd: Floats, y: Floats) -> _Local:
    """``Σ v log(1 + u) + (c Σ v/m) Σ log(1 + 1/u)``, ``u = a (s + ε)^b``."""
    gaps, away = y - others, y - crowd
    cost, first, second = _curve(loss, (gaps**2).sum(axis=1), far=False)
    crowd_cost, crowd_first, crowd_second = _curve(loss, (away**2).sum(axis=1), far=True)
    each = loss.negatives / len(crowd)
    identity = np.eye(len(y))
    push = 2 * each * crowd_first @ away
    curve = 2 * each * float(crowd_first.sum()) * identity + 4 * each * (away * crowd_second[:, None]).T @ away
    degree = float(weights.sum())
    pull = 2 * (weights * first) @ gaps
    stiff = 2 * float(weights @ first) * identity + 4 * (gaps * (weights * second)[:, None]).T @ gaps
    return _Local(
        float(weights @ cost) + degree * each * float(crowd_cost.sum()),
        pull + degree * push,
        stiff + degree * curve,
        2 * first[:, None] * gaps + push,
    )


def _curve(loss: CrossEntropy, s: Floats, *, far: bool) -> tuple[Floats, Floats, Floats]:
    """``log(1 + u)``, or ``log(1 + 1/u)`` of what repels, of squared distances, and its first two derivatives."""
    t = s + (_native.EPOCH_CROWD_SOFT if far else _native.EPOCH_SOFT)
    u = loss.a * t**loss.b
    share = u / (1 + u)
    slope = loss.b * share * (1 - share) / t  # of the share
    if not far:
        return np.log1p(u), loss.b * share / t, loss.b * (slope / t - share / t**2)
    return np.log1p(1 / u), -loss.b * (1 - share) / t, loss.b * (slope / t + (1 - share) / t**2)
