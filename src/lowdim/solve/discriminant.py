"""Directions of the largest ratio of two quadratic forms, ``wᵀ Bᵀ B w / wᵀ S w``, without ever inverting ``S``.

``S`` is scaled to a unit diagonal and whitened inside its range; the rest is a singular value problem of the few
rows of ``B`` (Golub and Van Loan, *Matrix Computations*, section 8.7).
"""

from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from lowdim.solve.leading_eigenpairs import eigh_top
from lowdim.work import thread_limit
from lowdim.work.progress import stage

Doubles = NDArray[np.float64]
_SMALL = 2000  # side up to which threads gain little, and lose much beside other processes
_REGULAR = 1e-9  # share of the largest above which a factor in float64 is safe


class Whitening(NamedTuple):
    """Matrix ``P`` (d, q) with ``P Pᵀ`` the pseudo-inverse of ``S``, how it was found, and the rank of ``S``.

    So its columns span the range of ``S``, and ``w = P z`` with ``z`` in the span of its rows has ``wᵀ S w = zᵀ z``.
    It may have more columns than the rank; directions ``z`` outside the span of its rows do not belong to ``S``.
    """

    P: Doubles
    how: str
    rank: int


def whiten(S: Doubles, tol: float, *, how: str = "auto", scaled: bool = True) -> Whitening:
    """Whitening of the positive semi-definite ``S``, which is overwritten.

    Features are scaled to unit diagonal first, so that their units do not matter, unless ``scaled`` is False.
    ``"cholesky"`` assumes that ``S`` is regular and raises LinAlgError otherwise; ``"range"`` leaves out directions
    whose eigenvalue is below ``tol`` times the largest; ``"auto"`` is Cholesky where its condition shows that nothing
    would be left out.

    >>> whiten(np.diag([4.0, 0.0]), 1e-8)
    Whitening(P=array([[0.5],
           [0. ]]), how='range', rank=1)
    """
    R, size, kept = _scaled(S, scaled)
    d = len(S)
    if how == "cholesky" or (how == "auto" and len(kept) == d):
        with stage("Cholesky factor", flops=0.5 * d**3):
            factor, failed = sl.lapack.dpotrf(R, lower=1, clean=1)
        norm = np.abs(R).sum(axis=0).max(initial=0.0)
        regular = len(kept) == d and not failed and sl.lapack.dpocon(factor, norm, uplo="L")[0] > tol
        if regular:
            inverse, _ = sl.lapack.dtrtri(factor, lower=1)
            return Whitening(inverse.T / size[:, None], "cholesky", d)
        if how == "cholesky":
            raise np.linalg.LinAlgError("the matrix is singular up to the tolerance")
    clear = _by_pivots(R, tol) if len(kept) else None
    if clear is not None:
        P = np.zeros((d, len(kept)))
        P[kept] = clear.P / size[:, None]
        return Whitening(P, "range", clear.rank)
    pairs = eigh_top(R, len(R))
    inside = pairs.values > tol * max(pairs.values[0], 0.0) if len(kept) else np.zeros(0, bool)
    P = np.zeros((d, int(inside.sum())))
    P[kept] = pairs.vectors[:, inside] / np.sqrt(pairs.values[inside]) / size[:, None]
    return Whitening(P, "range", P.shape[1])


def whiten_clear(S: Doubles, tol: float) -> tuple[Whitening, Doubles] | None:
    """Whitening of ``S``, and the directions (d, r) that it leaves out; None if an eigenvalue is near ``tol``.

    Directions are scaled so that their variance is relative to the largest eigenvalue of ``S`` with a unit diagonal.
    Features that do not vary at all are not among them.

    >>> whiten_clear(np.array([[1.0, 1.0], [1.0, 1.0]]), 1e-4)[1].round(3) + 0
    array([[-0.5],
           [ 0.5]])
    """
    R, size, kept = _scaled(S.copy(), True)
    clear = _by_pivots(R, tol) if len(kept) else None
    if clear is None:
        return None
    P, directions = np.zeros((len(S), len(kept))), np.zeros((len(S), clear.null.shape[1]))
    P[kept], directions[kept] = clear.P / size[:, None], clear.null / size[:, None]
    return Whitening(P, "range", clear.rank), directions


def _scaled(S: Doubles, scaled: bool) -> tuple[Doubles, Doubles, NDArray]:
    """``S`` of the features that vary, with a unit diagonal if ``scaled``; their deviations; which they are."""
    size = np.sqrt(np.maximum(np.diag(S), 0.0))
    kept = np.flatnonzero(size > 0)
    size = size[kept] if scaled else np.ones(len(kept))
    R = S[np.ix_(kept, kept)] if len(kept) < len(S) else S
    R /= size
    R /= size[:, None]
    return R, size, kept


class _Clear(NamedTuple):
    """Whitening (d, d), rank, and the null space (d, d − rank), of length 1 by the largest eigenvalue."""

    P: Doubles
    rank: int
    null: Doubles


def _by_pivots(R: Doubles, tol: float) -> _Clear | None:
    """Whitening of ``R`` and its rank where that is clear: no eigenvalue near ``tol`` times the largest.

    A Cholesky factor with pivots, ``R = L Lᵀ + E``, stops where ``E`` is negligible and gives an orthonormal basis
    ``N`` of the null space. Then ``R + λ N Nᵀ`` is regular with the eigenvalues of ``R`` except for those, its
    condition shows whether they are all above the tolerance, and ``P = (I − N Nᵀ) C⁻ᵀ`` with its factor ``C``. No
    eigenvectors are needed.
    """
    d = len(R)
    v = np.ones(d)
    with stage("Cholesky factor", flops=2.0 * d**3), thread_limit.alone():
        for _ in range(4):
            v = R @ (v / np.linalg.norm(v))
        most = float(v @ (R @ v) / (v @ v))  # at most the largest eigenvalue
        factor, order, rank, _ = sl.lapack.dpstrf(R, tol=1e-2 * tol * most, lower=1)
        first, rest = order[:rank] - 1, order[rank:] - 1
        below = np.asfortranarray(factor[rank:, :rank])
        if rank == 0 or (np.diag(R)[rest] - np.einsum("ij,ij->i", below, below)).sum() > 1e-1 * tol * most:
            return None
        N = np.zeros((d, d - rank))
        N[first] = -sl.solve_triangular(factor[:rank, :rank], below.T, lower=True, trans="T", check_finite=False)
        N[rest] = np.eye(d - rank)
        N = sl.qr(N, mode="economic", check_finite=False)[0]
        M = R + most * (N @ N.T)
        C, failed = sl.lapack.dpotrf(M, lower=1, clean=1)
        if failed or sl.lapack.dpocon(C, np.abs(M).sum(axis=0).max(), uplo="L")[0] <= tol:
            return None
        P = sl.lapack.dtrtri(C, lower=1)[0].T
        return _Clear(P - N @ (N.T @ P), int(rank), N / np.sqrt(most))


def discriminants(P: Doubles, B: Doubles, k: int) -> tuple[Doubles, Doubles]:
    """Largest ratios (k,) and directions (k, d), normalised by ``wᵀ S w = 1``, given a whitening ``P`` of ``S``."""
    with thread_limit.alone():
        U, s, _ = sl.svd((B @ P).T, full_matrices=False, check_finite=False)
        return np.square(s[:k]), (P @ U[:, :k]).T


class GramDiscriminants(NamedTuple):
    """Ratios (C − 1,), weights (n, C − 1) of the rows, and where the classes (C, C − 1) lie, up to positive factors."""

    values: Doubles
    weights: Doubles
    positions: Doubles


def gram_discriminants(
    K: Doubles, codes: NDArray[np.int32], counts: NDArray[np.int64], ridge: float
) -> GramDiscriminants | None:
    """All directions that separate classes, from the centred Gram matrix ``K`` (n, n) of the rows, overwritten.

    With an orthonormal basis ``Q`` of the centred indicators of classes, ``E = nκ Qᵀ (K + nκI)⁻¹ Q`` has the
    eigenvalues ``e = 1 / (1 + λ)``, so that one Cholesky factor replaces all eigenvectors of ``K``. The directions have
    ``wᵀ (S_w + κI) w = 1``. None where ``K + nκI`` is not clearly positive definite, or a ratio is 0.
    """
    n, total = len(K), ridge * len(K)
    share = np.sqrt(counts / n)[:, None]
    turn = sl.qr(share, check_finite=False)[0][:, 1:]  # orthogonal to the constant vector
    Q = np.asfortranarray((turn / np.sqrt(counts)[:, None])[codes])
    largest = float(np.trace(K))
    K[np.diag_indices(n)] += total
    with stage("Cholesky factor", flops=0.5 * n**3), thread_limit.alone() if n <= _SMALL else nullcontext():
        factor, failed = sl.lapack.dpotrf(K.T, lower=1, clean=0, overwrite_a=1)
        if failed or total <= _REGULAR * largest:
            return None
        Z = sl.lapack.dpotrs(factor, Q, lower=1)[0]
    with thread_limit.alone():
        left, V = sl.eigh(total * (Q.T @ Z), check_finite=False)  # smallest first: largest ratios
    if left[-1] > 1 - _REGULAR or left[0] <= 0:
        return None
    return GramDiscriminants((1 - left) / left, Z @ V * np.sqrt(n / ((1 - left) * left)), turn @ V)


def orthogonal_discriminants(P: Doubles, B: Doubles, k: int, metric: Doubles) -> tuple[Doubles, Doubles]:
    """Ratios (k,) and directions (k, d), each the best of those orthogonal to the ones before.

    Orthogonal under ``metric`` (d, d), ``wᵀ M w' = 0``, and of unit length by it (Foley and Sammon 1975; here by
    deflation in whitened coordinates, where ``w = P z`` and each direction found excludes one more ``z``).
    """
    C = (B @ P).T
    G = P.T @ (metric @ P)
    forbidden = np.zeros((P.shape[1], 0))
    ratios, directions = np.zeros(k), np.zeros((k, len(P)))
    for j in range(k):
        with thread_limit.alone():
            U = sl.svd(C - forbidden @ (forbidden.T @ C), full_matrices=False, check_finite=False)[0]
            z = U[:, 0] - forbidden @ (forbidden.T @ U[:, 0])
            z /= np.linalg.norm(z)
            ratios[j] = np.square(np.linalg.norm(C.T @ z))
            directions[j] = P @ z / np.sqrt(z @ G @ z)
            ban = G @ z
            for _ in range(2):  # once more for rounding
                ban -= forbidden @ (forbidden.T @ ban)
            forbidden = np.column_stack([forbidden, ban / np.linalg.norm(ban)])
    return ratios, directions
