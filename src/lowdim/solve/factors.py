"""Factors by maximum likelihood, ``S ≈ LᵀL + Ψ`` with diagonal ``Ψ``, and rotations of their loadings ``L`` (k, d)."""

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.solve.leading_eigenpairs import eigh_top
from lowdim.work import thread_limit
from lowdim.work.products import multiply
from lowdim.work.progress import note, stage

Doubles = NDArray[np.float64]
_LEAST = 1e-12  # of a noise variance, in units of the largest variance
ROTATIONS = ("varimax", "quartimax", "promax")
_INDIFFERENT = 1e-12  # gain of a turn, relative to the loadings, below which all angles are alike
_ROTATION_STEPS, _ROTATION_TOL = 500, 1e-9  # rounds; radians
_PROMAX_POWER = 4


class Factors(NamedTuple):
    """Loadings (k, d), noise variances (d,), log-likelihood of all rows after each step, and whether it settled."""

    loadings: Doubles
    noise: Doubles
    loglike: list[float]
    settled: bool


class Rotated(NamedTuple):
    """Loadings (k, d), and the correlations of their factors (k, k)."""

    loadings: Doubles
    correlations: Doubles


def leading_of_covariance(S: Doubles, k: int) -> Callable[[Doubles], tuple[Doubles, Doubles]]:
    """Function of scales s: leading eigenvalues (k,), and directions (k, d), of ``S / (s sᵀ)``."""

    def leading(scale: Doubles) -> tuple[Doubles, Doubles]:
        pairs = eigh_top(S / scale / scale[:, None], k)
        return pairs.values, pairs.vectors.T

    return leading


def leading_of_rows(Z: Doubles, k: int) -> Callable[[Doubles], tuple[Doubles, Doubles]]:
    """The same of centred rows Z (n, d), fewer than columns: by their products."""

    def leading(scale: Doubles) -> tuple[Doubles, Doubles]:
        A = Z / scale
        pairs = eigh_top(multiply(A, A.T) / len(A), k)
        values = np.maximum(pairs.values, 0.0)
        return values, multiply(pairs.vectors.T, A) / np.sqrt(np.maximum(values, 1e-300) * len(A))[:, None]

    return leading


def maximum_likelihood(
    variance: Doubles, leading: Callable[[Doubles], tuple[Doubles, Doubles]], n: int, max_iter: int, tol: float
) -> Factors:
    """Loadings given the noise by an eigenproblem, and noise given the loadings, in turn (Barber 2012, 21.1).

    It ends when a step adds less than ``tol`` to the log-likelihood of all n rows.
    """
    noise, loglike, settled = np.ones_like(variance), [-np.inf], False
    least = _LEAST * float(variance.max())
    constant = len(variance) * np.log(2 * np.pi)
    with stage("factors", total=max_iter) as tick:
        for done in range(max_iter):
            scale = np.sqrt(noise) + least
            values, vectors = leading(scale)
            loadings = np.sqrt(np.maximum(values - 1, 0.0))[:, None] * vectors * scale
            rest = float((variance / scale**2).sum() - values.sum())
            above = np.maximum(values, 1e-300)
            loglike.append(-n / 2 * (constant + np.log(above).sum() + len(values) + rest + np.log(noise).sum()))
            tick(done + 1)
            note(f"log-likelihood {loglike[-1] / n:.6g} a row")
            if loglike[-1] - loglike[-2] < tol:
                settled = True
                break
            noise = np.maximum(variance - np.square(loadings).sum(axis=0), least)
    return Factors(loadings, noise, loglike[1:], settled)


def rotated(L: Doubles, rotation: str | None) -> Rotated:
    """Loadings that are simpler to read: each factor with few large ones; "promax" lets factors correlate.

    >>> L = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, -1.0, -1.0]])
    >>> np.abs(rotated(L, "varimax").loadings).round(3).tolist()
    [[1.414, 1.414, 0.0, 0.0], [0.0, 0.0, 1.414, 1.414]]
    """
    k = len(L)
    if rotation is None or k == 1:
        return Rotated(L, np.eye(k))
    R = orthogonal(L, 0.0 if rotation == "quartimax" else 1.0)
    if rotation != "promax":
        return Rotated(R, np.eye(k))
    target = R * np.abs(R) ** (_PROMAX_POWER - 1)
    with thread_limit.alone():
        Q = np.linalg.lstsq(R.T, target.T, rcond=None)[0]  # target ≈ Rᵀ Q
        inverse = np.linalg.pinv(Q.T @ Q)
        size = np.sqrt(np.diag(inverse))
        if not (size > 0).all():  # fewer factors than asked for load on anything
            return Rotated(R, np.eye(k))
        Q = Q * size  # so that factors have variance 1
        return Rotated((R.T @ Q).T, inverse / size / size[:, None])


def orthogonal(L: Doubles, gamma: float) -> Doubles:
    """Loadings rotated so that ``Σ L⁴ − γ/d Σ_j (Σ L²)²`` is largest: 1 is varimax (Kaiser 1958), 0 quartimax.

    Two factors at a time, by the best angle, until none turns any more.
    """
    R, d = L.copy(), L.shape[1]
    for _ in range(_ROTATION_STEPS):
        widest = 0.0
        for p, q in combinations(range(len(R)), 2):
            x, y = R[p], R[q]
            u, v = x * x - y * y, 2 * x * y
            across = 2 * float(u @ v) - 2 * gamma / d * float(u.sum() * v.sum())
            along = float(u @ u - v @ v) - gamma / d * float(u.sum() ** 2 - v.sum() ** 2)
            if np.hypot(across, along) <= _INDIFFERENT * float(u @ u + v @ v):
                continue
            angle = float(np.arctan2(across, along)) / 4
            R[p], R[q] = np.cos(angle) * x + np.sin(angle) * y, np.cos(angle) * y - np.sin(angle) * x
            widest = max(widest, abs(angle))
        if widest <= _ROTATION_TOL:
            break
    return R


def score_weights(L: Doubles, noise: Doubles, correlations: Doubles) -> Doubles:
    """``(Φ⁻¹ + L Ψ⁻¹ Lᵀ)⁻¹ L Ψ⁻¹`` (k, d): what centred rows are multiplied with for the factors' expectations."""
    with thread_limit.alone():
        inverse = np.linalg.pinv(correlations, hermitian=True)
        return np.asarray(np.linalg.solve(inverse + (L / noise) @ L.T, L / noise))
