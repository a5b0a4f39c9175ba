"""Initial layouts of a map for a descent: PCA scores, eigenvectors of the affinities, random, or given."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.compose import arrangement, spectrum
from lowdim.solve.signs import signs
from lowdim.work import thread_limit
from lowdim.work.backend_arrays import from_numpy, to_numpy
from lowdim.work.blockwise import float_dtype, row_blocks
from lowdim.work.dispatch import operation
from lowdim.work.progress import stage
from lowdim.work.random import stream

SIZE = 1e-4  # standard deviation of the widest coordinate: small relative to the width of the falloff
_TILT = 1e-3  # of a principal axis, in its own length
CONTINUED = 1e-3  # noise of rows laid out among known ones, in the extent of these
TURNS = 25  # of their means
NOISE = 1e-2  # relative to that, along directions without variance, so that the map does not stay on a line

_Smoothest = tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]


class Axes(NamedTuple):
    """Mean (d,) of rows, and their leading principal axes (k, d); those without variance are 0."""

    mean: NDArray[np.float64]
    axes: NDArray[np.float64]


def principal_axes(X: Any, k: int, seed: int) -> Axes:
    """Leading principal axes; BLAS uses one thread, so that the bits do not depend on their number."""
    few = min(k, *X.shape)
    with thread_limit.alone():
        solver = spectrum.choose(X, few)
        M = spectrum.measure(X, None, solver)
        found = spectrum.find(X, None, M, few, solver, standardize=False, proportion=None, seed=seed)
    V = found.vectors[:few] * signs(found.vectors[:few])[:, None]
    V[found.values[:few] <= 0] = 0  # a direction of rounding errors only
    return Axes(found.moments.mean, V)


@operation
def scores(X: Any, by: Axes) -> NDArray[np.float64]:
    """Scores (n, k) of rows along the axes, with the same bits for any number of threads."""
    Y = np.empty((X.shape[0], len(by.axes)))
    with thread_limit.alone():
        if sp.issparse(X):
            Y[:] = X @ by.axes.T - by.mean @ by.axes.T
        else:
            for rows, block in row_blocks(X, float_dtype(X.dtype), less=by.mean):
                Y[rows] = block @ by.axes.T
    return Y


@operation
def scores_of_new(X: Any, by: Axes) -> NDArray[np.float64]:
    """The same of new rows, each as if it were alone: BLAS sums by how many rows it is given."""
    if sp.issparse(X):
        return np.asarray(X @ by.axes.T - by.mean @ by.axes.T)
    return np.einsum("ij,kj->ik", X - by.mean, by.axes, optimize=False)


@operation
def widened(Y: NDArray, width: float) -> NDArray:
    """The layout scaled so that its widest coordinate spans ``width``.

    >>> widened(np.array([[0.0, 0.0], [1.0, 2.0]]), 10.0)
    array([[ 0.,  0.],
           [ 5., 10.]])
    """
    extent = float(np.ptp(Y, axis=0).max())
    return Y * (width / extent) if extent > 0 else Y


def tilted(V: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Axes (k, d) turned a little towards random directions; those that are 0 stay so.

    Rows that differ can have equal scores, as the vertices of a simplex do, and would then share their place for good.
    """
    noise = stream(seed, "tilt").standard_normal(V.shape) * (_TILT / np.sqrt(V.shape[1]))
    return np.where(V.any(axis=1, keepdims=True), V + noise, 0.0)


@operation
def by_pca(X: Any, k: int, seed: int) -> NDArray[np.float64]:
    """Initial layout (n, k) by the leading principal components."""
    Y = np.zeros((X.shape[0], k))
    by = principal_axes(X, k, seed)
    found = scores(X, Axes(by.mean, tilted(by.axes, seed)))
    Y[:, : found.shape[1]] = found
    return _sized(Y, seed)


def components(X: Any, k: int, seed: int) -> Any:
    """Scores (n, k) of the leading principal components, 0 beyond those that the rows have."""
    found = scores(X, principal_axes(X, k, seed))
    if found.shape[1] == k:
        return found
    return from_numpy(np.pad(to_numpy(found), ((0, 0), (0, k - found.shape[1]))), found)


@operation
def by_spectrum(
    P: tuple[NDArray, NDArray, NDArray], k: int, seed: int, X: Any = None, *, unit: bool = False
) -> NDArray[np.float64]:
    """Smoothest coordinates (n, k) of the graph, about those of :mod:`lowdim.compose.spectral_map`.

    A graph of more than some hundred rows is solved after the graph of groups of its rows, by polynomials of a fixed
    degree: descents that begin there reach the same losses as from eigenvectors to many digits.

    The components of a graph that is not connected are laid out separately, on areas proportional to their numbers of
    rows: arranged by the distances between their means in the rows ``X`` (at length 1 if ``unit``), or without rows
    from the largest in the middle outwards.
    """
    found = _smoothest(P, k)
    part = found[0].astype(np.intp)
    sizes = np.bincount(part)
    if len(sizes) == 1:
        return _sized(_extended(found), seed)
    share, Y = sizes / len(part), _extended(found)
    rows, ends = np.argsort(part, kind="stable"), np.cumsum(sizes)
    for c in np.flatnonzero(sizes <= k + 1).tolist():
        Y[rows[ends[c] - sizes[c] : ends[c]]] = stream(seed, "part", c).standard_normal((sizes[c], k))
    radius = np.sqrt(share) if k > 1 else share / 4
    Y = _each_sized(Y, part, sizes, seed) * (radius / (2 * SIZE))[part][:, None]
    means = None if X is None else arrangement.means_of(X, part, sizes, unit=unit)
    return _sized(Y + arrangement.centres(sizes, k, seed, means)[part], seed)


@operation
def continued(P: Any, Y: NDArray, known: NDArray, seed: int) -> NDArray[np.float64]:
    """The layout ``Y`` (n, k) with rows that are not ``known`` (n,) among their neighbours in the graph ``P``.

    Each is moved to the weighted mean of its neighbours, again and again, which brings those with neighbours among each
    other together; a little noise keeps them apart.
    """
    indptr, indices, values = P
    n, (free,) = len(indptr) - 1, np.nonzero(~known)
    if not len(free):
        return Y.astype(np.float64)
    S = sp.csr_array((values.astype(np.float64), indices, indptr), shape=(n, n))[free]
    totals = np.asarray(S.sum(axis=1)).ravel()
    S = sp.csr_array(sp.diags_array(1 / np.where(totals > 0, totals, 1.0)) @ S)
    Y = np.where(known[:, None], Y, Y[known].mean(axis=0)).astype(np.float64)
    for _ in range(TURNS):
        Y[free] = np.where((totals > 0)[:, None], S @ Y, Y[free])
    extent = float(Y[known].std(axis=0).max()) or 1.0
    Y[free] += CONTINUED * extent * stream(seed, "continued layout").standard_normal((n, Y.shape[1]))[free]
    return Y


def eigenvectors(V: sp.csr_array, k: int) -> NDArray[np.float64]:
    """Smoothest coordinates (n, k) of a connected graph, each of its extent; 0 where it has too few rows for them."""
    return _extended(_smoothest((V.indptr, V.indices, V.data), k))


def _smoothest(P: tuple[NDArray, NDArray, NDArray], k: int) -> _Smoothest:
    """Component (n,) of each row, its smoothest coordinates (n, k) in it, and their eigenvalues (C, k)."""
    indptr, indices, values = P
    most = float(values.max(initial=0.0))
    if most > 0 and not 1e-6 < most < 1e6:
        values = values / most  # sums are in float32
    starts, columns = np.ascontiguousarray(indptr, np.int64), np.ascontiguousarray(indices, np.int32)
    values = np.ascontiguousarray(values, np.float32)
    with stage("eigenvectors"):
        return _native.smoothest(starts, columns, values, k, n_threads=thread_limit.current())


def _extended(found: _Smoothest) -> NDArray[np.float64]:
    """Coordinates (n, k), each of its extent."""
    part, Y, values = found
    return Y * extents(np.maximum.accumulate(values, axis=1))[part]  # coordinates that few rows lack are 0


def extents(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Extents (…, k) of the smoothest coordinates with these ascending eigenvalues (…, k), relative to the first.

    Coordinates beyond the first may repeat it: on a strip they are harmonics of its length, with eigenvalues j² λ₁.
    With equal extents a strip would begin bent to a horseshoe, which descents do not straighten; extents λ₁/λ_j begin
    with its length. They are at least 1/j², because weak edges between clusters make λ₁ arbitrarily small.

    >>> extents(np.array([0.01, 0.02, 0.01 * 9])).round(3), extents(np.array([1e-9, 0.1]))
    (array([1.   , 0.5  , 0.111]), array([1.  , 0.25]))
    """
    least = np.square(1.0 / np.arange(1, values.shape[-1] + 1))
    values = np.maximum(values, np.finfo(float).tiny)
    return np.maximum(values[..., :1] / values, least)


def by_chance(n: int, k: int, seed: int) -> NDArray[np.float64]:
    """Random initial layout (n, k), normally distributed."""
    return _sized(stream(seed, "layout").standard_normal((n, k)), seed)


def given(Y: Any, shape: tuple[int, int], name: str) -> NDArray[np.float64]:
    """Validated layout (n, k) given by the user, scaled like the others."""
    try:
        Y = np.asarray(to_numpy(Y))
        if Y.dtype.kind == "c":
            raise TypeError("complex ones")
        Y = Y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name}: init must be an array of numbers; got {type(Y).__name__} ({error}). Pass one."
        ) from None
    if Y.shape != shape or not np.isfinite(Y).all():
        what = f"an array of shape {Y.shape}" if Y.shape != shape else "NaN or infinity in it"
        raise ValueError(
            f"{name}: init must be finite, of shape (n_samples, n_components) = {shape}; got {what}. "
            "Pass one row for each row of X, or init='pca'."
        )
    return _sized(Y, 0)


def _each_sized(Y: NDArray[np.float64], part: NDArray, sizes: NDArray, seed: int) -> NDArray[np.float64]:
    """The layout with each part centred and scaled as :func:`_sized` does with all rows; single rows are at 0."""

    def mean(Z: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.stack([np.bincount(part, column) for column in Z.T], axis=1) / sizes[:, None]

    Y = Y - mean(Y)[part]
    spread = np.sqrt(mean(np.square(Y)))
    widest = spread.max(axis=1, keepdims=True)
    Y *= (SIZE / np.where(widest > 0, widest, SIZE))[part]
    flat = (spread <= 1e-6 * widest) & (widest > 0)
    for c in np.flatnonzero(flat.any(axis=1) & ~flat.all(axis=1)):
        noise = stream(seed, "flat layout").standard_normal((sizes[c], flat[c].sum()))
        Y[np.ix_(part == c, flat[c])] = SIZE * NOISE * noise
    return Y


def _sized(Y: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Centred layout, scaled as a whole, with a little noise where it has no extent."""
    Y = Y - Y.mean(axis=0)
    spread = Y.std(axis=0)
    Y *= SIZE / spread.max() if spread.max() > 0 else 1.0
    flat = np.flatnonzero(spread <= 1e-6 * spread.max())
    if len(flat) and len(flat) < Y.shape[1]:
        Y[:, flat] = SIZE * NOISE * stream(seed, "flat layout").standard_normal((len(Y), len(flat)))
    return Y
