"""Leading eigenpairs of a symmetric matrix, given as an array or as a product with blocks of vectors.

One rule: an array goes to LAPACK; an operator to a block Krylov method with thick restarts (Wu and Simon 2000;
Musco and Musco 2015), which needs few passes over whatever stands behind the operator and says what residual it
reached.
"""

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from lowdim.work import jobs
from lowdim.work.progress import note, stage
from lowdim.work.random import stream

Doubles = NDArray[np.float64]
Operator = Callable[[NDArray], NDArray]
_SMALL = 1500  # side up to which LAPACK gains nothing from threads


class Eigenpairs(NamedTuple):
    """Values (k,) in falling order, vectors (n, k), the largest residual relative to the first value, passes made."""

    values: Doubles
    vectors: Doubles
    residual: float
    passes: int


def eigh_top(A: NDArray, k: int) -> Eigenpairs:
    """Top ``k`` eigenpairs of the symmetric array ``A``, which is overwritten.

    >>> eigh_top(np.diag([1.0, 3.0, 2.0]), 2).values
    array([3., 2.])
    """
    n = len(A)
    with stage("eigenvectors"), jobs.alone() if n <= _SMALL else nullcontext():
        if k > n // 3:
            values, vectors = sl.eigh(A, driver="evd", overwrite_a=True, check_finite=False)
        else:
            top = [n - k, n - 1]
            values, vectors = sl.eigh(A, subset_by_index=top, driver="evr", overwrite_a=True, check_finite=False)
    return Eigenpairs(values[::-1][:k], vectors[:, ::-1][:, :k], 0.0, 1)


def eigh_top_operator(
    apply: Operator,
    n: int,
    k: int,
    *,
    seed: int,
    tol: float,
    start: Doubles | None = None,
    max_passes: int = 300,
) -> Eigenpairs:
    """Top ``k`` eigenpairs of the symmetric (n, n) matrix behind ``apply(V) = A V``.

    ``tol`` bounds each residual ``‖A v − λ v‖`` relative to the largest eigenvalue; a value's own error is of the
    order of its square. ``start`` (n, any) gives vectors near the wanted ones.
    """
    random = stream(seed, "eigen")
    width = min(n, max(8, k // 3))
    room = min(n, max(4 * k, k + 12 * width) + width)
    Q = np.empty((n, room), order="F")
    T = np.zeros((room, room))
    fresh = random.standard_normal((n, width))
    if start is not None:
        fresh = np.hstack([start, fresh])[:, : max(width, min(start.shape[1], room // 2))]
    fresh, _ = _orthonormal(fresh, Q[:, :0], random)
    size, reach, passes, looked, scale, residual = 0, 0, 0, 0, 0.0, np.inf
    with stage("eigenvectors"):
        while True:
            new = fresh.shape[1]
            Q[:, size : size + new] = fresh
            W = apply(fresh)
            passes += 1
            # A times a block reaches back no further than the block before (or, after a restart, all Ritz vectors);
            # what rounding adds beyond is taken out with the second orthogonalisation.
            near = Q[:, reach : size + new]
            H = near.T @ W
            T[reach : size + new, size : size + new] = H
            T[size : size + new, reach : size + new] = H.T
            reach, size = size, size + new
            basis = Q[:, :size]
            scale = max(scale, float(np.abs(H).max()))
            left = min(width, n - size)
            fresh, R = _orthonormal(W - near @ H, basis, random, scale, left)
            full = size + left > room or left == 0
            # Solving the small problem costs size³, so it waits until the basis has grown by a quarter.
            if full or passes >= max_passes or (size >= 2 * k and size >= 1.25 * looked):
                looked = size
                with jobs.alone():
                    theta, S = sl.eigh(T[:size, :size], check_finite=False)
                theta, S = theta[::-1], S[:, ::-1]
                largest = max(abs(theta[0]), abs(theta[-1])) or 1.0
                residual = float(np.linalg.norm(R @ S[size - new :, :k], axis=0).max(initial=0.0)) / largest
                note(f"residual {residual:.1e}")
                if residual <= tol or left == 0 or passes >= max_passes:
                    if residual > tol and left:
                        warnings.warn(
                            f"Eigenvectors: residual {residual:.1e} after {passes} passes, above {tol:.0e}: the "
                            "spectrum is nearly flat here. Ask for fewer components, or use an exact solver.",
                            ConvergenceWarning,
                            stacklevel=2,
                        )
                    return Eigenpairs(theta[:k], basis @ S[:, :k], residual, passes)
            if full:  # thick restart: the best Ritz vectors carry over
                size = looked = min(size, max(k + width, (room - width) // 2))
                reach = 0
                Q[:, :size] = basis @ S[:, :size]
                T[:] = 0.0
                T[range(size), range(size)] = theta[:size]


def _orthonormal(
    W: Doubles, basis: Doubles, random: np.random.Generator, scale: float = 0.0, width: int | None = None
) -> tuple[Doubles, Doubles]:
    """Orthonormal block Q, orthogonal to ``basis``, of at most ``width`` columns, with ``W ≈ Q R``.

    Built from the small Gram matrix (two rounds make up for its squared condition), since products run at full speed
    and Householder steps on tall blocks do not. Directions that vanished are drawn anew.
    """
    Q = W - basis @ (basis.T @ W)
    R = np.eye(W.shape[1])
    for round_ in range(3):
        with jobs.alone():
            values, vectors = sl.eigh(Q.T @ Q, check_finite=False)
        values, vectors = values[::-1], vectors[:, ::-1]
        lost = values <= (max(1e-15 * values[0], (1e-14 * scale) ** 2, 1e-290) if round_ == 0 else 1e-8)
        size = np.sqrt(np.where(lost, 1.0, values))
        Q = Q @ (vectors / size)
        R = np.where(lost, 0.0, size)[:, None] * vectors.T @ R
        if round_ == 0 and width is not None:
            Q, R, lost = Q[:, :width], R[:width], lost[:width]
        if lost.any():
            Q[:, lost] = random.standard_normal((len(Q), int(lost.sum()))) / np.sqrt(len(Q))
        elif round_ > 0:
            break
        if lost.any() or values[-1] <= 1e-8 * values[0]:  # scaling up what was small scaled up its rounding
            Q = Q - basis @ (basis.T @ Q)
    return Q, R
