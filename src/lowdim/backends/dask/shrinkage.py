"""Shrinkage of covariance matrices within classes of distributed rows: a pass for each class, and one more."""

from functools import partial
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.backends import DASK
from lowdim.backends.dask.graphs import fold
from lowdim.backends.dask.partitioned import Spread
from lowdim.relate import shrinkage as numpy_shrinkage
from lowdim.relate.moment_states import ColumnMoments, Moments
from lowdim.relate.moments import moments as moments_here
from lowdim.relate.shrinkage import Shrinkage, fourth_powers, intensity_of, rounding_of, standardising


@DASK.implements(numpy_shrinkage.ledoit_wolf)
def ledoit_wolf(X: Spread, labels: Any, n_classes: int) -> Shrinkage:
    """Shrinkage of the covariance of each class; only one class's scatter is held at a time."""
    means, scales, traces, squares, counts = [], [], [], [], []
    for c in range(n_classes):
        leaf = partial(_moments_of_class, c=c)
        M = fold(X, leaf, Moments.merge, beside=[labels], state=8.0 * X.width**2, stage="shrinkage")
        columns = ColumnMoments(M.weight, M.mean, np.diag(M.scatter) / M.weight, M.rows)
        scale, trace = standardising(columns, rounding_of(np.empty(0, X.dtype)))
        squares.append(float(np.square(M.scatter / np.outer(scale, scale)).sum()) / M.rows**2)
        means.append(M.mean)
        scales.append(scale)
        traces.append(trace)
        counts.append(M.rows)
    fourths = fold(X, _fourth_moments, add, np.stack(means), np.stack(scales), beside=[labels], stage="shrinkage")
    found = [intensity_of(*parts) for parts in zip(counts, scales, traces, squares, fourths, strict=True)]
    return Shrinkage(np.array([one for one, _ in found]), np.stack([target for _, target in found]))


def _moments_of_class(X: NDArray, labels: NDArray[np.int32], c: int) -> Moments | None:
    return moments_here(X[labels == c]) if (labels == c).any() else None


def _fourth_moments(X: NDArray, labels: NDArray[np.int32], means: NDArray, scales: NDArray) -> NDArray:
    pairs = zip(means, scales, strict=True)
    return np.array([fourth_powers(X[labels == c], mean, scale) for c, (mean, scale) in enumerate(pairs)])
