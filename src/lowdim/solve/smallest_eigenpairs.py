"""Smallest eigenpairs of ``M = BᵀB`` for a sparse B whose rows sum to 0, without the constant vector.

The wanted eigenvalues may be 1e-11 of the largest (a smooth sheet) or 1e-6 (a graph of high dimension), and the best
solver depends on the graph. If a factorisation of B has little fill-in, it is used to apply the inverse: B is made
regular by one entry on its diagonal, and its condition is the square root of M's. With much fill-in, polynomials of M
that are small on the unwanted part of the spectrum are applied to a block of vectors. Small problems go to LAPACK.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import reverse_cuthill_mckee

from lowdim import _native
from lowdim.solve.blocked_cholesky import factorise, solve_by
from lowdim.solve.eigenpairs import Doubles, Eigenpairs
from lowdim.solve.leading_eigenpairs import eigh_top_operator
from lowdim.solve.polynomials import DEGREES, WIDTH, by_polynomials
from lowdim.solve.sparse_lu import SparseLU
from lowdim.work import memory, thread_limit
from lowdim.work.progress import Tick, stage
from lowdim.work.random import stream

SOLVERS = ("dense", "lu", "chebyshev", "cholesky")
_FEW = 400  # rows up to which the singular values are computed densely
_MOST_DENSE = 2000  # the same where a factorisation failed
_MOST_WHOLE = 25_000  # rows up to which a dense factor takes less than polynomials that converge slowly
_WHOLE_BYTES = 9.0  # of such a factor and its work space, an entry
_PATIENCE = 16_000  # degrees of polynomials before such a factor is made
_FLOPS = 5e10  # of a banded factorisation, above which polynomials are cheaper
_TOL = 1e-9  # residual relative to the largest eigenvalue, of polynomials
_TOL_EACH = 1e-5  # residual of the inverse relative to each of its eigenvalues, before the last step

Found = tuple[Doubles, int] | None  # vectors (n, k) and iterations; None where a solver failed


def smallest(B: sp.csr_array, k: int, root: int, *, seed: int) -> Eigenpairs:
    """The k smallest eigenpairs of ``BᵀB`` orthogonal to the constant vector.

    ``root`` is a row that all others lead to (of the one closed class of B's graph). If no solver converges, the best
    result is returned.

    >>> B = sp.csr_array(np.array([[1.0, -1.0, 0.0], [-0.5, 1.0, -0.5], [0.0, -1.0, 1.0]]))
    >>> smallest(B, 1, 0, seed=0).values
    array([1.])
    """
    n = B.shape[0]
    B = sp.csr_array(B, dtype=np.float64)
    B.sort_indices()
    largest = cache(partial(_largest, B, seed, rounds=8))
    tried: list[Eigenpairs] = []
    solve: dict[str, Callable[[], Found]] = {
        "dense": lambda: _dense(B, k),
        "lu": lambda: _by_factor(B, k, root, seed, profile, largest),
        "chebyshev": lambda: _by_polynomials(B, k, seed, _PATIENCE if "cholesky" in order else DEGREES),
        "cholesky": lambda: _by_cholesky(B, k, largest(), seed),
    }
    profile = np.zeros(0) if n <= _FEW or n <= 2 * k + 2 * WIDTH else _profile(B)
    order = _order(n, profile)
    for solver in order:
        found = solve[solver]()
        if found is None:
            continue
        vectors = found[0] - found[0].mean(axis=0)
        # Rayleigh and Ritz once more, through B itself, so that small values keep their digits.
        with thread_limit.alone():
            vectors, _ = np.linalg.qr(vectors)
            _, values, turn = sl.svd(B @ vectors, full_matrices=False, check_finite=False)
            values, vectors = np.square(values[::-1]), vectors @ turn[::-1].T
        product = B.T @ (B @ vectors)
        residual = float(np.linalg.norm(product - vectors * values, axis=0).max()) / largest()
        done = residual <= min(10 * _TOL, max(float(values[-1]) / largest(), 1e-12))  # separated from its neighbours
        tried.append(Eigenpairs(values, vectors, residual, done, solver, found[1], product, float(values[0])))
        if done:
            return tried[-1]
    return min(tried, key=lambda one: one.values.sum())


def _order(n: int, profile: Doubles) -> list[str]:
    """Solvers to try, by the size of B and the fill-in of a banded factorisation, if that is known."""
    if not len(profile):
        return ["dense"]
    fits = 1.5 * _factor_bytes(profile) < memory.available()
    light = 2.0 * np.square(profile).sum() <= _FLOPS
    factor = ["lu"] if fits else []
    last = ["dense"] if n <= _MOST_DENSE else []
    if light:
        return [*factor, "chebyshev", *last]
    whole = ["cholesky"] if n <= _MOST_WHOLE and _WHOLE_BYTES * n * n < memory.available() else factor
    return ["chebyshev", *whole, *last]


def _factor_bytes(profile: Doubles) -> float:
    """Memory of the sparse factors, estimated from the fill-in of a banded one.

    A good ordering has the same fill-in for graphs without small separators, and far less for sheets, whose band is a
    few times √n wide. The exponent in between was fitted to Gaussian rows in 2 to 10 dimensions.
    """
    spread = profile.mean() / (8.0 * np.sqrt(len(profile)))
    return 29.0 * float(profile.sum()) * min(1.0, spread) ** 2


def _profile(B: sp.csr_array) -> Doubles:
    """Entries (n,) left of the diagonal that a banded factorisation of B would fill in each row, in a good order."""
    n = B.shape[0]
    pattern = sp.csr_array((np.ones(B.nnz, np.int8), B.indices, B.indptr), shape=B.shape)
    both = (pattern + pattern.T).tocsr()
    place = np.empty(n, np.int64)
    place[reverse_cuthill_mckee(both, symmetric_mode=True)] = np.arange(n)
    ends = np.minimum.reduceat(place[both.indices], both.indptr[:-1])  # no row is empty: the diagonal is there
    return np.maximum(0, place - ends).astype(np.float64)


def _largest(B: sp.csr_array, seed: int, rounds: int) -> float:
    """Largest eigenvalue of ``BᵀB`` by power iteration: within 10 % in a few rounds, a few percent in more."""
    v = stream(seed, "largest").standard_normal(B.shape[0])
    value = 0.0
    with thread_limit.alone():  # the bits must not depend on the threads of BLAS
        for _ in range(rounds):
            v /= np.linalg.norm(v)
            v = B.T @ (B @ v)
            value, before = float(np.linalg.norm(v)), value
            if value - before <= 1e-3 * value:
                break
    return value or 1.0


def _dense(B: sp.csr_array, k: int) -> Found:
    """From the singular vectors of B on the complement of the constant vector."""
    n = B.shape[0]
    memory.require(40.0 * n * n, f"Smallest eigenvectors of {n:,} rows, dense,", "Ask for fewer components.")
    mirror = np.full(n, 1 / np.sqrt(n))  # Householder reflection that maps the first unit vector to the constant
    mirror[0] -= 1
    norm = np.linalg.norm(mirror)
    mirror /= norm or 1.0
    with stage("eigenvectors"), thread_limit.alone():
        A = B.toarray()
        A -= 2 * np.outer(A @ mirror, mirror)
        turn = sl.svd(A[:, 1:], full_matrices=False, overwrite_a=True, check_finite=False)[2]
    V = np.zeros((n, k))
    V[1:] = turn[::-1][:k].T
    return V - 2 * np.outer(mirror, mirror @ V), 1


def _by_factor(B: sp.csr_array, k: int, root: int, seed: int, profile: Doubles, largest: Callable[[], float]) -> Found:
    """By products with the pseudo-inverse of M, through a sparse factorisation; None if that is singular.

    With ``P = B + e eᵀ``, e the unit vector of the root, and x orthogonal to the constant: ``Pᵀ g = x`` has
    ``g_root = 0``, so that ``Bᵀ g = x``; and once g is orthogonal to the left null vector z of B, ``P y = g`` has
    ``B y = g``.
    """
    n = B.shape[0]
    # Another thread does the work without the GIL: this one waits, and receives Ctrl-C.
    pool = ThreadPoolExecutor(1)
    try:
        memory.require(_factor_bytes(profile), f"Smallest eigenvectors of {n:,} rows, sparse factors,", "")
        with stage("factorisation"), thread_limit.alone():  # the bits must not depend on the threads of BLAS
            P = B.tocsc()
            P[root, root] += 1
            factored = pool.submit(SparseLU, P, pivot=0.1)
            del P
            largest()  # meanwhile; it is kept
            factor = factored.result()
            z = factor.solve(np.eye(1, n, root).T, transposed=True)[:, 0]
            z /= np.linalg.norm(z)
        if not np.isfinite(z).all():
            return None

        def inverse(X: NDArray) -> NDArray:
            G = factor.solve(X - X.mean(axis=0), transposed=True)
            G -= np.outer(z, z @ G)
            Y = factor.solve(G)
            Y -= Y.mean(axis=0)
            return Y

        with np.errstate(all="ignore"), thread_limit.alone():
            pairs = eigh_top_operator(inverse, n, k, seed=seed, tol=_TOL_EACH, each=True, max_passes=60)
    except (RuntimeError, ValueError, MemoryError, np.linalg.LinAlgError):  # singular; infinite; too much fill-in
        return None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    # The product is the vectors after one more step of inverse iteration, which damps all others.
    return (pairs.product, pairs.iterations) if np.isfinite(pairs.product).all() else None


def _by_cholesky(B: sp.csr_array, k: int, largest: float, seed: int) -> Found:
    """By products with the inverse of M, with a small shift of its diagonal, through a dense factor."""
    n = B.shape[0]
    try:
        memory.require(_WHOLE_BYTES * n * n, f"Smallest eigenvectors of {n:,} rows, a dense factor,", "")
        M = sp.csr_array(B.T @ B).toarray()
        M[np.diag_indices(n)] += 1e-14 * largest
        factorise(M)
    except (np.linalg.LinAlgError, MemoryError):
        return None

    def inverse(X: Doubles) -> Doubles:
        Y = solve_by(M, X - X.mean(axis=0))
        return np.asarray(Y - Y.mean(axis=0))

    pairs = eigh_top_operator(inverse, n, k, seed=seed, tol=1e-10, max_passes=60)
    return pairs.vectors, pairs.iterations


def _by_polynomials(B: sp.csr_array, k: int, seed: int, degrees: int) -> Found:
    """By Chebyshev polynomials of M on a block of vectors."""
    n, transposed = B.shape[0], sp.csr_array(B.T)
    own, other = ((A.indptr.astype(np.int32), A.indices.astype(np.int32), A.data) for A in (B, transposed))

    def damp(V: Doubles, low: float, high: float, degree: int, tick: Tick) -> None:
        _native.chebyshev(*own, *other, V, low, high, degree, n_threads=thread_limit.current(), tick=tick)

    def apply(V: Doubles) -> Doubles:
        n_threads = thread_limit.current()
        image = _native.csr_product(*own, np.ascontiguousarray(V), n_threads=n_threads)
        return _native.csr_product(*other, image, n_threads=n_threads)

    constant = np.full((n, 1), 1 / np.sqrt(n))
    largest = _largest(B, seed, rounds=40)
    return by_polynomials(apply, damp, constant, k, largest, seed=seed, tol=_TOL, degrees=degrees)
