"""Sparse components of a covariance: regressions of principal components on the columns, with an elastic net.

With orthonormal ``A`` (d, k) and ``Q = S + λ₂ I``, ``Σ_j b_jᵀ Q b_j − 2 a_jᵀ S b_j + λ_j ‖b_j‖_1`` is lowered in B by
coordinate descent and in ``A`` by a singular value decomposition, in turn (Zou, Hastie and Tibshirani 2006).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.solve.low_rank import shrunk
from lowdim.work import thread_limit
from lowdim.work.products import multiply
from lowdim.work.progress import note, stage

Doubles = NDArray[np.float64]
_SWEEPS, _FEW, _SWEEP_TOL = (
    100,
    4,
    1e-7,
)  # most, and those before A is renewed, over the coordinates, until none moves by more than this share of the largest


class Sparse(NamedTuple):
    """Components B (k, d), not normalised, the orthonormal A (d, k), steps, and the change of the last one."""

    components: Doubles
    basis: Doubles
    steps: int
    change: float


def regressions(S: Doubles, Q: Doubles, A: Doubles, B: Doubles, penalty: Doubles, sweeps: int = _SWEEPS) -> Doubles:
    """The B (d, k) that is best for ``A`` (d, k), by coordinate descent for all components at once."""
    target, B, diagonal = multiply(S, A), B.copy(), np.diag(Q)
    with thread_limit.alone():
        for _ in range(sweeps):
            moved = 0.0
            for i in range(len(Q)):
                if diagonal[i] <= 0:
                    continue
                free = target[i] - Q[i] @ B + diagonal[i] * B[i]
                new = shrunk(free, penalty / 2) / diagonal[i]
                moved = max(moved, float(np.abs(new - B[i]).max()))
                B[i] = new
            if moved <= _SWEEP_TOL * float(np.abs(B).max(initial=1e-300)):
                break
    return B


def find(
    S: Doubles, V: Doubles, alpha: float, ridge: float, max_iter: int, tol: float, start: Sparse | None = None
) -> Sparse:
    """Sparse components of the covariance ``S`` (d, d), beginning at principal directions V (k, d).

    ``alpha`` is the penalty as a share of ``2 max |S a_j|``, from which on a component is 0.
    """
    A, B = (V.T, V.T * 1.0) if start is None else (start.basis, start.components.T)
    Q = S + ridge * np.eye(len(S))
    steps, change = 0, np.inf
    with stage("sparse components", total=max_iter) as tick:
        while steps < max_iter and change > tol:
            new = regressions(S, Q, A, B, alpha * 2 * np.abs(multiply(S, A)).max(axis=0), _FEW)
            change = float(np.linalg.norm(new - B) / max(float(np.linalg.norm(new)), 1e-300)) if new.any() else 0.0
            B, steps = new, steps + 1
            with thread_limit.alone():
                U, _, W = np.linalg.svd(multiply(S, B), full_matrices=False)
            A = U @ W if B.any() else A
            tick(steps)
            note(f"change {change:.1e}")
    return Sparse(B.T, A, steps, change)


def unit(B: Doubles) -> Doubles:
    """Rows of length 1; rows of zeros stay."""
    lengths = np.linalg.norm(B, axis=1)
    return np.asarray(B / np.where(lengths > 0, lengths, 1.0)[:, None])


def adjusted_variances(S: Doubles, U: Doubles) -> Doubles:
    """Variance (k,) that each score adds to those before it: of correlated scores, no part counts twice."""
    C = multiply(multiply(U, S), U.T)
    found = np.zeros(len(C))
    left = C.copy()
    for j in range(len(C)):
        found[j] = max(0.0, float(left[j, j]))
        if found[j] > 1e-12 * max(float(C[j, j]), 1e-300):
            left = left - np.outer(left[:, j], left[j]) / left[j, j]
    return found
