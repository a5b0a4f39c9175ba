"""Low-rank factors of a positive semidefinite matrix from a few of its rows: ``K ≈ Fᵀ F``.

Randomly pivoted Cholesky picks rows with probability proportional to what is left of the diagonal (Chen, Epperly, Tropp
and Webber 2023), here in its accelerated form: a block of proposals at once, thinned by rejection so that those
accepted follow the same law (Epperly, Tropp and Webber 2024). Picking uniformly instead gives Nyström's method.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from lowdim.solve.eigen import eigh_top
from lowdim.work import jobs, memory
from lowdim.work.progress import note, stage
from lowdim.work.random import stream

_BLOCK = 128  # proposals at a time
_COLUMNS = 8192  # multiplied at a time
MOST = 5000  # rank at which a search by tolerance stops


class LowRank(NamedTuple):
    """Pivots (r,), the factor F (r, n), and the share of the trace of K that ``Fᵀ F`` lacks."""

    pivots: NDArray[np.int64]
    factor: NDArray
    error: float

    def eigenpairs(self, k: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Leading eigenpairs of the centred ``H Fᵀ F H``, by way of the r × r matrix ``F H Fᵀ`` with vectors V.

        Values (k,), V (r, k), the scores ``H Fᵀ V`` (n, k) and what centring took from them; zeros beyond rank r.
        """
        (r, n), F = self.factor.shape, self.factor
        mean = F.mean(axis=1, dtype=np.float64)
        S = -n * np.outer(mean, mean)
        for start in range(0, n, _COLUMNS):  # sums of float32 products over many columns are taken in float64
            S += F[:, start : start + _COLUMNS] @ F[:, start : start + _COLUMNS].T
        pairs = eigh_top(S, min(r, k))
        values, V = np.pad(pairs.values, (0, max(0, k - r))), np.pad(pairs.vectors, ((0, 0), (0, max(0, k - r))))
        offset = mean @ V
        return values, V, F.T @ V.astype(F.dtype) - offset, offset

    def dual(self, V: NDArray) -> NDArray:
        """Weights W (r, k) of a row's values at the pivots that give its scores: ``k(x, S) W = φ(x)ᵀ V``.

        ``F`` at the pivots is upper triangular, and ``k(x, S) = φ(x)ᵀ F_S``.
        """
        return np.asarray(sl.solve_triangular(self.factor[:, self.pivots].astype(np.float64), V, check_finite=False))


def pivoted_cholesky(
    rows: Callable[[NDArray[np.int64]], NDArray],
    diagonal: NDArray[np.float64],
    *,
    rank: int | None,
    tol: float,
    seed: int,
    least: int = 1,
    uniform: bool = False,
) -> LowRank:
    """Factor of rank at most ``rank``; with None, of the rank that leaves at most ``tol`` of the trace.

    That is at least ``least`` and at most ``MOST``.

    ``rows(S)`` gives the rows ``K[S]`` (b, n) as a new array, in the precision to work in. It ends early where nothing
    but rounding is left.

    >>> K = np.array([[4.0, 2.0], [2.0, 1.0]])
    >>> found = pivoted_cholesky(lambda S: K[S], np.diag(K), rank=2, tol=0.0, seed=0)
    >>> len(found.pivots), np.allclose(found.factor.T @ found.factor, K)
    (1, True)
    """
    n = len(diagonal)
    most = min(n, max(MOST, least) if rank is None else rank)
    left, trace = diagonal.copy(), float(diagonal.sum())
    target = trace * tol if rank is None else 0.0
    F = np.empty((0, 0))
    pivots: list[int] = []
    turn = 0
    with stage("pivots", total=most) as tick:
        while len(pivots) < most and left.any() and (left.sum() > target or len(pivots) < least):
            random = stream(seed, "pivots", turn)
            S = _proposals(left, min(_BLOCK, max(1, most // 4), most - len(pivots)), uniform, random)
            if not len(S):
                break
            if rank is None:
                memory.require(2 * F.itemsize * len(S) * n, f"A factor of rank {len(pivots) + len(S)}", "Pass rank=.")
            C = rows(S)
            if not turn:  # pages that are never written cost nothing, so room for the largest rank does not either
                F = np.empty((most, n), C.dtype)
                floor = 100 * float(np.finfo(C.dtype).eps) * float(diagonal.max())
            have = len(pivots)
            C -= F[:have, S].T @ F[:have]
            accepted, step = _accepted(C[:, S].astype(np.float64), floor, uniform, random)
            new = F[have : have + len(accepted)]
            np.matmul(step.astype(C.dtype), C[accepted], out=new)
            left -= np.einsum("ij,ij->j", new, new)
            pivots += S[accepted].tolist()
            left[S] = np.where(left[S] <= floor, 0.0, left[S])
            left[pivots] = 0.0
            np.maximum(left, 0.0, out=left)
            if float(left.max()) <= floor:
                left[:] = 0.0
            turn += 1
            tick(len(pivots))
            note(f"{100 * left.sum() / trace:.2g} % of the trace left")
    return LowRank(np.array(pivots, dtype=np.int64), F[: len(pivots)], float(left.sum()) / (trace or 1.0))


def _proposals(left: NDArray[np.float64], count: int, uniform: bool, random: np.random.Generator) -> NDArray[np.int64]:
    """At most ``count`` different rows, in the order drawn."""
    if uniform:
        open_ = np.flatnonzero(left > 0)
        return random.choice(open_, min(count, len(open_)), replace=False)
    drawn = np.searchsorted(np.cumsum(left), random.random(count) * left.sum(), side="right")
    return np.array(list(dict.fromkeys(np.minimum(drawn, len(left) - 1).tolist())), dtype=np.int64)


def _accepted(
    A: NDArray[np.float64], floor: float, uniform: bool, random: np.random.Generator
) -> tuple[list[int], NDArray[np.float64]]:
    """Which of the proposals with residual matrix ``A`` are taken, and the inverse of the Cholesky factor of those."""
    H = (A + A.T) / 2
    first, luck = np.diag(H).copy(), random.random(len(H))
    accepted = []
    for i in range(len(H)):
        if H[i, i] > floor and (uniform or luck[i] * first[i] < H[i, i]):
            accepted.append(i)
            column = H[:, i] / np.sqrt(H[i, i])
            H -= np.outer(column, column)
    with jobs.alone():
        L = np.linalg.cholesky((A + A.T)[np.ix_(accepted, accepted)] / 2)
        return accepted, np.linalg.inv(L)
