"""Kernels ``k(x, y)`` between rows, by blocks: values between two sets, whole Gram matrices, products with them.

Inner products come from BLAS in the precision of the data, those of pixels from bytes, and are transformed in place.
One half of a Gram matrix is computed and the other copied. No array of the size of the data is allocated twice.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from lowdim import _native
from lowdim.relate.integer_valued import Pixels, looks_whole, whole_rows
from lowdim.relate.moments import column_moments
from lowdim.relate.row_norms import squared_norms, unit_rows
from lowdim.work import thread_limit
from lowdim.work.backend_arrays import to_numpy
from lowdim.work.blockwise import float_dtype, row_blocks
from lowdim.work.dispatch import operation
from lowdim.work.products import multiply
from lowdim.work.progress import stage
from lowdim.work.random import stream
from lowdim.work.rows import take, touched

NAMES = ("linear", "rbf", "poly", "sigmoid", "laplacian", "cosine", "precomputed")
_BANDWIDTH = ("rbf", "poly", "sigmoid", "laplacian")  # kernels with a gamma
_STRIP = 1024  # rows of a Gram matrix computed at a time
TILE = 4096  # side of the tiles of products without a stored matrix
_STRIP_BYTES = 2**26  # of kernel values between new rows and old ones
_SAMPLE = 1000  # rows whose pairs give the median distance
_OF_ROWS = "For a function of two single rows pass lambda A, B: np.array([[f(a, b) for b in B] for a in A])."
_PILOT = 1024  # rows whose mean is close enough to that of all


def resolve_gamma(X: Any, gamma: float | str, seed: int) -> float:
    """Numeric value of ``gamma``: itself, ``"scale"`` or ``"median"``; 1 where the data do not vary.

    >>> resolve_gamma(np.array([[0.0, 0.0], [2.0, 2.0]]), "scale", seed=0)
    0.5
    >>> resolve_gamma(np.array([[0.0], [1.0], [2.0]]), "median", seed=0)
    0.5
    """
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "scale":  # 1 / (d Var X), the variance of all entries
        M = column_moments(X)
        spread = X.shape[1] * (float(M.variance.mean()) + float(M.mean.var()))
    else:  # 1 / (2 m²)
        chosen = np.arange(X.shape[0])
        if len(chosen) > _SAMPLE:
            chosen = np.sort(stream(seed, "median distance").choice(len(chosen), _SAMPLE, replace=False))
        rows = X[chosen].toarray() if sp.issparse(X) else to_numpy(take(X, chosen))
        apart = pdist(rows.astype(np.float64))
        apart = apart[apart > 0]  # where most rows coincide the median would be 0, so pairs of equal rows are left out
        spread = 2 * float(np.median(apart)) ** 2 if len(apart) else 0.0
    return 1.0 / spread if spread > 0 else 1.0


@dataclass(frozen=True)
class KernelRows:
    """Rows in the form that a kernel reads: C-ordered floats or CSR, with squared norms where the kernel needs them.

    Where ``pixels`` is given, ``X`` are bytes, a quarter of the floats or less; :meth:`floats` are made on demand.
    """

    X: Any
    norms: NDArray | None = None
    pixels: Pixels | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def __getitem__(self, chosen: Any) -> "KernelRows":
        some = partial(take, ids=chosen) if isinstance(chosen, np.ndarray) else itemgetter(chosen)
        return replace(self, X=some(self.X), norms=None if self.norms is None else some(self.norms))

    @property
    def dtype(self) -> Any:
        """Type of the floats, and of the kernel's values."""
        return self.X.dtype if self.pixels is None else self.pixels.dtype

    def floats(self) -> Any:
        """The rows as floats, less the shift: a new array if they are stored as bytes."""
        return self.X if self.pixels is None else self.pixels.floats(self.X)


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters: one of ``NAMES``, or a function of two blocks of rows.

    >>> kernel = Kernel("poly", gamma=1.0, degree=2, coef0=0.0)
    >>> kernel.gram(kernel.rows(np.array([[1.0, 0.0], [1.0, 2.0]])))
    array([[ 1.,  1.],
           [ 1., 25.]])
    """

    name: str | Callable[[Any, Any], Any]
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 1.0

    @property
    def has_gamma(self) -> bool:
        """Whether the kernel uses ``gamma``."""
        return self.name in _BANDWIDTH

    @property
    def positive(self) -> bool:
        """Whether no Gram matrix has negative eigenvalues."""
        return self.name in ("linear", "rbf", "laplacian", "cosine") or (self.name == "poly" and self.coef0 >= 0)

    @operation(on=1)
    def shift(self, X: Any) -> NDArray | None:
        """Row to subtract from all rows before they are multiplied, so that float32 does not cancel; None for none.

        It changes no distance, and no inner product once the Gram matrix is centred.
        """
        if self.name not in ("rbf", "linear") or sp.issparse(X):
            return None
        return X[:: max(1, len(X) // _PILOT)].mean(axis=0, dtype=np.float64).astype(float_dtype(X.dtype))

    @operation(on=1)
    def rows(self, X: Any, shift: NDArray | None = None, dtype: Any = None) -> KernelRows:
        """``X`` as floats, less ``shift``, of norm 1 for the cosine; as bytes where that is faster."""
        dtype = np.dtype(dtype or float_dtype(X.dtype))
        whole = whole_rows(X) if self._reads_bytes and dtype == float_dtype(X.dtype) else None
        if whole is not None:
            return KernelRows(whole.numbers, pixels=Pixels(whole.unit, shift, dtype))
        if not sp.issparse(X):
            X = np.ascontiguousarray(X, dtype) if shift is None else np.subtract(X, shift, dtype=dtype, order="C")
        else:
            X = X.tocsr().astype(dtype, copy=False)
        if self.name == "cosine":
            X = unit_rows(X)
        return self.as_rows(X)

    @property
    def _reads_bytes(self) -> bool:
        return self.name == "rbf" and _native.multiplies_bytes()

    def packs(self, X: Any) -> bool:
        """Whether :meth:`rows` will be bytes, as far as a sample tells."""
        return self._reads_bytes and looks_whole(X)

    @operation(on=1)
    def as_rows(self, X: Any) -> KernelRows:
        """Rows that :meth:`rows` made before, from their floats."""
        return KernelRows(X, squared_norms(X) if self.name == "rbf" else None)

    @operation(on=1)
    def diagonal(self, A: KernelRows) -> NDArray[np.float64]:
        """``k(x, x)`` of each row."""
        if self.name in ("rbf", "laplacian"):
            return np.ones(len(A))
        if self.name == "precomputed":
            return np.diagonal(A.X).astype(np.float64)
        if callable(self.name):
            return np.array([float(self.block(A[i : i + 1], A[i : i + 1])[0, 0]) for i in range(len(A))])
        values = squared_norms(A.X).astype(np.float64)[:, None]
        self._finish(values, A, A)
        return values[:, 0]

    @operation(on=1)
    def block(self, A: KernelRows, B: KernelRows, out: NDArray | None = None) -> NDArray:
        """Values (m, n) between the rows of ``A`` and those of ``B``, into ``out`` where given.

        Precomputed rows are their own values, whatever ``B``.
        """
        if self.name == "precomputed":
            return A.X
        out = np.empty((len(A), len(B)), A.dtype) if out is None else out
        if A.pixels is not None and B.pixels is not None and A.pixels.unit == B.pixels.unit:
            _native.integer_gaussian(A.X, B.X, out, self.gamma / A.pixels.unit**2, n_threads=thread_limit.current())
            return out
        A, B = (R if R.pixels is None else self.as_rows(R.floats()) for R in (A, B))
        if callable(self.name):
            np.copyto(out, _called(self.name, A.X, B.X), casting="same_kind")
        elif self.name == "laplacian":
            city_block(A.X, B.X, out)
        elif sp.issparse(A.X):
            out[...] = (B.X @ np.ascontiguousarray(A.X.toarray().T)).T
        else:
            multiply(A.X, B.X.T, out=out)
        self._finish(out, A, B)
        return out

    def _finish(self, G: NDArray, A: KernelRows, B: KernelRows) -> None:
        """Turn inner products (for the Laplacian: distances) into values of the kernel, in place."""
        if self.name == "rbf":
            a, b = np.asarray(A.norms), np.asarray(B.norms)
            _native.gaussian(G, a, b, self.gamma, n_threads=thread_limit.current())
        elif self.name == "laplacian":
            G *= -self.gamma
            np.exp(G, out=G)
        elif self.name in ("poly", "sigmoid"):
            G *= self.gamma
            G += self.coef0
            if self.name == "sigmoid":
                np.tanh(G, out=G)
            else:
                _raise_to(G, self.degree)

    @operation(on=1)
    def gram(self, A: KernelRows) -> NDArray:
        """Symmetric Gram matrix (n, n) of ``A``, a new array in the precision of the rows."""
        n = len(A)
        if self.name == "precomputed":
            return A.X.copy()
        K = touched((n, n), A.dtype)
        with stage("kernel matrix", total=n) as tick:
            for start in range(0, n, self._strip(A)):
                stop = min(n, start + self._strip(A))
                self.block(A[start:stop], A[:stop], out=K[start:stop, :stop])
                _native.mirror(K, start, stop, n_threads=thread_limit.current())
                tick(stop)
        return K

    @operation(on=1)
    def product(self, A: KernelRows, V: NDArray) -> NDArray[np.float64]:
        """``K V`` (n, b) for the Gram matrix ``K`` of ``A``, whose tiles are computed on the fly, one half of them."""
        n, dtype = len(A), A.dtype
        if self.name == "precomputed":
            return A.X @ V.astype(dtype)
        out, V = np.zeros((n, V.shape[1])), np.ascontiguousarray(V, dtype)
        step = min(TILE, self._strip(A)) if sp.issparse(A.X) else TILE
        buffer = np.empty((min(n, step), min(n, step)), dtype)
        tiles = [(i, j) for i in range(0, n, step) for j in range(0, i + 1, step)]
        with stage("kernel blocks", total=len(tiles)) as tick:
            for done, (i, j) in enumerate(tiles):
                a, b = slice(i, min(n, i + step)), slice(j, min(n, j + step))
                K = self.block(A[a], A[b], out=buffer[: a.stop - i, : b.stop - j])
                out[a] += multiply(K, V[b])
                if i != j:
                    out[b] += multiply(K.T, V[a])
                tick(done + 1)
        return out

    @operation(on=1)
    def project(self, A: KernelRows, B: KernelRows, W: NDArray) -> NDArray:
        """``K(A, B) W`` (m, k), with ``K`` computed in blocks of rows."""
        out = np.empty((len(A), W.shape[1]), A.dtype)
        step = max(16, _STRIP_BYTES // (A.dtype.itemsize * max(1, len(B), A.X.shape[1])))
        with stage("kernel rows", total=len(A)) as tick:
            for start in range(0, len(A), step):
                rows = slice(start, min(len(A), start + step))
                multiply(self.block(A[rows], B), W, out=out[rows])
                tick(rows.stop)
        return out

    def _strip(self, A: KernelRows) -> int:
        """Rows of ``A`` per block; fewer for wide sparse rows, since a block is densified."""
        wide = _STRIP_BYTES // (A.X.dtype.itemsize * max(1, A.X.shape[1])) if sp.issparse(A.X) else _STRIP
        return max(16, min(_STRIP, wide))


def _raise_to(G: NDArray, degree: int) -> None:
    """``G ** degree`` in place by multiplications, since NumPy's power calls a function for each entry."""
    base = G.copy()
    for bit in bin(degree)[3:]:
        G *= G
        if bit == "1":
            G *= base


def city_block(A: Any, B: Any, out: NDArray) -> None:
    """Distances ``Σ |a − b|`` into ``out``; sparse rows are densified a block at a time."""
    if sp.issparse(A):
        A = A.toarray()
    for rows, block in row_blocks(B, A.dtype):
        _native.manhattan(A, block, out[:, rows], n_threads=thread_limit.current())


def _not_of_blocks(shape: tuple[int, int], came: str, instead: str) -> str:
    return (
        f"kernel: a function must take blocks of {shape[0]} and {shape[1]} rows and return finite numbers of shape "
        f"{shape}; got {came}. {instead}"
    )


def _called(function: Callable[[Any, Any], Any], A: Any, B: Any) -> NDArray:
    """Result of a user's function, validated."""
    shape = (A.shape[0], B.shape[0])
    try:
        K = function(A, B)
    except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError) as error:
        raise ValueError(_not_of_blocks(shape, f"{type(error).__name__} ({error})", _OF_ROWS)) from error
    if sp.issparse(K):
        raise ValueError(_not_of_blocks(shape, f"a sparse {type(K).__name__}", "Return its .toarray()."))
    K = np.asarray(K)
    if K.shape != shape:
        raise ValueError(_not_of_blocks(shape, f"shape {K.shape}", _OF_ROWS))
    if K.dtype.kind not in "fiub":
        raise ValueError(_not_of_blocks(shape, f"type {K.dtype}", "Return real numbers."))
    if not np.isfinite(K).all():
        raise ValueError(_not_of_blocks(shape, "NaN or infinity", "Scale the data, or correct the function."))
    return K.astype(A.dtype, copy=False)


@operation(on=1)
def demand_kernel_function(function: Callable[[Any, Any], Any], X: Any) -> None:
    """Try ``function`` on a few rows of ``X`` and refuse it unless it returns blocks and is symmetric."""
    A = X[:4]
    K, L = _called(function, A, X[:3]), _called(function, X[:3], A)
    if not np.allclose(K, L.T, rtol=1e-4, atol=1e-6 * float(np.abs(K).max())):
        raise ValueError(
            "kernel: a function must be symmetric, k(a, b) = k(b, a); got "
            f"{K[1, 0]:g} for rows 1, 0 and {L[0, 1]:g} for rows 0, 1. Pass (k(a, b) + k(b, a)) / 2, for example."
        )


@operation
def demand_gram(K: Any, name: str) -> None:
    """Refuse a precomputed matrix that is not square and symmetric, to the rounding of its precision."""
    n, m = K.shape
    if n != m:
        raise ValueError(
            f"{name}: kernel='precomputed' needs a square matrix (n_samples, n_samples); got {K.shape}. "
            "Pass the kernel between all pairs of training rows."
        )
    largest = 0.0
    for start in range(0, n, _STRIP):
        stop = min(n, start + _STRIP)
        apart = np.abs(K[start:stop, :stop] - K[:stop, start:stop].T.astype(float_dtype(K.dtype)))
        largest = max(largest, float(np.abs(K[start:stop]).max()))
        worst = float(apart.max())
        if worst > 1e3 * float(np.finfo(float_dtype(K.dtype)).eps) * largest:
            i, j = np.unravel_index(int(apart.argmax()), apart.shape)
            raise ValueError(
                f"{name}: kernel='precomputed' needs a symmetric matrix; got K[{start + i}, {j}] = "
                f"{K[start + i, j]:g} and K[{j}, {start + i}] = {K[j, start + i]:g}, {worst:.3g} apart. "
                "Pass (K + K.T) / 2 if the difference means nothing."
            )
