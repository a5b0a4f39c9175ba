"""Spectra for kernel PCA: leading eigenpairs of ``K_c = H K H``, ``H = I − 11ᵀ/n``, solver by solver."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.relate.centring import CentredProduct, Means, centre, demand_finite_kernel
from lowdim.relate.kernels import TILE, Kernel, KernelRows
from lowdim.solve.cholesky import MOST, LowRank, nystroem, pivoted_cholesky
from lowdim.solve.eigenpairs import warn_unless_converged
from lowdim.solve.leading_eigenpairs import block_sizes, direct, eigh_top, eigh_top_operator, leading_span, refined
from lowdim.work import memory
from lowdim.work.backend_arrays import from_numpy, to_numpy
from lowdim.work.blockwise import float_dtype
from lowdim.work.products import multiply
from lowdim.work.random import stream
from lowdim.work.rows import blank, cast, take, uninitialised
from lowdim.work.user_warnings import warn

SOLVERS = ("auto", "dense", "krylov", "matrix_free")
_RESIDUAL = {"float32": 1e-4, "float64": 1e-9}  # at which the Krylov method stops, relative to the first eigenvalue
_NOTHING = {
    "float32": 2e-6,
    "float64": 1e-12,
}  # share of the largest eigenvalue below which an eigenvalue is taken as zero
_SKETCH = 256  # rows of the kernel matrix that the Krylov method starts from
_INSTEAD = "Use approximation='rpcholesky', or eigen_solver='matrix_free', whose memory grows with n only."


class Approximation(NamedTuple):
    """Parameters of the low-rank approximation of ``K`` in kernel PCA."""

    name: str
    rank: int | None
    tol: float
    refine: int


class KernelSpectrum(NamedTuple):
    """Eigenpairs, the projection of rows (``scores = K(x, basis) dual − offset``), and the solver."""

    values: NDArray
    vectors: NDArray  # (n, k)
    dual: NDArray  # (rows of the basis, k)
    offset: NDArray
    scores: NDArray  # (n, k)
    basis: KernelRows
    residual: float | None = None
    landmarks: NDArray | None = None
    error: float = 0.0  # share of the trace left out


def choose(X: Any, k: int, solver: str, kernel: Kernel, *, inverse: bool) -> str:
    """Exact solver by size and memory; the memory is required here, before any work."""
    n, item, rows, tile, floats = _sizes(X, kernel)
    given = kernel.name == "precomputed"
    basis = 8 * n * (block_sizes(n, k, costly=True)[1] + 4 * k + 2.5 * _SKETCH)
    last = floats + 8 * n * 4 * k  # beside the components
    squares = (
        2.5 if kernel.positive and k <= n // 3 else 4
    )  # all vectors, and the work space of LAPACK's divide and conquer
    figures = {
        "dense": rows + max(last, squares * (8 if direct(n, 1) else item) * n * n),
        "krylov": rows + max(last, basis + (0 if given else item * n * n)),
        "matrix_free": rows + max(last, basis + (0 if given else tile)),
    }
    if solver == "auto":
        order = ("dense", "krylov") if direct(n, k) else ("krylov",)
        free = memory.available_for(X)
        solver = next((name for name in order if figures[name] <= free), "matrix_free")
    parts = {"dense": " (the kernel matrix and LAPACK's)", "krylov": f" (the kernel matrix and {k} components)"}
    instead = _INSTEAD if solver != "matrix_free" else "Lower n_components, or use approximation='rpcholesky'."
    if given:  # the matrix is there, and no approximation reads it
        instead = "Use eigen_solver='krylov', which makes no copy." if solver == "dense" else "Lower n_components."
    memory.require(
        figures[solver], f"KernelPCA: eigen_solver='{solver}' for {n:,} rows{parts.get(solver, '')}", instead, X
    )
    if inverse:
        what = f"KernelPCA: fit_inverse_transform=True (the kernel between the scores of {n:,} rows)"
        needed = rows + floats + item * n * n
        memory.require(needed, what, "Use approximation='rpcholesky', whose pre-images need n only.", X)
    return solver


def demand_memory(X: Any, k: int, kernel: Kernel, way: Approximation) -> None:
    """Refuse an approximation whose landmarks do not fit, before any work."""
    n, item, rows, tile, floats = _sizes(X, kernel)
    rank = min(n, max(2 * k, 128)) if way.rank is None else way.rank
    needed = item * (n * (rank + 2 * 128) + rank * min(n, 8192)) + 40 * rank**2
    needed = rows + max(needed, 8 * n * 12 * k + max(floats, tile) if way.refine else 0)  # the factor is gone by then
    what = f"KernelPCA: rank {rank:,} for {n:,} rows"
    memory.require(needed, what, "Pass a smaller rank=." if way.rank is None else "Lower rank.", X)


def _sizes(X: Any, kernel: Kernel) -> tuple[int, int, int, int, int]:
    """Number of rows, bytes of a value, of the rows as the kernel reads them, of one tile of its values, and of the
    floats that a model of all rows keeps where the kernel reads bytes: they are made last.
    """
    (n, d), item = X.shape, float_dtype(X.dtype).itemsize
    rows, tile = item * (2 * X.nnz if sp.issparse(X) else n * d), item * min(n, TILE) ** 2
    if kernel.name == "precomputed":
        return n, item, 0, tile, 0
    return (n, item, 2 * n * d, tile, rows) if kernel.packs(X) else (n, item, rows, tile, 0)  # bytes and their panels


def exact(kernel: Kernel, A: KernelRows, k: int, solver: str, seed: int) -> KernelSpectrum:
    """Leading ``k`` eigenpairs of ``H K H`` by one of the exact solvers."""
    n, dtype = len(A), float_dtype(A.dtype)
    if solver == "dense":
        whole = cast(kernel.gram(A), np.float64 if direct(n, 1) else dtype)
        size = max(float(whole.max()), -float(whole.min()))
        means = centre(whole)
        pairs = eigh_top(whole, k if kernel.positive else n)
        del whole
    else:
        K = kernel.gram(A) if solver == "krylov" and kernel.name != "precomputed" else None
        apply = CentredProduct(lambda V: kernel.product(A, V) if K is None else multiply(K, V), dtype)
        width = block_sizes(n, k, costly=True)[0]
        some = np.sort(stream(seed, "sketch").choice(n, min(n, max(_SKETCH, 4 * width)), replace=False))
        sample = kernel.block(A[some], A) if K is None else take(K, some)
        demand_finite_kernel(sample)
        size = max(float(sample.max()), -float(sample.min()))
        size = max(size, 0.0 if K is None else float(abs(K.diagonal()).max()))
        tol = _RESIDUAL[dtype.name]
        start = leading_span(sample, width)
        del sample
        pairs = eigh_top_operator(apply, n, k, seed=seed, tol=tol, start=start, costly=True, like=A.X)
        warn_unless_converged(pairs, "Ask for fewer components, or use eigen_solver='dense'.")
        means = apply.means
        del K, apply
    if not kernel.positive:
        noise = 20 * float(np.finfo(dtype).eps) * np.sqrt(n) * size  # of values rounded one by one
        _report_negative(pairs.values, pairs.lowest, noise, every=solver == "dense")
    values, vectors, product_ = pairs.values[:k], pairs.vectors[:, :k], pairs.product[:, :k]
    inverse = inverse_roots(values, A, size)
    values = np.where(inverse > 0, values, 0.0)
    factor = from_numpy(inverse, vectors)
    dual = (vectors - vectors.mean(0)) * factor
    return KernelSpectrum(values, vectors, dual, _offset(means, dual), product_ * factor, A, pairs.residual)


def low_rank(kernel: Kernel, A: KernelRows, k: int, way: Approximation, seed: int) -> KernelSpectrum:
    """Leading ``k`` eigenpairs of ``H Fᵀ F H`` with ``K ≈ Fᵀ F``, improved by exact passes if requested."""
    diagonal = kernel.diagonal(A)
    size = float(diagonal.max())
    low = factor(kernel, A, diagonal, k, way, seed)
    landmarks, error = low.pivots, low.error
    values, V, scores, offset = low.eigenpairs(2 * k if way.refine else k)
    inverse = inverse_roots(values, A, size)
    if not way.refine or not inverse.any():
        some = inverse > 0
        values, V, offset = values * some, low.dual(V * some), offset * some
        scores = scores * from_numpy(some.astype(np.float64), scores)
        vectors, dual, basis = (scores * from_numpy(inverse, scores))[:, :k], from_numpy(V[:, :k], scores), A[landmarks]
        return KernelSpectrum(values[:k], vectors, dual, offset[:k], scores[:, :k], basis, None, landmarks, error)
    del low
    apply = CentredProduct(partial(kernel.product, A), float_dtype(A.dtype))
    start = (scores * from_numpy(inverse, scores))[:, : int(np.count_nonzero(inverse))]  # values fall
    better = refined(apply, start, k, way.refine, seed=seed)
    values = np.pad(better.values, (0, k - len(better.values)))
    left, right = _widened(better.left, k), _widened(better.right, k)
    inverse = inverse_roots(values, A, size)
    values = np.where(inverse > 0, values, 0.0)
    dual = (right - right.mean(0)) * from_numpy(inverse, right)
    offset, scores = _offset(apply.means, dual), left * from_numpy(np.sqrt(values), left)
    return KernelSpectrum(values, left, dual, offset, scores, A, better.residual, landmarks, error)


def _offset(means: Means, dual: NDArray) -> NDArray:
    """What centring subtracts from scores, by the training means."""
    return to_numpy(multiply(from_numpy(means.rows[None], dual), dual))[0]


def _widened(V: NDArray, k: int) -> NDArray:
    """``V`` (n, few) with columns of zeros up to k."""
    if V.shape[1] == k:
        return V
    out = blank((len(V), k), V)
    out[:] = 0.0
    out[:, : V.shape[1]] = V
    return out


def factor(
    kernel: Kernel, A: KernelRows, diagonal: NDArray[np.float64], k: int, way: Approximation, seed: int
) -> LowRank:
    """The factor ``F`` on landmarks, with a warning where they leave out more than ``tol``."""
    n = len(A)
    if diagonal.min() < 0 or not np.isfinite(diagonal).all():
        raise ValueError(
            f"KernelPCA: approximation='{way.name}' needs a kernel with k(x, x) ≥ 0; got {diagonal.min():g}. "
            "Use approximation=None."
        )
    if callable(kernel.name):
        some = np.arange(min(64, n - 1))
        within = kernel.block(A[some], A)[some, some]
        _demand_one_diagonal(diagonal[some], within, float(diagonal.max()), way.name)
    buffer = uninitialised((min(n, 128), n), A[:1].floats())
    find = nystroem if way.name == "nystroem" else pivoted_cholesky
    low = find(
        lambda S: kernel.block(A[S], A, out=buffer[: len(S)]),
        diagonal,
        rank=way.rank,
        tol=way.tol,
        seed=seed,
        least=2 * k,
        positive=kernel.positive,
    )
    if way.rank is None and low.error > way.tol:
        why, what = f"the search stops at {MOST:,}", "Pass rank= to go on, raise tol, or use refine=1."
        if len(low.pivots) < min(n, MOST) or len(low.pivots) == n:
            why, what = f"the rest is rounding of {A.dtype}", "Pass float64, raise tol, or use refine=1."
        warn(
            f"KernelPCA: {len(low.pivots):,} landmarks leave {low.error:.2g} of the trace out, more than tol="
            f"{way.tol:g}, and {why}. {what}",
        )
    return low


def _demand_one_diagonal(alone: NDArray, within: NDArray, largest: float, approximation: str) -> None:
    """Refuse a function whose ``k(x, x)`` depends on the rest of the block: the search for landmarks would not end."""
    apart = np.abs(alone - within)
    if apart.max() > 30 * float(np.sqrt(np.finfo(within.dtype).eps)) * largest:
        i = int(apart.argmax())
        raise ValueError(
            f"KernelPCA: approximation='{approximation}' needs a function with the same k(x, x) in every block; "
            f"got {alone[i]:g} for row {i} alone and {within[i]:g} within a block. Let it use each pair of rows "
            "alone, or use approximation=None."
        )


def inverse_roots(values: NDArray, A: KernelRows, size: float, n: int = 0) -> NDArray:
    """``1/√λ``, and 0 where λ is negative, or zero up to the rounding of kernel values of this ``size``.

    ``n`` is the number of rows, that of ``A`` unless given.
    """
    dtype = float_dtype(A.dtype)
    rounding = (n or len(A)) * float(np.finfo(dtype).eps) * size
    some = values > max(float(values.max(initial=0.0)) * _NOTHING[dtype.name], rounding)
    return np.where(some, 1.0 / np.sqrt(np.where(some, values, 1.0)), 0.0)


def _report_negative(values: NDArray, lowest: float, noise: float, *, every: bool) -> None:
    """Warn of negative eigenvalues beyond ``noise``; where ``values`` are ``every`` one, say how many."""
    first = float(values[0])
    noise = max(noise, 1e-6 * max(abs(first), abs(lowest)))
    if lowest >= -noise:
        return
    several = int(np.count_nonzero(values < -noise)) if every else 0
    what = "1 eigenvalue is" if several == 1 else f"{several or 'some'} eigenvalues are"
    warn(
        f"KernelPCA: the kernel is indefinite: {what} negative, down to {lowest:.3g} (the largest is {first:.3g}). "
        "They are dropped, since no map has negative squared lengths.",
    )
