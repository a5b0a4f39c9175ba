"""Moments of the rows of a matrix: weight, mean and scatter, in one pass."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.relate.integer_valued import whole_unit
from lowdim.relate.moment_states import ClassMoments, ColumnMoments, Doubles, Moments, less_outer
from lowdim.work import thread_limit
from lowdim.work.blockwise import float_dtype, is_ready, row_blocks
from lowdim.work.dispatch import operation
from lowdim.work.progress import stage

_PILOT_ROWS = 1024
_SAFE = 1e6  # mean² / variance up to which sparse products keep ten digits of the scatter matrix
_LOST = 1e-3  # share of the scatter within classes below which float32 products are not enough


@operation
def moments(X: Any, weights: Doubles | None = None) -> Moments:
    """Moments of the rows of ``X`` (dense of any numeric type and order, or CSR), read once.

    uint8 gives exact sums, and so do floats that are pixels or pixels divided by 255; other float32 is multiplied in
    float32 and summed in float64. NaN and infinity in a column show
    as a mean that is not finite.

    >>> moments(np.array([[0.0, 1.0], [2.0, 1.0]])).mean
    array([1., 1.])
    """
    n = X.shape[0]
    total = float(n if weights is None else weights.sum())
    with stage("moments", total=n) as tick, np.errstate(invalid="ignore", over="ignore"):
        rows = n if weights is None else int(np.count_nonzero(weights))
        if sp.issparse(X) and (M := _sparse_moments(X, weights)) is not None:
            return M
        return _about_mean(*_dense_sums(X, weights, tick)[:3], total, rows)


def _about_mean(sums: Doubles, products: Doubles, shift: Doubles, total: float, rows: int) -> Moments:
    """Moments from sums (1, d) and products about a shift."""
    step = sums[0] / total
    less_outer(products, step, step * total)
    return Moments(total, shift + step, products, rows)


def whole_sums(
    X: NDArray, labels: NDArray[np.int32] | None = None, n_classes: int = 1, tick: Any = None
) -> tuple[Doubles, Doubles]:
    """Sums by class (C, d) and products (d, d) of uint8 or bool: exact integers, which may be summed."""
    X = X.view(np.uint8) if X.dtype == bool else X
    return _native.scatter(X, labels=labels, n_classes=n_classes, n_threads=thread_limit.current(), tick=tick)


def whole_moments(sums: Doubles, products: Doubles, rows: int) -> Moments:
    """Moments of rows from their :func:`whole_sums`, with the bits that :func:`moments` gives."""
    return _about_mean(*_about_whole(sums, products, np.array([rows])), float(rows), rows)


@operation
def class_moments(X: Any, labels: NDArray[np.int32], class_weights: Doubles, *, doubles: bool = False) -> ClassMoments:
    """Moments of the rows of ``X``, dense or CSR, by class, read once; a row of class c counts ``class_weights[c]``.

    ``labels`` are 0 … C − 1. Equal weights keep the exact sums of uint8. Where float32 products would lose the
    scatter within classes beside that between them, the rows are read again in float64; ``doubles`` requests that from
    the start.

    >>> class_moments(np.array([[0.0], [2.0], [5.0]]), np.array([0, 0, 1], np.int32), np.ones(2)).within()
    array([[2.]])
    """
    counts = np.bincount(labels, minlength=len(class_weights)).astype(np.float64)
    if sp.issparse(X) and (sparse := _sparse_class_moments(X, labels, counts, class_weights)) is not None:
        return sparse
    even = np.allclose(class_weights, class_weights[0], rtol=1e-12, atol=0.0)
    weights = None if even else class_weights[labels]
    unit = float(class_weights[0]) if even else 1.0
    totals = counts * class_weights / unit
    with np.errstate(invalid="ignore", over="ignore"):
        for dtype in (np.dtype(np.float64) if doubles else float_dtype(X.dtype), np.dtype(np.float64)):
            with stage("moments of classes", total=X.shape[0]) as tick:
                sums, products, shift, rounded = _dense_sums(X, weights, tick, labels, len(counts), dtype)
            M = _by_class(sums, products, shift, totals, unit)._replace(rounded=rounded)
            if not rounded:
                break
            spread = np.diag(M.scatter)
            if np.all(spread - np.square(M.between()).sum(axis=0) >= _LOST * spread):
                break
    demand_variances(M)
    for c in np.flatnonzero((totals == 0) & (counts > 0)):  # a class of weight 0 still has a mean
        M.means[c] = column_moments(X[labels == c]).mean
    return M


def demand_variances(M: ClassMoments) -> None:
    """Refuse moments whose squares overflow although the means are finite."""
    if np.isfinite(M.means).all() and not np.isfinite(M.scatter).all():
        raise ValueError(
            "moments: variances must fit in float64; the squares of these values overflow. Scale the data."
        )


def _by_class(sums: Doubles, products: Doubles, shift: Doubles, totals: Doubles, unit: float) -> ClassMoments:
    """Moments by class from sums (C, d) and products about a shift; a weight of 1 there counts ``unit``."""
    steps = sums / np.where(totals > 0, totals, 1.0)[:, None]
    step = sums.sum(axis=0) / totals.sum()
    less_outer(products, step, step * totals.sum())
    return ClassMoments(totals * unit, shift + steps, products * unit)


def whole_class_moments(
    sums: Doubles, products: Doubles, counts: NDArray[np.int64], class_weights: Doubles
) -> ClassMoments:
    """Moments by class from :func:`whole_sums`, for equal weights, with the bits that :func:`class_moments` gives."""
    unit = float(class_weights[0])
    return _by_class(*_about_whole(sums, products, counts), counts * class_weights / unit, unit)


def _sparse_class_moments(
    X: Any, labels: NDArray[np.int32], counts: Doubles, class_weights: Doubles
) -> ClassMoments | None:
    """The same from sparse products, or None where means are so large against their spread that they would cancel."""
    M = _sparse_moments(X, class_weights[labels])
    if M is None:
        return None
    n = X.shape[0]
    members = sp.csr_array((np.ones(n), (labels, np.arange(n))), shape=(len(counts), n))
    sums = (members @ X.astype(np.float64)).toarray()
    return ClassMoments(counts * class_weights, sums / np.where(counts > 0, counts, 1.0)[:, None], M.scatter)


def _dense_sums(
    X: NDArray,
    weights: Doubles | None,
    tick: Any,
    labels: NDArray[np.int32] | None = None,
    n_classes: int = 1,
    dtype: np.dtype | None = None,
) -> tuple[Doubles, Doubles, Doubles, bool]:
    """Sums by class (C, d) and products of the rows about a shift, and whether products were rounded to float32.

    The shift is a pilot mean, which keeps float32 from cancelling.
    """
    d = X.shape[1]
    n_threads = thread_limit.current()
    dense = not sp.issparse(X)
    if weights is None and dense and (found := _whole_sums_of(X, labels, n_classes, tick)) is not None:
        sums, products, unit = found
        counts = np.array([len(X)]) if labels is None else np.bincount(labels, minlength=n_classes)
        sums, products, shift = _about_whole(sums, products, counts)
        if unit != 1:
            products /= unit**2
        return sums / unit, products, shift / unit, False
    if X.dtype == bool and dense:
        X = X.view(np.uint8)
    shift = _pilot(X, weights)
    dtype = dtype or float_dtype(X.dtype)
    rounded = dtype == np.float32
    if dense and X.dtype == dtype and X.flags.aligned:
        sums, products = _native.scatter(
            X, shift=shift, labels=labels, n_classes=n_classes, weights=weights, n_threads=n_threads, tick=tick
        )
        return sums, products, shift, rounded
    all_sums, all_products = np.zeros((n_classes, d)), np.zeros((d, d))
    for rows, block in row_blocks(X, dtype):
        w, c = None if weights is None else weights[rows], None if labels is None else labels[rows]
        sums, products = _native.scatter(
            block, shift=shift, labels=c, n_classes=n_classes, weights=w, n_threads=n_threads
        )
        all_sums += sums
        all_products += products
        tick(rows.stop)
    return all_sums, all_products, shift, rounded


def _whole_sums_of(
    X: NDArray, labels: NDArray[np.int32] | None, n_classes: int, tick: Any
) -> tuple[Doubles, Doubles, int] | None:
    """:func:`whole_sums` of pixels in any type, and the number they were divided by; None for other rows."""
    if X.dtype in (np.uint8, bool):
        return *whole_sums(X, labels, n_classes, tick), 1
    unit = whole_unit(X)
    if unit is None:
        return None
    found = _native.scatter_integers(
        X, unit, labels=labels, n_classes=n_classes, n_threads=thread_limit.current(), tick=tick
    )
    return None if found is None else (*found, unit)


def _about_whole(sums: Doubles, products: Doubles, counts: NDArray[np.int64]) -> tuple[Doubles, Doubles, Doubles]:
    """Exact sums and products of integers, shifted to the integers nearest the means: still exact."""
    n, total = int(counts.sum()), sums.sum(axis=0)
    shift = np.rint(total / n)
    less_outer(products, shift, total)
    less_outer(products, total - n * shift, shift)
    return sums - np.outer(counts, shift), products, shift


def _pilot(X: NDArray, weights: Doubles | None) -> Doubles:
    """Mean of some rows of positive weight, close enough to the mean that sums do not cancel; 0 where not finite."""
    some = X[:: max(1, X.shape[0] // _PILOT_ROWS)]  # evenly spaced, since files are often sorted
    if weights is not None and not weights.all():
        counted = np.flatnonzero(weights)
        some = X[counted[:: max(1, len(counted) // _PILOT_ROWS)]]
    mean = np.asarray(some.mean(axis=0, dtype=np.float64)).ravel()
    return np.where(np.isfinite(mean), mean, 0.0)


def _sparse_moments(X: Any, weights: Doubles | None) -> Moments | None:
    """Moments from sparse products, or None where a mean is so large against its spread that it would cancel."""
    total, mean, variance, rows = column_moments(X, weights)
    still = variance == 0
    if not np.all(still | (np.square(mean) <= _SAFE * variance) | ~np.isfinite(mean)):
        return None
    X = X.astype(np.float64)
    scatter = (X.T @ (X if weights is None else sp.diags_array(weights) @ X)).toarray()
    scatter -= np.outer(mean, mean * total)
    scatter[still] = scatter[:, still] = 0.0
    np.fill_diagonal(scatter, variance * total)
    return Moments(total, mean, scatter, rows)


@operation
def cross_scatter(X: NDArray, Y: NDArray, x_mean: Doubles, y_mean: Doubles) -> Doubles:
    """``Σ (x − x_mean)(y − y_mean)ᵀ`` (d, e) over the rows of two dense matrices.

    >>> cross_scatter(np.array([[0.0], [2.0]]), np.array([[1.0], [3.0]]), np.array([1.0]), np.array([2.0]))
    array([[2.]])
    """
    out = np.zeros((X.shape[1], Y.shape[1]))
    for rows, block in row_blocks(X, np.float64, less=x_mean):
        out += block.T @ (Y[rows] - y_mean)
    return out


@operation
def column_moments(X: Any, weights: Doubles | None = None) -> ColumnMoments:
    """Moments of each column alone, for methods that never form the scatter matrix (wide or sparse data)."""
    n, d = X.shape
    w = np.ones(n) if weights is None else np.ascontiguousarray(weights, np.float64)
    total, counted = float(w.sum()), int(np.count_nonzero(w))
    with np.errstate(invalid="ignore", over="ignore"):
        if sp.issparse(X):
            return _sparse_column_moments(X.tocsr(), w, total)._replace(rows=counted)
        sums, squares = np.zeros(d), np.zeros(d)
        pilot, n_threads = _pilot(X, weights), thread_limit.current()
        ready = X.dtype in (np.float32, np.float64) and X.dtype.isnative and is_ready(X)
        for rows, block in [(slice(n), X)] if ready else row_blocks(X, np.float64):
            found = _native.column_sums(block, pilot, w[rows], n_threads=n_threads)
            sums, squares = sums + found[0], squares + found[1]
        mean = sums / total
        return ColumnMoments(total, pilot + mean, np.maximum(squares / total - mean**2, 0.0), counted)


def _sparse_column_moments(X: Any, w: Doubles, total: float) -> ColumnMoments:
    """``Σ w (x − m)²`` over the stored entries, and ``m²`` for the weight of the others: nothing cancels."""
    X = X.copy() if not X.has_canonical_format else X
    X.sum_duplicates()
    d, values = X.shape[1], X.data.astype(np.float64)
    w = np.repeat(w, np.diff(X.indptr))
    stored = np.bincount(X.indices, w, minlength=d)
    mean = np.bincount(X.indices, w * values, minlength=d) / total
    squares = np.bincount(X.indices, w * np.square(values - mean[X.indices]), minlength=d)  # integers of nothing stored
    squares = squares + np.maximum(total - stored, 0.0) * np.square(mean)
    # A full constant column has no variance except the rounding of its mean.
    squares[squares <= total * np.square(4 * np.finfo(float).eps * total * mean)] = 0.0
    return ColumnMoments(total, mean, squares / total)


@operation
def divided_by_deviation(X: Any) -> Any:
    """Columns divided by their standard deviations, constant ones as they are; integers become float32.

    >>> divided_by_deviation(np.array([[0.0, 5.0], [2.0, 5.0]])).std(axis=0).round(6).tolist()
    [1.0, 0.0]
    """
    columns = column_moments(X)
    deviation = np.sqrt(columns.variance)
    deviation[deviation <= 1e-9 * np.abs(columns.mean)] = 1.0
    if sp.issparse(X):
        return (X @ sp.diags_array(1.0 / deviation)).tocsr().astype(float_dtype(X.dtype), copy=False)
    return X / deviation.astype(float_dtype(X.dtype))


@operation
def rows_differ(X: Any, weights: Doubles | None = None) -> bool:
    """Whether two rows of positive weight differ.

    >>> rows_differ(np.array([[0.0], [1.0], [1.0]]), np.array([0.0, 1.0, 1.0]))
    False
    """
    counted = np.ones(X.shape[0], bool) if weights is None else weights > 0
    start = int(np.argmax(counted))
    first = next(row_blocks(X[start : start + 1], np.float64))[1].copy()
    return any(bool(np.any(block[counted[rows]] != first)) for rows, block in row_blocks(X, np.float64))
