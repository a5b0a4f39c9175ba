"""Smallest eigenpairs of a sparse positive semidefinite matrix, without its known null vectors.

The solver depends on the structure, as in :mod:`lowdim.solve.smallest_eigenpairs`. Where rows can be ordered so that
a banded Cholesky factor is cheap (a curve, a sheet, a few thousand rows of anything), it applies the inverse; where a
sheet has many rows a sparse factorisation does. Other graphs of high dimension use polynomials, small ones LAPACK.
"""

from collections.abc import Callable

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import reverse_cuthill_mckee

from lowdim import _native
from lowdim.solve.eigenpairs import Doubles, Eigenpairs
from lowdim.solve.leading_eigenpairs import eigh_top_operator, pairs_between
from lowdim.solve.polynomials import WIDTH, by_polynomials
from lowdim.solve.sparse_lu import SparseLU
from lowdim.work import memory, thread_limit
from lowdim.work.progress import Tick, stage
from lowdim.work.random import stream

SOLVERS = ("dense", "band", "lu", "chebyshev")
_FEW = 400  # rows up to which LAPACK computes all eigenvectors
_BAND = 4e10  # operations of a banded factorisation up to which it is the fastest
_NARROW = 0.05  # mean half-width of the band, relative to n, up to which a sparse factorisation has little fill-in
_FILL = 170.0  # bytes of sparse factors per entry of A, on sheets, where they are used
_ROUGH = 1e-5  # residual from which polynomials are applied in float32: half the memory to read
_SHIFT = 1e-13  # on the diagonal, relative to the largest eigenvalue, so that a semidefinite matrix has a factor

Found = tuple[Doubles, int] | None  # vectors (n, k) and iterations; None where a solver failed
Solve = Callable[[Doubles], Doubles]


def smallest_symmetric(
    A: sp.csr_array, k: int, *, null: NDArray, seed: int, tol: float = 1e-9, largest: float | None = None
) -> Eigenpairs:
    """The k smallest eigenpairs of the symmetric ``A`` orthogonal to its null vectors ``null`` (n,) or (n, p).

    ``tol`` bounds the residual relative to the largest eigenvalue, which is estimated unless given. If no solver
    reaches it, the best result is returned.

    >>> path = sp.csr_array(np.array([[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]]))
    >>> smallest_symmetric(path, 1, null=np.ones(3), seed=0).values.round(9)
    array([1.])
    """
    n = A.shape[0]
    A = sp.csr_array(A, dtype=np.float64)
    with thread_limit.alone():
        null = np.linalg.qr(np.asarray(null, np.float64).reshape(n, -1))[0]
    largest = _largest(A, seed) if largest is None else largest
    order = np.asarray(reverse_cuthill_mckee(A, symmetric_mode=True)) if n > _FEW else np.arange(n)
    solve: dict[str, Callable[[], Found]] = {
        "dense": lambda: _dense(A, k, null, largest),
        "band": lambda: _by_inverse(_band_factor(A, order, largest), k, null, seed),
        "lu": lambda: _by_inverse(_sparse_factor(A, largest), k, null, seed),
        "chebyshev": lambda: _by_polynomials(A, order, k, null, largest, seed, tol),
    }
    tried: list[Eigenpairs] = []
    for solver in _choose(A, k + null.shape[1], order):
        found = solve[solver]()
        if found is None:
            continue
        with thread_limit.alone():
            vectors, _ = np.linalg.qr(found[0] - null @ (null.T @ found[0]))
            image = A @ vectors
            values, turn = sl.eigh(vectors.T @ image, check_finite=False)
            vectors, product = vectors @ turn, image @ turn
            apart = product - vectors * values
        residual = float(np.linalg.norm(apart, axis=0).max()) / largest
        values, done = np.maximum(values, 0.0), residual <= 10 * tol
        tried.append(Eigenpairs(values, vectors, residual, done, solver, found[1], product, float(values[0])))
        if done:
            return tried[-1]
    return min(tried, key=lambda one: one.residual)


def _choose(A: sp.csr_array, k: int, order: NDArray) -> list[str]:
    """Solvers to try, by the size and structure of ``A``."""
    n = A.shape[0]
    if n <= _FEW or n <= 2 * k + 2 * WIDTH:
        return ["dense"]
    reach = _reach(A, order)
    band = int(reach.max())
    room = 0.5 * memory.available()
    rest = ["chebyshev"] if band > _NARROW * n or 64.0 * reach.sum() > room else ["lu", "chebyshev"]
    cheap = float(n) * band * band <= _BAND and 24.0 * n * (band + 1) <= room
    return ["band", *rest] if cheap else rest


def _reach(A: sp.csr_array, order: NDArray) -> NDArray[np.int64]:
    """Bandwidth (n,) of each row, in this order of rows and columns."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    lowest = np.arange(len(order))
    filled = np.flatnonzero(np.diff(A.indptr))
    lowest[filled] = np.minimum.reduceat(place[A.indices], A.indptr[filled])
    return np.maximum(place - lowest, 0)


def _largest(A: sp.csr_array, seed: int, rounds: int = 30) -> float:
    """Largest eigenvalue by power iteration, from below, to a few percent."""
    v = stream(seed, "largest").standard_normal(A.shape[0])
    value = 0.0
    for _ in range(rounds):
        v = A @ (v / (np.linalg.norm(v) or 1.0))
        value, before = float(np.linalg.norm(v)), value
        if value - before <= 1e-3 * value:
            break
    return value or 1.0


def _dense(A: sp.csr_array, k: int, null: Doubles, largest: float) -> Found:
    """By LAPACK, null vectors moved above all others."""
    n = A.shape[0]
    memory.require(24.0 * n * n, f"Smallest eigenvectors of {n:,} rows, dense,", "Ask for fewer components.")
    with stage("eigenvectors"), thread_limit.alone():
        M = A.toarray() + 4 * largest * (null @ null.T)
        return np.asarray(pairs_between(M, 0, k - 1)[1]), 1


def _by_inverse(solve: Solve | None, k: int, null: Doubles, seed: int) -> Found:
    """By products with the inverse on the complement of the null vectors; None if there is no factor."""
    if solve is None:
        return None

    def inverse(X: Doubles) -> Doubles:
        Y = solve(X - null @ (null.T @ X))
        return np.asarray(Y - null @ (null.T @ Y))

    try:
        with np.errstate(all="ignore"), thread_limit.alone():
            pairs = eigh_top_operator(inverse, len(null), k, seed=seed, tol=1e-10, max_passes=60)
    except (ValueError, np.linalg.LinAlgError):  # infinite
        return None
    return (pairs.vectors, pairs.iterations) if np.isfinite(pairs.vectors).all() else None


def _band_factor(A: sp.csr_array, order: NDArray, largest: float) -> Solve | None:
    """Solver by a banded Cholesky factor of A in a good order, with a small shift of its diagonal."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    C = A.tocoo()
    row, column = place[C.row], place[C.col]
    low = row >= column
    n, band = A.shape[0], int((row - column).max(initial=0))
    memory.require(8.8 * n * (band + 1), f"Smallest eigenvectors of {n:,} rows, a banded factor,", "Pass fewer rows.")
    with stage("factorisation"), thread_limit.alone():  # the bits must not depend on the threads of BLAS
        for shift in (_SHIFT, 1e2 * _SHIFT, 1e4 * _SHIFT):
            rows = np.zeros((band + 1, n), order="F")
            rows[(row - column)[low], column[low]] = C.data[low]
            rows[0] += shift * largest
            try:
                factor = sl.cholesky_banded(rows, overwrite_ab=True, lower=True, check_finite=False)
            except np.linalg.LinAlgError:  # rounding made it indefinite
                continue
            return lambda X: sl.cho_solve_banded((factor, True), X[order], check_finite=False)[place]
    return None


def _sparse_factor(A: sp.csr_array, largest: float) -> Solve | None:
    """Solver by a sparse factorisation of A, with a small shift of its diagonal."""
    M = sp.csc_array(A + _SHIFT * largest * sp.eye_array(A.shape[0]))
    try:
        memory.require(_FILL * A.nnz, f"Smallest eigenvectors of {A.shape[0]:,} rows, sparse factors,", "")
        with stage("factorisation"):
            return SparseLU(M, pivot=0.0).solve
    except (RuntimeError, MemoryError):  # singular; too much fill-in
        return None


def _by_polynomials(
    A: sp.csr_array, order: NDArray, k: int, null: Doubles, largest: float, seed: int, tol: float
) -> Found:
    """By Chebyshev's polynomials of A with its rows in ``order``, in which the columns of a row are close together."""
    counts, place = np.diff(A.indptr)[order], np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    entries = np.arange(len(A.data)) + np.repeat(A.indptr[order] - starts[:-1], counts)
    parts = starts, place[A.indices[entries]], A.data[entries]
    dtype: type[np.floating] = np.float32 if tol >= _ROUGH else np.float64
    filtering = (*parts[:2], parts[2].astype(dtype, copy=False))

    def damp(V: Doubles, low: float, high: float, degree: int, tick: Tick) -> None:
        block = V.astype(dtype, copy=False)
        _native.chebyshev_symmetric(*filtering, block, low, high, degree, n_threads=thread_limit.current(), tick=tick)
        V[...] = block

    def apply(V: Doubles) -> Doubles:
        return _native.csr_product(*parts, np.ascontiguousarray(V), n_threads=thread_limit.current())

    vectors, degrees = by_polynomials(apply, damp, null[order], k, largest, seed=seed, tol=tol)
    return vectors[place], degrees
