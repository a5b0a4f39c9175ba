"""Directions of whitened rows whose scores are least Gaussian: FastICA (Hyvärinen 1999), ended by quasi-Newton steps.

For white rows ``z`` and a direction ``w`` of length 1 a fixed-point step is ``E[z g(w·z)] − E[g'(w·z)] w``. Then the
directions are made orthonormal: all at once, ``(W Wᵀ)^−½ W``, or one after the other.

Fixed-point steps are Newton's for sources that are independent. Those of real data are not, and steps become many. The
last ones are therefore L-BFGS on the orthogonal matrices, with the Hessian of independent sources as what it begins
with (Picard-O: Ablin, Cardoso and Gramfort 2018).
"""

from collections import deque
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.work import thread_limit
from lowdim.work.dispatch import operation
from lowdim.work.progress import note, stage
from lowdim.work.random import stream

Doubles = NDArray[np.float64]
CONTRASTS = ("logcosh", "exp", "cube")
_SAMPLE = 8192  # rows, and rows per direction squared, from which the first steps are computed
_FIRST = 15  # such steps; the last ones need all rows
_FIXED = 6  # fixed-point steps over all rows before those of L-BFGS
_PAIRS = 10  # last steps that L-BFGS knows
_LEAST_CURVATURE = 0.02  # from which L-BFGS begins: of sources that are nearly Gaussian it is mostly noise
_OVERSHOOT = 0.9  # of the first slope, with the other sign, at the end of a step that is taken
_TRIALS, _LONGEST = 6, 1.0  # of the length of a step, and the largest turn of a direction in one


class Directions(NamedTuple):
    """Orthonormal directions W (p, k), the steps over all rows, and the change of the last one."""

    W: Doubles
    steps: int
    change: float


@operation
def contrast_sums(Z: Any, W: Doubles, contrast: str, alpha: float) -> tuple[Doubles, Doubles]:
    """``Σ g(W z) zᵀ`` (p, k) and ``Σ g'(W z)`` (p,) over white rows Z (n, k), for directions W (p, k).

    ``contrast`` names g: "logcosh" is tanh(alpha s), "exp" s exp(−s²/2) and "cube" s³.

    >>> contrast_sums(np.array([[2.0], [-1.0]]), np.array([[1.0]]), "cube", 1.0)
    (array([[17.]]), array([15.]))
    """
    W = np.ascontiguousarray(W, Z.dtype)
    n_threads = thread_limit.current()
    return _native.contrast_sums(Z, W, CONTRASTS.index(contrast), alpha, n_threads=n_threads)


def orthonormal(W: Doubles) -> Doubles:
    """``(W Wᵀ)^−½ W``: the orthonormal rows nearest to those of ``W``.

    >>> orthonormal(np.array([[2.0, 0.0], [0.0, -3.0]]))
    array([[ 1.,  0.],
           [ 0., -1.]])
    """
    with thread_limit.alone():
        U, _, V = np.linalg.svd(W, full_matrices=False)
        return np.asarray(U @ V) + 0.0


def find(
    Z: Any, count: int, contrast: str, alpha: float, *, together: bool, max_iter: int, tol: float, seed: int
) -> Directions:
    """Directions (count, k) of white rows Z (n, k), until none turns by more than ``1 − |cos| = tol`` in a step."""
    start = stream(seed, "directions").standard_normal((count, Z.shape[1]))
    with stage("directions"):
        if not together:
            return _one_by_one(Z, start, contrast, alpha, max_iter, tol)
        W, every = orthonormal(start), Z.shape[0] // max(_SAMPLE, 8 * count * Z.shape[1])
        if every > 1:  # the first steps, which are long, from evenly spaced rows
            W = _fixed_point(Z[::every] + 0.0, W, contrast, alpha, _FIRST, tol).W
        found = _fixed_point(Z, W, contrast, alpha, min(max_iter, _FIXED + (0 if every > 1 else _FIRST)), tol)
        if found.change <= tol or found.steps == max_iter:
            return found
        return _quasi_newton(Z, found, contrast, alpha, max_iter, tol)


def _step(Z: Any, W: Doubles, contrast: str, alpha: float) -> Doubles:
    products, slopes = contrast_sums(Z, W, contrast, alpha)
    return (products - slopes[:, None] * W) / Z.shape[0]


def _fixed_point(Z: Any, W: Doubles, contrast: str, alpha: float, max_iter: int, tol: float) -> Directions:
    """All directions at once, symmetrically made orthonormal."""
    change, done = np.inf, 0
    while change > tol and done < max_iter:
        new = orthonormal(_step(Z, W, contrast, alpha))
        change, done = float(np.abs(np.abs(np.einsum("ij,ij->i", new, W)) - 1).max()), done + 1
        W = new
        note(f"change {change:.1e}")
    return Directions(W, done, change)


class _Turn(NamedTuple):
    """Directions W, and how ``Σ ± E[G(w·z)]`` changes when they turn by a skew-symmetric matrix: W becomes e^T W.

    The sign is + for directions whose scores have heavier tails than Gaussian ones (of ``logcosh``, the opposite).
    """

    W: Doubles
    slope: Doubles  # skew-symmetric (k, k)
    curvature: Doubles  # of independent sources: entries of the Hessian, which is diagonal (k, k)
    signs: NDArray[np.bool_]

    @property
    def change(self) -> float:
        """``1 − |cos|`` of the direction that the fixed-point step would turn most, to first order."""
        return float(np.square(self.slope / np.maximum(self.curvature, 1e-12)).sum(axis=1).max() / 2)


def _turn(Z: Any, W: Doubles, contrast: str, alpha: float) -> _Turn:
    """In coordinates of the sources: ``E[g(s) sᵀ]`` and its diagonal less ``E[g'(s)]``."""
    products, slopes = contrast_sums(Z, W, contrast, alpha)
    E = products @ W.T / Z.shape[0]
    excess = np.diag(E) - slopes / Z.shape[0]
    signs = excess < 0
    E = np.where(signs, -1.0, 1.0)[:, None] * E
    size = np.abs(excess)
    return _Turn(W, (E - E.T) / 2, (size[:, None] + size) / 2, signs)


def _quasi_newton(Z: Any, start: Directions, contrast: str, alpha: float, max_iter: int, tol: float) -> Directions:
    """L-BFGS over the turns of all directions; each trial of a step is one over all rows."""
    pairs: deque[tuple[Doubles, Doubles, float]] = deque(maxlen=_PAIRS)
    with thread_limit.alone():
        here, done = _turn(Z, start.W, contrast, alpha), start.steps + 1
        while here.change > tol and done < max_iter:
            T = _direction(here, pairs)
            slope = float(np.sum(T * here.slope))
            length = min(1.0, _LONGEST / float(np.sqrt(np.square(T).sum(axis=1).max())))
            for _ in range(min(_TRIALS, max_iter - done)):
                there, done = _turn(Z, _turned(here.W, length * T), contrast, alpha), done + 1
                end, same = float(np.sum(T * there.slope)), np.array_equal(here.signs, there.signs)
                if end >= -_OVERSHOOT * slope or not same:
                    break
                length *= max(0.1, slope / (slope - end))
            step, bend = length * T, here.slope - there.slope
            product = float(np.sum(step * bend))
            if not same:
                pairs.clear()
            elif product > 1e-10 * float(np.linalg.norm(step) * np.linalg.norm(bend)):
                pairs.append((step, bend, product))
            here = there
            note(f"change {here.change:.1e}")
        return Directions(orthonormal(here.W), done, here.change)


def _direction(here: _Turn, pairs: deque[tuple[Doubles, Doubles, float]]) -> Doubles:
    """Where L-BFGS goes: the slope times the inverse Hessian that the last steps tell of."""
    T, parts = here.slope.copy(), []
    for step, bend, product in reversed(pairs):
        parts.append(float(np.sum(step * T)) / product)
        T -= parts[-1] * bend
    T /= np.maximum(here.curvature, _LEAST_CURVATURE)
    for (step, bend, product), part in zip(pairs, reversed(parts), strict=True):
        T += (part - float(np.sum(bend * T)) / product) * step
    return T


def _turned(W: Doubles, T: Doubles) -> Doubles:
    """``(I − T/2)⁻¹ (I + T/2) W``: orthonormal, and ``e^T W`` to second order (Cayley)."""
    half, one = T / 2, np.eye(len(T))
    return np.asarray(np.linalg.solve(one - half, W + half @ W))


def _one_by_one(Z: Any, start: Doubles, contrast: str, alpha: float, max_iter: int, tol: float) -> Directions:
    """One direction after the other, each orthogonal to those before."""
    W, most, largest = np.empty((0, start.shape[1])), 0, 0.0
    for w in start:
        w, change, done = _apart(w, W), np.inf, 0
        while change > tol and done < max_iter:
            new = _apart(_step(Z, w[None], contrast, alpha)[0], W)
            change, w, done = abs(abs(float(new @ w)) - 1), new, done + 1
        W, most, largest = np.vstack([W, w]), max(most, done), max(largest, change)
    return Directions(W, most, largest)


def _apart(w: Doubles, W: Doubles) -> Doubles:
    """``w`` orthogonal to the rows of ``W``, of length 1."""
    for _ in range(2):  # the second removes what rounding left
        w = w - (w @ W.T) @ W
    return np.asarray(w / np.linalg.norm(w))
