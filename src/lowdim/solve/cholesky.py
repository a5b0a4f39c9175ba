"""Low-rank factors of a positive semidefinite matrix from a few of its rows: ``K ≈ Fᵀ F``.

Randomly pivoted Cholesky picks rows with probability proportional to the residual diagonal (Chen, Epperly, Tropp
and Webber 2023), here in its accelerated form: a block of proposals at once, thinned by rejection so that those
accepted follow the same law (Epperly, Tropp and Webber 2024). Nyström's method picks them uniformly, all at once,
so that one eigendecomposition of their own block can discard eigenvalues at the level of rounding.
"""

from collections.abc import Callable
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from lowdim.solve.leading_eigenpairs import direct, eigh_top
from lowdim.work import memory, thread_limit
from lowdim.work.backend_arrays import from_numpy, to_numpy
from lowdim.work.blockwise import float_dtype
from lowdim.work.progress import note, stage
from lowdim.work.random import stream
from lowdim.work.rows import cast, take, totals, uninitialised

_BLOCK = 128  # proposals at a time
_COLUMNS = 8192  # multiplied at a time
_FLOOR = 1e3  # of a pivot, in roundings of the largest diagonal entry: smaller ones would magnify rounding errors
_BELOW = 30.0  # roots of the rounding below zero from which a matrix is taken as indefinite
MOST = 5000  # rank at which a search by tolerance stops


class LowRank(NamedTuple):
    """Pivots S (s,), the factor F (r, n), the share of the trace of K that ``Fᵀ F`` lacks, and weights (s, r).

    ``F = weightsᵀ K[S]``; where weights is None, F at the pivots is upper triangular and its inverse is meant.
    """

    pivots: NDArray[np.int64]
    factor: NDArray
    error: float
    weights: NDArray[np.float64] | None = None

    def eigenpairs(self, k: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Leading eigenpairs of the centred ``H Fᵀ F H``, by way of the r × r matrix ``F H Fᵀ`` with vectors V.

        Values (k,), V (r, k), the scores ``H Fᵀ V`` (n, k) and what centring subtracts from them; zeros beyond rank r.
        """
        (r, n), F = self.factor.shape, self.factor
        mean = totals(F, 1) / n
        S = -n * np.outer(mean, mean)
        for start in range(0, n, _COLUMNS):  # sums of float32 products over many columns are taken in float64
            S += to_numpy(F[:, start : start + _COLUMNS] @ F[:, start : start + _COLUMNS].T)
        pairs = eigh_top(S, min(r, k))
        values, V = np.pad(pairs.values, (0, max(0, k - r))), np.pad(pairs.vectors, ((0, 0), (0, max(0, k - r))))
        offset = mean @ V
        return values, V, F.T @ cast(from_numpy(V, F), float_dtype(F.dtype)) - from_numpy(offset, F), offset

    def dual(self, V: NDArray) -> NDArray:
        """Weights W (s, k) of a row's values at the pivots that give its scores: ``k(x, S) W = φ(x)ᵀ V``."""
        if self.weights is not None:
            return self.weights @ V
        at = to_numpy(take(self.factor.T, self.pivots)).T.astype(np.float64)
        return np.asarray(sl.solve_triangular(at, V, check_finite=False))


def pivoted_cholesky(
    rows: Callable[[NDArray[np.int64]], NDArray],
    diagonal: NDArray[np.float64],
    *,
    rank: int | None,
    tol: float,
    seed: int,
    least: int = 1,
    positive: bool = False,
) -> LowRank:
    """Factor of rank at most ``rank``; with None, of the rank that leaves at most ``tol`` of the trace.

    That is at least ``least`` and at most ``MOST``.

    ``rows(S)`` gives the rows ``K[S]`` (b, n), to be overwritten, in the precision to work in. It ends early where the
    residual is at the level of rounding. ``positive`` says that K is known to be positive semidefinite; else a K that
    is clearly not raises ValueError.

    >>> K = np.array([[4.0, 2.0], [2.0, 1.0]])
    >>> found = pivoted_cholesky(lambda S: K[S], np.diag(K), rank=2, tol=0.0, seed=0)
    >>> len(found.pivots), np.allclose(found.factor.T @ found.factor, K)
    (1, True)
    """
    n, free = len(diagonal), memory.available()
    most = min(n, max(MOST, least) if rank is None else rank)
    trace = float(diagonal.sum())
    if not trace > 0:
        return _nothing(rows, n)
    rest, left = diagonal.copy(), diagonal.copy()  # the residual diagonal, and that of the rows not yet chosen
    target = trace * tol if rank is None else 0.0
    F = np.empty((0, 0))
    pivots: list[int] = []
    turn = 0
    with stage("pivots", total=most) as tick:
        while len(pivots) < most and left.any() and (rest.sum() > target or len(pivots) < least):
            have, random = len(pivots), stream(seed, "pivots", turn)
            S = _proposals(left, min(_BLOCK, max(1, most // 4), most - have), random)
            if rank is None and turn:
                _demand_room(F.itemsize * n * (have + len(S) + 2 * _BLOCK), free, have + len(S))
            C = rows(S)
            if not turn:  # pages that are never written use no memory, so allocating the largest rank costs nothing
                F, dtype = uninitialised((most, n), C), float_dtype(C.dtype)
                floor = _FLOOR * float(np.finfo(dtype).eps) * float(diagonal.max())
            C -= take(F[:have].T, S) @ F[:have]
            accepted, step = _accepted(to_numpy(take(C.T, S)).T.astype(np.float64), floor, random)
            if not accepted:
                break
            new = cast(from_numpy(step, C), dtype) @ take(C, np.array(accepted))
            F[have : have + len(accepted)] = new
            rest -= to_numpy((new * new).sum(0))
            if not positive:
                _demand_positive(float(rest.min()), diagonal, dtype)
            pivots += S[accepted].tolist()
            left = np.where((left > 0) & (rest > floor), rest, 0.0)
            left[pivots] = 0.0
            turn += 1
            tick(len(pivots))
            note(f"{100 * rest.sum() / trace:.2g} % of the trace left")
    return LowRank(np.array(pivots, dtype=np.int64), F[: len(pivots)], max(0.0, float(rest.sum()) / trace))


def nystroem(
    rows: Callable[[NDArray[np.int64]], NDArray],
    diagonal: NDArray[np.float64],
    *,
    rank: int | None,
    tol: float,
    seed: int,
    least: int = 1,
    positive: bool = False,
) -> LowRank:
    """The same from ``rank`` rows S drawn uniformly: ``F = Λ^−½ Uᵀ K[S]`` with ``K[S, S] = U Λ Uᵀ``.

    Eigenvalues at the level of rounding are left out, so F may have fewer rows than S. With ``rank`` None the rows grow
    by half (128 at the least) until ``tol`` is met.

    >>> K = np.array([[4.0, 2.0], [2.0, 1.0]])
    >>> found = nystroem(lambda S: K[S], np.diag(K), rank=2, tol=0.0, seed=0)
    >>> found.factor.shape, np.allclose(found.factor.T @ found.factor, K)
    ((1, 2), True)
    """
    n, free = len(diagonal), memory.available()
    most = min(n, max(MOST, least) if rank is None else rank)
    trace = float(diagonal.sum())
    if not trace > 0:
        return _nothing(rows, n)
    S = stream(seed, "pivots").choice(n, most, replace=False)
    C, have = np.empty((0, 0)), 0
    with stage("landmarks", total=most) as tick:
        while True:
            grown = max(least, have + min(_BLOCK, max(1, most // 4)), have + have // 2)
            size = min(most, grown) if rank is None else most
            if rank is None and have:
                _demand_room(C.itemsize * n * (size + 2 * _BLOCK), free, size)
            for start in range(have, size, _BLOCK):
                stop = min(size, start + _BLOCK)
                block = rows(S[start:stop])
                if not start:
                    C, dtype = uninitialised((most, n), block), float_dtype(block.dtype)
                C[start:stop] = block
                tick(stop)
            have = size
            at = to_numpy(take(C[:have].T, S[:have])).T.astype(np.float64)
            weights = _inverse_root(at, dtype, positive)
            rest = diagonal - _squares(C[:have], weights, keep=have == most)
            if have == most or rest.sum() <= trace * tol:
                break
    if have < most:
        _squares(C[:have], weights, keep=True)
    if not positive:
        _demand_positive(float(rest.min()), diagonal, dtype)
    return LowRank(S[:have], C[: weights.shape[1]], max(0.0, float(rest.sum()) / trace), weights)


def _nothing(rows: Callable[[NDArray[np.int64]], NDArray], n: int) -> LowRank:
    """Factor of a zero matrix: one pivot with zero weight."""
    first = np.zeros(1, dtype=np.int64)
    return LowRank(first, 0.0 * uninitialised((1, n), rows(first)), 0.0, np.zeros((1, 1)))


def _inverse_root(A: NDArray[np.float64], dtype: np.dtype, positive: bool) -> NDArray[np.float64]:
    """W (s, r) with ``W Wᵀ`` the pseudo-inverse of ``A``, without eigenvalues that are rounding in ``dtype``."""
    with thread_limit.alone() if direct(len(A), 1) else nullcontext():
        values, U = sl.eigh((A + A.T) / 2, driver="evd", overwrite_a=True, check_finite=False)
    if not positive:
        _demand_positive(float(values[0]), values[-1:], dtype)
    # Rounding one value by ε max k(x, x) moves no eigenvalue by more than |S| times that; values are a few ulp off.
    some = values > 4 * len(A) * float(np.finfo(dtype).eps) * float(np.diagonal(A).max())
    return np.asarray(U[:, some] / np.sqrt(values[some]))


def _squares(C: NDArray, weights: NDArray[np.float64], keep: bool) -> NDArray[np.float64]:
    """Squared lengths (n,) of the columns of ``weightsᵀ C``, which takes the place of ``C`` where it is to be kept."""
    W, lengths = cast(from_numpy(np.ascontiguousarray(weights.T), C), float_dtype(C.dtype)), np.empty(C.shape[1])
    for start in range(0, C.shape[1], _COLUMNS):
        columns = slice(start, start + _COLUMNS)
        F = W @ C[:, columns]
        lengths[columns] = to_numpy((F * F).sum(0))
        if keep:
            C[: len(F), columns] = F
    return lengths


def _demand_positive(lowest: float, values: NDArray[np.float64], dtype: np.dtype) -> None:
    """Refuse values below zero by more than rounding explains; ``values`` are those it was taken from."""
    largest = float(values.max())
    if lowest < -_BELOW * float(np.sqrt(np.finfo(dtype).eps)) * largest:
        raise ValueError(
            "kernel: an approximation of low rank needs a positive semidefinite kernel; got one with negative "
            f"eigenvalues (the residual diagonal goes down to {lowest:.3g}; the largest entry is {largest:.3g}). "
            "Use approximation=None."
        )


def _demand_room(needed: float, free: int, rank: int) -> None:
    """Raise MemoryError where the factor would exceed the memory that was free at the start."""
    if needed > free:
        memory.require(needed, f"A factor of rank {rank:,}", "Raise tol, or pass a smaller rank=.")


def _proposals(left: NDArray[np.float64], count: int, random: np.random.Generator) -> NDArray[np.int64]:
    """At most ``count`` different rows, in the order drawn."""
    drawn = np.searchsorted(np.cumsum(left), random.random(count) * left.sum(), side="right")
    return np.array(list(dict.fromkeys(np.minimum(drawn, len(left) - 1).tolist())), dtype=np.int64)


def _accepted(
    A: NDArray[np.float64], floor: float, random: np.random.Generator
) -> tuple[list[int], NDArray[np.float64]]:
    """Which of the proposals with residual matrix ``A`` are taken, and the inverse of the Cholesky factor of those."""
    H = (A + A.T) / 2
    first, luck = np.diag(H).copy(), random.random(len(H))
    accepted = []
    for i in range(len(H)):
        if H[i, i] > floor and luck[i] * first[i] < H[i, i]:
            accepted.append(i)
            column = H[:, i] / np.sqrt(H[i, i])
            H -= np.outer(column, column)
    with thread_limit.alone():
        L = np.linalg.cholesky((A + A.T)[np.ix_(accepted, accepted)] / 2)
        return accepted, np.linalg.inv(L)
