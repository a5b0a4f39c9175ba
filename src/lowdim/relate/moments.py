"""Moments of the rows of a matrix: weight, mean and scatter, in one pass and mergeable.

The state is what ``partial_fit``, streaming from a file and a tree of partial results all share (Chan, Golub and
LeVeque 1983): ``S = S_a + S_b + (w_a w_b / w) (m_a − m_b)(m_a − m_b)ᵀ``.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.work import jobs
from lowdim.work.blocks import float_dtype, row_blocks
from lowdim.work.progress import stage

Doubles = NDArray[np.float64]
_PILOT_ROWS = 1024


class Moments(NamedTuple):
    """Total weight, mean (d,) and scatter ``Σ w (x − mean)(x − mean)ᵀ`` (d, d), all float64."""

    weight: float
    mean: Doubles
    scatter: Doubles

    def merge(self, other: "Moments") -> "Moments":
        """Moments of both sets of rows together."""
        weight = self.weight + other.weight
        if weight == 0:
            return self
        step = other.mean - self.mean
        scatter = self.scatter + other.scatter
        scatter += np.outer(step, step * (self.weight * other.weight / weight))
        return Moments(weight, self.mean + step * (other.weight / weight), scatter)


def moments(X: Any, weights: Doubles | None = None) -> Moments:
    """Moments of the rows of ``X`` (dense of any numeric type and order, or CSR), read once.

    uint8 gives exact sums; float32 is multiplied in float32 and summed in float64. NaN and infinity in a column show
    as a mean that is not finite.

    >>> moments(np.array([[0.0, 1.0], [2.0, 1.0]])).mean
    array([1., 1.])
    """
    n, d = X.shape
    total = float(n if weights is None else weights.sum())
    with stage("moments", total=n) as tick, np.errstate(invalid="ignore", over="ignore"):
        if sp.issparse(X):
            sums, products, shift = *_sparse_sums(X, weights), np.zeros(d)
        else:
            sums, products, shift = _dense_sums(X, weights, tick)
        step = sums / total
        products -= np.outer(step, step * total)
        return Moments(total, shift + step, products)


def _dense_sums(X: NDArray, weights: Doubles | None, tick: Any) -> tuple[Doubles, Doubles, Doubles]:
    """Sums and products of the rows about a pilot mean, which keeps float32 from cancelling, and that mean."""
    d = X.shape[1]
    if X.dtype == bool:
        X = X.view(np.uint8)
    if X.dtype == np.uint8 and weights is None:
        sums, products = _native.scatter(X, n_threads=jobs.current(), tick=tick)
        return sums[0], products, np.zeros(d)
    shift = _pilot(X)
    dtype = float_dtype(X.dtype)
    if X.dtype == dtype and X.flags.aligned:
        sums, products = _native.scatter(X, shift=shift, weights=weights, n_threads=jobs.current(), tick=tick)
        return sums[0], products, shift
    all_sums, all_products = np.zeros(d), np.zeros((d, d))
    for rows, block in row_blocks(X, dtype):
        w = None if weights is None else weights[rows]
        sums, products = _native.scatter(block, shift=shift, weights=w, n_threads=jobs.current())
        all_sums += sums[0]
        all_products += products
        tick(rows.stop)
    return all_sums, all_products, shift


def _pilot(X: NDArray) -> Doubles:
    """Mean of the first rows, near enough to the mean that sums about it do not cancel; 0 where not finite."""
    mean = X[:_PILOT_ROWS].mean(axis=0, dtype=np.float64)
    return np.where(np.isfinite(mean), mean, 0.0)


def _sparse_sums(X: Any, weights: Doubles | None) -> tuple[Doubles, Doubles]:
    X = X.astype(np.float64)
    weighted = X if weights is None else sp.diags_array(weights) @ X
    return np.asarray(weighted.sum(axis=0)).ravel(), (X.T @ weighted).toarray()


class ColumnMoments(NamedTuple):
    """Total weight, mean (d,) and variance (d,) with divisor n of each column."""

    weight: float
    mean: Doubles
    variance: Doubles


def column_moments(X: Any, weights: Doubles | None = None) -> ColumnMoments:
    """Moments of each column alone, for methods that never form the scatter (wide or sparse data)."""
    n, d = X.shape
    w = np.ones(n) if weights is None else weights
    total = float(w.sum())
    with np.errstate(invalid="ignore", over="ignore"):
        if sp.issparse(X):
            mean = (X.T @ w) / total
            square = (X.multiply(X).T @ w) / total
            return ColumnMoments(total, mean, np.maximum(square - mean**2, 0.0))
        sums, squares = np.zeros(d), np.zeros(d)
        pilot = _pilot(X)
        for rows, centred in row_blocks(X, np.float64, less=pilot):
            sums += w[rows] @ centred
            squares += w[rows] @ np.square(centred)
        mean = sums / total
        return ColumnMoments(total, pilot + mean, np.maximum(squares / total - mean**2, 0.0))
