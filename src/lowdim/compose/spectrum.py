"""Spectra for PCA: leading eigenpairs of ``ZᵀZ``, with ``Z`` the centred, scaled, weighted rows, solver by solver."""

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.relate.gram import Centred
from lowdim.relate.moment_states import ColumnMoments, Moments
from lowdim.relate.moments import column_moments, moments
from lowdim.solve.eigenpairs import warn_unless_converged
from lowdim.solve.leading_eigenpairs import direct, eigh_top, eigh_top_operator, singular
from lowdim.work import dispatch, memory, thread_limit
from lowdim.work.blockwise import float_dtype
from lowdim.work.dispatch import operation

SOLVERS = ("auto", "covariance", "gram", "svd", "randomized", "streaming")
FIRST_LOOK = 100  # leading components computed where the whole spectrum is too expensive
_DISTINCT = 1e-3  # share of the first eigenvalue from which directions of a Gram matrix need no QR
_PASSES = 16  # over the rows by a Krylov method, about
_SPACE = 275_000  # numbers that BLAS holds for each thread
_DIRECT, _DIRECT_SPARSE = 3000, 1000  # largest side solved directly when few components are wanted


class Spectrum(NamedTuple):
    """Eigenvalues of the scatter matrix in descending order, directions as rows, the trace, mean and scale.

    Values that are 0 up to rounding are 0.
    """

    values: NDArray
    vectors: NDArray
    total: float
    scale: NDArray
    moments: Moments | ColumnMoments


@operation(any_backend=True)
def choose(X: Any, n_components: Any, solver: str = "auto") -> str:
    """Solver used: the one named, or by the rule behind ``svd_solver="auto"``.

    Dense data whose smaller side is at most ``_DIRECT`` goes through the matrix of that side, exactly. Above that,
    a small count of components is cheaper by products alone. Files with more rows than columns are read once, in
    order.
    """
    if solver != "auto":
        return solver
    mapped = isinstance(X, np.memmap) or isinstance(getattr(X, "base", None), np.memmap)
    return choose_for(X.shape[0], X.shape[1], n_components, sparse=sp.issparse(X), mapped=mapped)


def choose_for(n: int, d: int, n_components: Any, *, sparse: bool = False, mapped: bool = False) -> str:
    """The same rule by the shape of the rows.

    >>> choose_for(1000, 50, None), choose_for(50, 1000, 3), choose_for(10**6, 10**5, 2)
    ('covariance', 'gram', 'randomized')
    """
    limit = _DIRECT_SPARSE if sparse else _DIRECT
    if isinstance(n_components, Integral) and not direct(min(n, d), int(n_components), limit):
        return "randomized"
    if n < d:
        return "gram"
    return "streaming" if mapped else "covariance"


def demand_memory(solver: str, n: int, d: int, k: int, *, who: str = "PCA") -> None:
    """Refuse before allocating: square matrices with LAPACK's work space, the components and their copies, or rows."""
    side = {"covariance": d, "streaming": d, "gram": n}.get(solver)
    if side:
        needed, what = 3.4 * side * side + (4 if solver == "gram" else 2.6) * k * d, f"{side:,} × {side:,} moments"
    elif solver == "svd":
        spaces = thread_limit.current() * min(_SPACE, n * d)
        needed, what = 2.2 * n * d + 5.2 * min(n, d) ** 2 + spaces, f"{n:,} × {d:,} rows"
    else:
        needed, what = 8 * (k + 16) * d + 750_000, f"a basis of {4 * k:,} × {d:,}"
    advice = "Lower n_components" if solver == "randomized" else "Use svd_solver='randomized' with a small n_components"
    memory.require(8 * needed, f"{who}: svd_solver='{solver}' ({what}, {k:,} components)", f"{advice}.")


def most_components(shape: tuple[int, ...], weights: Any) -> int:
    """Largest possible number of components: by the rows of positive weight, or their total weight, and the features.

    >>> most_components((10, 4), None), most_components((3, 4), np.array([0.0, 1.0, 1.0]))
    (4, 2)
    """
    n, d = shape
    if dispatch.is_distributed(weights):  # the moments report it
        return d
    rows = n if np.ndim(weights) == 0 else int(np.count_nonzero(weights))
    repeated = 0 if weights is None else int(np.sum(weights))
    return max(1, min(max(rows, repeated), d))


def measure(X: Any, weights: NDArray | None, solver: str) -> Moments | ColumnMoments:
    """Statistics of the rows that the solver needs first: their moments, or those of the columns alone."""
    return moments(X, weights) if solver in ("covariance", "streaming") else column_moments(X, weights)


def find(
    X: Any,
    weights: NDArray | None,
    M: Moments | ColumnMoments,
    k: int,
    solver: str,
    *,
    standardize: bool,
    proportion: float | None,
    seed: int,
) -> Spectrum:
    """Top ``k`` by the solver; with ``proportion``, components are added until they explain that share."""
    if isinstance(M, Moments):
        return of_moments(M, k, standardize)
    return of_rows(X, weights, M, k, solver, standardize=standardize, proportion=proportion, seed=seed)


def scales(M: Moments | ColumnMoments, variance: NDArray, standardize: bool) -> NDArray:
    """Divisors of the features: standard deviations, with 1 for constant features, or 1 for all."""
    if not standardize:
        return np.ones(len(M.mean))
    constant = variance <= np.square(M.weight * np.finfo(np.float64).eps * M.mean)  # the rounding of the mean
    return np.sqrt(np.where(constant, 1.0, variance))


def of_moments(M: Moments, k: int, standardize: bool) -> Spectrum:
    """Top ``k`` by the covariance matrix."""
    scale = scales(M, M.variance, standardize)
    S = M.scatter / scale
    if standardize:
        S /= scale[:, None]
    total = float(np.trace(S))
    _demand_finite(total)
    pairs = eigh_top(S, min(k, len(S)))
    values = _without_noise(pairs.values, max(len(scale), M.rows) * np.finfo(float).eps)
    return Spectrum(values, pairs.vectors.T, total, scale, M)


def of_rows(
    X: Any,
    weights: NDArray | None,
    M: ColumnMoments,
    k: int,
    solver: str,
    *,
    standardize: bool,
    proportion: float | None,
    seed: int,
) -> Spectrum:
    """Top ``k`` by a solver that needs the rows; ``proportion`` adds components until they explain that share."""
    dtype = float_dtype(X.dtype)
    scale = scales(M, M.variance, standardize)
    Z = Centred(X, M.mean, scale, weights)
    total = float(np.sum(M.variance / scale**2)) * M.weight
    _demand_finite(total)
    noise = float(max(len(scale), M.rows) * np.finfo(np.float64).eps)
    if solver == "gram":
        values, vectors, *_ = eigh_top(Z.gram(), min(k, X.shape[0]))
        # u gives the direction Zᵀu/√λ. They are orthogonal to the rounding of λ₁/λ; where that is large, or λ is 0, QR
        # makes them so.
        directions = Z.pull(vectors)
        if values[-1] > _DISTINCT * values[0]:
            directions /= np.sqrt(values)[:, None]
        else:
            directions = np.linalg.qr(directions.T)[0].T
    elif solver == "svd":
        s, directions = singular(Z.dense(dtype))
        # These are the squares of what was resolved, not what was resolved.
        values, noise = np.square(s.astype(np.float64)), float(max(len(scale), M.rows) * np.finfo(dtype).eps) ** 2
    else:
        values, directions = _krylov(Z, k, total, proportion, seed, 1e-5 if dtype == np.float32 else 1e-8)
        noise *= _PASSES  # each rounds anew
    return Spectrum(_without_noise(values, noise), directions, total, scale, M)


def _krylov(
    Z: Centred, k: int, total: float, proportion: float | None, seed: int, tol: float
) -> tuple[NDArray, NDArray]:
    """Leading eigenpairs of ``ZᵀZ`` by products alone."""
    n, d = Z.X.shape
    product, sparse = Z.scatter_operator(), sp.issparse(Z.X)

    def apply(V: NDArray) -> NDArray:
        return product(V) / (total or 1.0)  # of the order of 1, in any units

    pairs = eigh_top_operator(apply, d, k, seed=seed, tol=tol, sparse=sparse)
    while proportion is not None and k < min(n, d) and pairs.values.sum() < proportion:
        k = min(2 * k, n, d)
        pairs = eigh_top_operator(apply, d, k, seed=seed, tol=tol, start=pairs.vectors, sparse=sparse)
    warn_unless_converged(pairs, "Ask for fewer components, or use an exact solver.")
    return pairs.values * total, pairs.vectors.T


def _without_noise(values: NDArray, noise: float) -> NDArray:
    return np.where(values <= max(values[0], 0.0) * noise, 0.0, values)


def _demand_finite(total: float) -> None:
    if not np.isfinite(total):
        raise ValueError(
            "PCA: variances must fit in float64; the squares of these values overflow. "
            "Multiply X by a constant that brings it near 1."
        )
