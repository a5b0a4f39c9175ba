"""Moments of tensors, in float64 on their device: products and sums in float64, a block of rows at a time."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lowdim.backends import TORCH
from lowdim.relate import moments as numpy_moments
from lowdim.relate.moment_states import ClassMoments, ColumnMoments, Moments
from lowdim.relate.moments import demand_variances
from lowdim.work.blockwise import float_dtype
from lowdim.work.progress import stage

_BLOCK = 2**23  # values taken at a time


def row_blocks(X: Any, mean: Any, width: int = 1) -> Iterator[tuple[slice, Any]]:
    """Yield (rows, ``X[rows] − mean``) in float64, a few million values at a time; ``width`` as in NumPy's."""
    step = max(1, _BLOCK // max(1, X.shape[1], width))
    for start in range(0, len(X), step):
        rows = slice(start, min(len(X), start + step))
        yield rows, X[rows].double() - mean


def doubles(A: Any, like: Any) -> Any:
    """An array as a float64 tensor on the device of ``like``."""
    return torch.as_tensor(A, dtype=torch.float64, device=like.device)


@TORCH.implements(numpy_moments.moments)
def moments(X: Any, weights: NDArray | None = None) -> Moments:
    """Moments of the rows, in two passes."""
    n, d = X.shape
    w = None if weights is None else doubles(weights, X)
    total, mean = _mean(X, w)
    scatter = torch.zeros(d, d, dtype=torch.float64, device=X.device)
    with stage("moments", total=n) as tick:
        for rows, apart in row_blocks(X, mean):
            scatter.addmm_((apart if w is None else apart * w[rows, None]).T, apart)
            tick(rows.stop)
    return Moments(total, mean.cpu().numpy(), scatter.cpu().numpy(), _counted(n, weights))


@TORCH.implements(numpy_moments.column_moments)
def column_moments(X: Any, weights: NDArray | None = None) -> ColumnMoments:
    """Weight, mean and variance of each column, in two passes, which cost little here."""
    w = None if weights is None else doubles(weights, X)
    total, mean = _mean(X, w)
    variance = torch.zeros_like(mean)
    for rows, apart in row_blocks(X, mean):
        squares = apart.square_()
        variance += squares.sum(0) if w is None else w[rows] @ squares
    return ColumnMoments(total, mean.cpu().numpy(), (variance / total).cpu().numpy(), _counted(len(X), weights))


@TORCH.implements(numpy_moments.class_moments)
def class_moments(X: Any, labels: NDArray, class_weights: NDArray, *, doubles: bool = False) -> ClassMoments:  # noqa: ARG001
    """Moments of the rows by class; a row of class c has the weight ``class_weights[c]``."""
    (n, d), n_classes, there = X.shape, len(class_weights), {"dtype": torch.float64, "device": X.device}
    codes = torch.as_tensor(labels, device=X.device).long()
    w = torch.as_tensor(class_weights, **there)
    mean = _mean(X, None)[1]
    sums, products = torch.zeros(n_classes, d, **there), torch.zeros(d, d, **there)
    with stage("moments of classes", total=n) as tick:
        for rows, apart in row_blocks(X, mean, width=n_classes):
            sums += torch.nn.functional.one_hot(codes[rows], n_classes).double().T @ apart
            products.addmm_((apart * w[codes[rows], None]).T, apart)
            tick(rows.stop)
    counts = np.bincount(labels, minlength=n_classes).astype(np.float64)
    steps = sums.cpu().numpy() / np.maximum(counts, 1.0)[:, None]
    totals = counts * class_weights
    step = totals @ steps / totals.sum()
    scatter = products.cpu().numpy() - np.outer(step, step * totals.sum())
    M = ClassMoments(totals, mean.cpu().numpy() + steps, scatter)
    demand_variances(M)
    return M


@TORCH.implements(numpy_moments.cross_scatter)
def cross_scatter(X: Any, Y: Any, x_mean: NDArray, y_mean: NDArray) -> NDArray:
    """``Σ (x − x_mean)(y − y_mean)ᵀ`` (d, e) over the rows of two tensors."""
    out = torch.zeros(X.shape[1], Y.shape[1], dtype=torch.float64, device=X.device)
    for rows, apart in row_blocks(X, doubles(x_mean, X), width=Y.shape[1]):
        out.addmm_(apart.T, Y[rows].double() - doubles(y_mean, X))
    return np.asarray(out.cpu().numpy())


@TORCH.implements(numpy_moments.divided_by_deviation)
def divided_by_deviation(X: Any) -> Any:
    """Columns divided by their standard deviations, constant ones as they are."""
    columns = column_moments(X)
    deviation = np.sqrt(columns.variance)
    deviation[deviation <= 1e-9 * np.abs(columns.mean)] = 1.0
    wide = torch.float64 if float_dtype(X.dtype) == np.float64 else torch.float32
    return X.to(wide) / torch.as_tensor(deviation, dtype=wide, device=X.device)


@TORCH.implements(numpy_moments.rows_differ)
def rows_differ(X: Any, weights: NDArray | None = None) -> bool:
    """Whether two rows of positive weight differ."""
    counted = X if weights is None else X[torch.as_tensor(weights > 0, device=X.device)]
    return bool((counted != counted[:1]).any())


def _mean(X: Any, w: Any) -> tuple[float, Any]:
    """Total weight, and the mean (d,)."""
    if w is None:
        return float(len(X)), X.sum(0, dtype=torch.float64) / len(X)
    total = float(w.sum())
    sums = torch.zeros(X.shape[1], dtype=torch.float64, device=X.device)
    for rows, block in row_blocks(X, 0.0):
        sums += w[rows] @ block
    return total, sums / total


def _counted(n: int, weights: NDArray | None) -> int:
    return n if weights is None else int(np.count_nonzero(weights))
