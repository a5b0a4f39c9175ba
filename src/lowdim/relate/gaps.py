"""Rows with gaps: values that were observed, and moments of columns and of pairs of columns over them.

A gap is NaN; where ``zeros`` is set, a zero is one too, stored in a sparse matrix or not.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.work import thread_limit
from lowdim.work.blockwise import float_dtype
from lowdim.work.dispatch import operation
from lowdim.work.products import inner, multiply

Doubles = NDArray[np.float64]
_PILOT_ROWS = 64
_BYTES = 2**23  # of a block: products with a mask are narrow, so they need more rows than those of row_blocks


class Frame(NamedTuple):
    """Units of the rows: ``z = (x − shift) / scale`` where observed, 0 in gaps."""

    shift: Doubles
    scale: Doubles
    zeros: bool


class Survey(NamedTuple):
    """What columns hold: weight of the observed values, their mean and variance (d,), and gaps in all.

    ``empty`` is the first row without any value, ``infinite`` the position of the first infinity; None for neither.
    """

    weight: Doubles
    mean: Doubles
    variance: Doubles
    gaps: int
    empty: int | None
    infinite: tuple[int, int] | None


class Block(NamedTuple):
    """Rows of a block: values ``z``, 0 in gaps, a mask m of the observed ones, and ``Σ m`` and ``Σ z²`` of each row."""

    rows: slice
    Z: Any
    M: Any
    counts: Doubles
    squares: Doubles


def kept_sparse(X: Any, zeros: bool) -> bool:
    """Whether blocks of ``X`` stay sparse: its zeros are gaps."""
    return zeros and sp.issparse(X)


def blocks(X: Any, frame: Frame, dtype: np.dtype, size: int = _BYTES) -> Iterator[Block]:
    """Blocks of rows of so many bytes in the units of the frame, of ``dtype``; the next one may overwrite them.

    They are dense, or CSR where the zeros of a sparse matrix are gaps.
    """
    n, d = X.shape
    step = max(1, min(n, size // (dtype.itemsize * d)))
    shift, rate = frame.shift.astype(dtype), (1.0 / frame.scale).astype(dtype)
    if kept_sparse(X, frame.zeros):
        step = max(step, -(-n // 16))
        for start in range(0, n, step):
            yield _sparse_block(X, slice(start, min(n, start + step)), shift, rate)
        return
    Z, M = np.empty((step, d), dtype), np.empty((step, d), dtype)
    for start in range(0, n, step):
        rows = slice(start, min(n, start + step))
        block = X[rows].toarray() if sp.issparse(X) else X[rows]
        block = np.require(block, dtype, ["C", "A"])
        z, m = Z[: len(block)], M[: len(block)]
        found = _native.observed(block, shift, rate, frame.zeros, z, m, n_threads=thread_limit.current())
        yield Block(rows, z, m, *found)


def _sparse_block(X: Any, rows: slice, shift: NDArray, rate: NDArray) -> Block:
    """A block of which only the stored values that are not zero were observed."""
    Z = X[rows].astype(shift.dtype)
    known = (Z.data != 0) & ~np.isnan(Z.data)
    if not known.all():
        Z.data[~known] = 0
        Z.eliminate_zeros()
    places, data = (Z.indices, Z.indptr), (Z.data - shift[Z.indices]) * rate[Z.indices]
    M, Z = (sp.csr_array((values, *places), shape=Z.shape) for values in (np.ones_like(data), data))
    return Block(rows, Z, M, np.diff(places[1]).astype(np.float64), np.asarray(Z.power(2).sum(axis=1), np.float64))


def observed_times(A: Any, B: NDArray) -> NDArray:
    """``A B`` for a block ``A``, dense or CSR."""
    return np.asarray(A @ B) if sp.issparse(A) else multiply(A, B)


def observed_sums(A: Any, B: NDArray) -> NDArray:
    """``Aᵀ B`` for a block ``A``, dense or CSR."""
    return np.asarray(A.T @ B) if sp.issparse(A) else inner(A, B)


@operation
def survey(X: Any, zeros: bool, weights: Doubles | None = None) -> Survey:
    """What the columns of rows with gaps hold, read once.

    >>> found = survey(np.array([[1.0, np.nan], [3.0, 5.0]]), False)
    >>> found.mean, found.gaps, found.empty
    (array([2., 5.]), 1, None)
    """
    n, d = X.shape
    weight, sums, squares = np.zeros((3, d))
    gaps, empty, infinite, nothing = n * d, None, None, np.zeros(d)
    pilot = _pilot(X, zeros)
    frame, dtype = Frame(pilot, np.ones(d), zeros), float_dtype(X.dtype)
    for rows, Z, M, counts, lengths in blocks(X, frame, dtype, _BYTES // 8):
        w = np.ones(len(counts)) if weights is None else weights[rows]
        if sp.issparse(Z):
            weight, sums, squares = weight + M.T @ w, sums + Z.T @ w, squares + Z.power(2).T @ w
        else:
            found = _native.column_sums(Z, nothing, w, n_threads=thread_limit.current())
            sums, squares = sums + found[0], squares + found[1]
            weight += _native.column_sums(M, nothing, w, n_threads=thread_limit.current())[0]
        gaps -= int(counts.sum())
        if empty is None and not counts.all():
            empty = rows.start + int(np.argmin(counts))
        if infinite is None and not np.isfinite(lengths).all():
            infinite = _first_infinity(X, rows)
    divisor = np.where(weight > 0, weight, 1.0)
    step = sums / divisor
    return Survey(weight, pilot + step, np.maximum(squares / divisor - step**2, 0.0), gaps, empty, infinite)


def _pilot(X: Any, zeros: bool) -> Doubles:
    """Mean of some observed values of each column, close enough to the mean that sums do not cancel."""
    some = X[:: max(1, X.shape[0] // _PILOT_ROWS)]
    some = np.asarray(some.toarray() if sp.issparse(some) else some, np.float64)
    known = np.isfinite(some) & ((some != 0) | (not zeros))
    return np.asarray(np.where(known, some, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1))


def _first_infinity(X: Any, rows: slice) -> tuple[int, int] | None:
    """Position of the first infinity among some rows."""
    block = X[rows].toarray() if sp.issparse(X) else X[rows]
    bad = np.argwhere(np.isinf(block))
    return (rows.start + int(bad[0, 0]), int(bad[0, 1])) if len(bad) else None


@operation
def pair_moments(X: Any, frame: Frame, dtype: np.dtype) -> Doubles:
    """``Σ z_i z_j / c_ij`` (d, d) over the rows that have both values of a pair of columns; 0 where none has.

    >>> frame = Frame(np.zeros(2), np.ones(2), False)
    >>> pair_moments(np.array([[1.0, np.nan], [3.0, 5.0]]), frame, np.dtype(float))
    array([[ 5., 15.],
           [15., 25.]])
    """
    d = X.shape[1]
    products, counts, n_threads = np.zeros((d, d)), np.zeros((d, d)), thread_limit.current()
    for block in blocks(X, frame, dtype):
        products += _native.scatter(block.Z, shift=np.zeros(d), n_threads=n_threads)[1]
        counts += _native.scatter(block.M.astype(np.uint8), n_threads=n_threads)[1]
    return np.asarray(products / np.maximum(counts, 1.0))
