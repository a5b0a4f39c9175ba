"""Leading eigenpairs of a symmetric matrix, given as an array or as a product with blocks of vectors.

One rule: an array goes to LAPACK; an operator to a block Krylov method with thick restarts (Wu and Simon 2000;
Musco and Musco 2015), which needs few passes over whatever stands behind the operator and says what residual it
reached.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from lowdim.work.progress import note, stage
from lowdim.work.random import stream

Doubles = NDArray[np.float64]
Operator = Callable[[NDArray], NDArray]


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
    with stage("eigenvectors"):
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
    width = min(n, max(8, k // 2 + 4))
    room = min(n, max(3 * k, k + 6 * width) + width)
    Q = np.empty((n, room), order="F")
    T = np.zeros((room, room))
    fresh = random.standard_normal((n, width))
    if start is not None:
        fresh = np.hstack([start, fresh])[:, : max(width, min(start.shape[1], room // 2))]
    fresh, _ = _orthonormal(fresh, Q[:, :0], random)
    size, scale, passes, residual = 0, 0.0, 0, np.inf
    with stage("eigenvectors"):
        while True:
            new = fresh.shape[1]
            Q[:, size : size + new] = fresh
            W = apply(fresh)
            passes += 1
            basis = Q[:, : size + new]
            H = basis.T @ W
            T[: size + new, size : size + new] = H
            T[size : size + new, : size + new] = H.T
            size += new
            theta, S = sl.eigh(T[:size, :size])
            scale = max(scale, abs(theta[-1]), abs(theta[0]))
            theta, S = theta[::-1], S[:, ::-1]
            if size == n:
                residual = 0.0
                break
            fresh, R = _orthonormal(W - basis @ H, basis, random, scale, min(width, n - size))
            if size >= k:
                residual = float(np.linalg.norm(R @ S[size - new : size, :k], axis=0).max()) / (scale or 1.0)
                note(f"residual {residual:.1e}")
                if residual <= tol or passes >= max_passes:
                    break
            if size + fresh.shape[1] > room:
                keep = min(size, max(k + width, (room - width) // 2))
                Q[:, :keep] = basis @ S[:, :keep]
                T[:] = 0.0
                T[range(keep), range(keep)] = theta[:keep]
                size = keep
    return Eigenpairs(theta[:k], Q[:, :size] @ S[:size, :k], residual, passes)


def _orthonormal(
    W: Doubles, basis: Doubles, random: np.random.Generator, scale: float = 0.0, width: int | None = None
) -> tuple[Doubles, Doubles]:
    """Orthonormal block Q orthogonal to ``basis`` with ``W ≈ Q R``; directions that vanished are drawn anew."""
    W = W - basis @ (basis.T @ W)
    Q, R, order = sl.qr(W, mode="economic", pivoting=True, check_finite=False)
    R = R[:, np.argsort(order)]
    size = np.abs(R).max(axis=1)
    lost = size <= np.finfo(float).eps * 10 * max(scale, float(size.max(initial=0.0)))
    if lost.any():
        R[lost] = 0.0
        Q[:, lost] = random.standard_normal((len(Q), int(lost.sum())))
    if width is not None and width < Q.shape[1]:
        Q, R = Q[:, :width], R[:width]
    # The residual of nearly dependent columns is mostly rounding: one more pass makes Q orthogonal to the basis.
    Q -= basis @ (basis.T @ Q)
    Q, again = np.linalg.qr(Q)
    return Q, again @ R
