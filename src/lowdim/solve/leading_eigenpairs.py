"""Leading eigenpairs of a symmetric matrix, given as an array or as a product with blocks of vectors.

:func:`largest_eigenpairs` chooses by one rule (:func:`direct`): few pairs of a large matrix come from products alone,
by a block Krylov method with thick restarts (Wu and Simon 2000; Musco and Musco 2015), which needs few passes over the
data behind the operator (a stored array, rows, kernel blocks computed on the fly) and reports the residual it reached.
All others go to LAPACK.
"""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from lowdim.solve.eigenpairs import Doubles, Eigenpairs
from lowdim.work import thread_limit
from lowdim.work.backend_arrays import from_numpy, to_numpy
from lowdim.work.dispatch import operation
from lowdim.work.finite import refuse_overflow
from lowdim.work.products import inner, multiply, subtract_product
from lowdim.work.progress import note, stage
from lowdim.work.random import stream
from lowdim.work.rows import blank, cast

Operator = Callable[[NDArray], NDArray]
_STRIP = 8  # columns that sparse products sum in registers
_SMALL = 1500  # side up to which LAPACK gains nothing from threads


def direct(n: int, k: int, limit: int = _SMALL) -> bool:
    """Whether ``k`` eigenpairs of an (n, n) matrix are for LAPACK: up to the side ``limit``, or if k is not few.

    >>> direct(1000, 2), direct(10_000, 50), direct(10_000, 2000)
    (True, False, True)
    """
    return n <= limit or 10 * k > n


@operation
def eigh_top(A: NDArray, k: int) -> Eigenpairs:
    """Top ``k`` eigenpairs of the symmetric array ``A``, which is overwritten.

    >>> eigh_top(np.diag([1.0, 3.0, 2.0]), 2).values
    array([3., 2.])
    """
    refuse_overflow(A, "Eigenvectors: entries of the matrix")
    n, few = len(A), k <= len(A) // 3
    with (
        stage("eigenvectors", flops=(4.5 if few else 9.0) * n**3),
        thread_limit.alone() if n <= _SMALL else nullcontext(),
    ):
        if few:
            values, vectors = pairs_between(A, n - k, n - 1)
        else:
            values, vectors = sl.eigh(A, driver="evd", overwrite_a=True, check_finite=False)
    lowest = float(values.min(initial=np.inf))
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    return Eigenpairs(values, vectors, 0.0, True, "dense", 1, vectors * values, lowest)


def pairs_between(A: NDArray, first: int, last: int) -> tuple[NDArray, NDArray]:
    """Eigenpairs of the symmetric array ``A``, which is overwritten, from one index to another, in ascending order.

    >>> pairs_between(np.diag([1.0, 3.0, 2.0]), 0, 1)[0]
    array([1., 2.])
    """
    diagonal, part = A.diagonal().copy(), [first, last]
    values, vectors = sl.eigh(A, subset_by_index=part, driver="evr", overwrite_a=True, check_finite=False)
    if len(values) == last - first + 1:
        return values, vectors
    A = np.triu(A, 1)  # LAPACK finds none where nearly all are equal; it leaves the upper triangle as it was
    A += A.T
    A[np.diag_indices(len(A))] = diagonal
    values, vectors = sl.eigh(A, driver="evd", overwrite_a=True, check_finite=False)
    return values[first : last + 1], vectors[:, first : last + 1]


@operation
def singular(A: NDArray) -> tuple[NDArray, NDArray]:
    """Singular values (r,), descending, and right vectors (r, d) as rows of ``A`` (n, d), which is overwritten.

    >>> singular(np.diag([3.0, 4.0]))[0]
    array([4., 3.])
    """
    A = A.T  # in LAPACK's order, where SciPy's own svd copies the rows, from 1.18 on twice
    gesdd, space = sl.get_lapack_funcs(("gesdd", "gesdd_lwork"), (A,))
    wanted, _ = space(*A.shape, full_matrices=False)
    # A size that float32 cannot state is rounded, perhaps down.
    size = int(np.nextafter(np.real(wanted), np.inf, dtype=A.dtype)) + 1
    vectors, values, _, info = gesdd(A, full_matrices=False, lwork=size, overwrite_a=True)
    if info > 0:
        raise np.linalg.LinAlgError("The singular values did not converge.")
    return values, vectors.T


def largest_eigenpairs(
    n: int, k: int, *, array: Callable[[], NDArray], apply: Operator, seed: int, tol: float, **how: Any
) -> Eigenpairs:
    """Top ``k`` eigenpairs of a symmetric (n, n) matrix, by the solver that suits its size.

    ``array()`` makes the matrix, which LAPACK overwrites; ``apply`` multiplies by it, and ``how`` is as in
    :func:`eigh_top_operator`.

    >>> A = np.diag([1.0, 3.0, 2.0])
    >>> largest_eigenpairs(3, 1, array=A.copy, apply=lambda V: A @ V, seed=0, tol=1e-9).solver
    'dense'
    """
    return eigh_top(array(), k) if direct(n, k) else eigh_top_operator(apply, n, k, seed=seed, tol=tol, **how)


def eigh_top_operator(
    apply: Operator,
    n: int,
    k: int,
    *,
    seed: int,
    tol: float,
    start: Doubles | None = None,
    max_passes: int = 300,
    costly: bool = False,
    sparse: bool = False,
    each: bool = False,
    like: Any = None,
) -> Eigenpairs:
    """Top ``k`` eigenpairs of the symmetric (n, n) matrix behind ``apply(V) = A V``.

    ``tol`` bounds each residual ``‖A v − λ v‖`` relative to the largest eigenvalue, with ``each`` relative to its own
    λ; a value's own error is of the order of its square. ``start`` (n, any) gives vectors near the wanted ones.
    ``costly`` says that a pass costs about the same for one vector as for many (a large stored array, kernel blocks
    computed anew), so that blocks should be wide and passes few; ``sparse`` that it costs as much as there are vectors,
    so that blocks should be narrow: fewer are needed in all. ``apply`` is given blocks on the backend of ``like``
    (NumPy for None), and all arrays of length n stay there; the small problems are solved by LAPACK.
    """
    random = stream(seed, "eigen")
    width, room = block_sizes(n, k, costly, sparse)
    given = 0 if start is None else start.shape[1]
    if start is not None:  # all blocks are as wide as the first, or products with it would extend beyond the next
        width = min(n, max(width, given))
        room = min(n, max(room, k + 4 * width))
    fresh = from_numpy(random.standard_normal((n, max(0, width - given))), like)
    if start is not None:
        first = blank((n, width), like)
        first[:, :given] = start[:, :width]
        first[:, given:] = fresh
        fresh = first
    Q = blank((n, room), like)
    T = np.zeros((room, room))
    fresh = _orthonormal(fresh, Q[:, :0], random)
    size, reach, passes, looked, scale, residual = 0, 0, 0, 0, 0.0, np.inf
    with stage("eigenvectors"):
        while True:
            new = fresh.shape[1]
            Q[:, size : size + new] = fresh
            W = cast(apply(fresh), np.float64)
            passes += 1
            # A times a block reaches back no further than the block before (or, after a restart, all Ritz vectors);
            # what rounding adds beyond is removed by the second orthogonalisation.
            near = Q[:, reach : size + new]
            H = to_numpy(inner(near, W))
            T[reach : size + new, size : size + new] = H
            T[size : size + new, reach : size + new] = H.T
            reach, size = size, size + new
            basis = Q[:, :size]
            scale = max(scale, float(np.abs(H).max()))
            left = min(width, n - size)
            W = subtract_product(W, near, from_numpy(H, like))
            full = size + left > room or left == 0
            # Solving the small problem costs size³, so it waits until the basis has grown by a quarter, or a pass
            # costs more anyway.
            if full or passes >= max_passes or (size >= 2 * k and (costly or size >= 1.25 * looked)):
                looked = size
                with thread_limit.alone():
                    theta, S = sl.eigh(T[:size, :size], driver="evd", check_finite=False)
                theta, S = theta[::-1], S[:, ::-1]
                largest = max(abs(theta[0]), abs(theta[-1])) or 1.0
                apart = multiply(W, from_numpy(S[size - new :, :k], like))  # A V − V Λ
                residual = float((_norms(apart) / (np.maximum(np.abs(theta[:k]), 1e-300) if each else largest)).max())
                note(f"residual {residual:.1e}")
                if residual <= tol or left == 0 or passes >= max_passes:
                    converged = residual <= tol or left == 0
                    V = multiply(basis, from_numpy(S[:, :k], like))
                    product = V * from_numpy(theta[:k], like) + apart
                    return Eigenpairs(theta[:k], V, residual, converged, "krylov", passes, product, float(theta[-1]))
            fresh = _orthonormal(W, basis, random, scale, left)
            if full:  # thick restart: the best Ritz vectors carry over
                size = looked = min(size, max(k + width, (room - width) // 2))
                reach = 0
                Q[:, :size] = multiply(basis, from_numpy(S[:, :size], like))
                T[:] = 0.0
                T[range(size), range(size)] = theta[:size]


def block_sizes(n: int, k: int, costly: bool, sparse: bool = False) -> tuple[int, int]:
    """Width of the blocks, and how many vectors are kept between restarts, for ``k`` pairs of an (n, n) matrix.

    >>> block_sizes(10_000, 50, costly=True)[0], block_sizes(10_000, 50, costly=False)[0]
    (64, 16)
    """
    if not costly:
        width = min(n, _STRIP * max(1, k // 48) if sparse else max(8, k // 3))
        return width, min(n, max(4 * k, k + 12 * width) + width)
    width = min(n, max(16, k + k // 4 + 2))
    return width, min(n, k + (9 if k <= 100 else 5) * width)


@operation
def leading_span(C: NDArray, width: int) -> Doubles:
    """Start (n, width) near the leading eigenvectors of the centred ``A``, from a sample ``C`` (s, n) of A's rows.

    It is the leading part of the span of the centred rows, which saves one or two passes over all of ``A``.
    """
    C = C - C.mean(axis=0)
    C -= C.mean(axis=1, keepdims=True)
    with thread_limit.alone():
        _, U = pairs_between(inner(C.T, C.T).astype(np.float64), max(0, len(C) - width), len(C) - 1)
    return np.asarray(multiply(np.ascontiguousarray(U[:, ::-1].T, C.dtype), C).T, dtype=np.float64)


class Refined(NamedTuple):
    """Values (k,), scores' directions P (n, k), the vectors V (n, k) with ``A V = P Λ``, and the residual."""

    values: Doubles
    left: Doubles
    right: Doubles
    residual: float


def refined(apply: Operator, V: Doubles, k: int, passes: int, *, seed: int) -> Refined:
    """Better leading eigenpairs of the positive semidefinite ``A`` from the span of ``V`` (n, b), b ≥ k.

    Each pass takes the singular vectors of ``A V``, ``V`` orthonormal: its singular values bound the eigenvalues from
    below, more tightly than the Rayleigh quotients do. The residual is the largest ``‖A v − (vᵀA v) v‖`` relative to
    the first value.
    """
    with stage("refinement", total=passes) as tick:
        for done in range(passes):
            V = _orthonormal(V, V[:, :0], stream(seed, "refine", done))
            Y = cast(apply(V), np.float64)
            with thread_limit.alone():
                squares, turn = sl.eigh(to_numpy(inner(Y, Y)), check_finite=False)
            values, turn = np.sqrt(np.maximum(squares[::-1], 0.0)), from_numpy(turn[:, ::-1], V)
            right, Y = multiply(V, turn), multiply(Y, turn)
            some = values > 1e-7 * values[0]
            V = Y * from_numpy(some / np.where(some, values, 1.0), V) + right * from_numpy(1.0 - some, V)
            tick(done + 1)
    quotients = (right * Y).sum(0)
    residual = float(_norms((Y - right * quotients)[:, :k]).max()) / (float(values[0]) or 1.0)
    return Refined(np.where(some, values, 0.0)[:k], V[:, :k], right[:, :k], residual)


def _orthonormal(
    W: Doubles, basis: Doubles, random: np.random.Generator, scale: float = 0.0, width: int | None = None
) -> Doubles:
    """Orthonormal block spanning what ``W`` spans, orthogonal to ``basis``, of at most ``width`` columns.

    Built from the small Gram matrix (two rounds make up for its squared condition), since products run at full speed
    and Householder steps on tall blocks do not. Directions that vanished are drawn again. ``W`` may be overwritten.
    """
    n = W.shape[0]
    Q = subtract_product(W, basis, inner(basis, W))
    for round_ in range(3):
        gram = to_numpy(inner(Q, Q))
        with thread_limit.alone():
            values, vectors = sl.eigh(gram, driver="evd", check_finite=False)
        values, vectors = values[::-1], vectors[:, ::-1]
        lost = values <= (max(1e-15 * values[0], (1e-14 * scale) ** 2, 1e-290) if round_ == 0 else 1e-8)
        Q = multiply(Q, from_numpy(vectors / np.sqrt(np.where(lost, 1.0, values)), Q))
        if round_ == 0 and width is not None:
            Q, lost = Q[:, :width], lost[:width]
        if lost.any():
            Q[:, from_numpy(lost, Q)] = from_numpy(random.standard_normal((n, int(lost.sum()))) / np.sqrt(n), Q)
        elif round_ > 0:
            break
        if lost.any() or values[-1] <= 1e-8 * values[0]:  # scaling up small vectors scaled up their rounding errors
            Q = subtract_product(Q, basis, inner(basis, Q))
    return Q


def _norms(A: Any) -> Doubles:
    """Length of each column."""
    return np.sqrt(to_numpy((A * A).sum(0)))
