"""Moments of distributed rows: those of each block, merged in a fixed tree, in one pass."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.backends import DASK
from lowdim.backends.dask.graphs import fold
from lowdim.backends.dask.partitioned import Spread
from lowdim.backends.dask.validation import block_weights
from lowdim.relate import moments as here
from lowdim.relate.moment_states import ClassMoments, ColumnMoments, Moments


@DASK.implements(here.moments)
def moments(X: Spread, weights: Any = None) -> Moments:
    """Moments of the rows, each block read once; integers give the same bits as on one machine, for any blocks."""
    if _is_whole(X) and weights is None:
        raw = fold(X, _whole_sums, _Whole.merge, state=_square(X.width), stage="moments")
        return demand_rows(X, raw and here.whole_moments(raw.sums, raw.products, int(raw.counts[0])))
    beside = [] if weights is None else [weights]
    leaf = partial(_weighed, here.moments, X.name)
    return demand_rows(X, fold(X, leaf, Moments.merge, beside=beside, state=_square(X.width), stage="moments"))


@DASK.implements(here.column_moments)
def column_moments(X: Spread, weights: Any = None) -> ColumnMoments:
    """Moments of each column alone."""
    beside = [] if weights is None else [weights]
    leaf = partial(_weighed, here.column_moments, X.name)
    return demand_rows(X, fold(X, leaf, ColumnMoments.merge, beside=beside, stage="moments of columns"))


@DASK.implements(here.class_moments)
def class_moments(X: Spread, labels: Any, class_weights: NDArray, *, doubles: bool = False) -> ClassMoments:
    """Moments by class; ``labels`` are codes in the blocks of the rows."""
    add_up = partial(fold, X, beside=[labels], state=_square(X.width), stage="moments of classes")
    if _is_whole(X) and np.ptp(class_weights) <= 1e-12 * class_weights[0]:
        raw = add_up(_whole_class_sums, _Whole.merge, len(class_weights))
        M = here.whole_class_moments(raw.sums, raw.products, raw.counts, class_weights)
    else:
        M = add_up(_class_moments, _merge_classes, class_weights, doubles)
    for c in np.flatnonzero(class_weights == 0):  # a class of weight 0 still has a mean
        M.means[c] = fold(X, _moments_of_class, ColumnMoments.merge, int(c), beside=[labels]).mean
    return M


@DASK.implements(here.rows_differ)
def rows_differ(X: Spread, weights: Any = None) -> bool:
    """Whether two rows of positive weight differ."""
    found = fold(X, _sample_of_rows, _differing, beside=[] if weights is None else [weights])
    return found is not None and bool(found[1])


class _Whole(NamedTuple):
    """Exact sums by class (C, d), products (d, d) and rows (C,) of integers."""

    sums: NDArray
    products: NDArray
    counts: NDArray[np.int64]

    def merge(self, other: "_Whole") -> "_Whole":
        return _Whole(self.sums + other.sums, self.products + other.products, self.counts + other.counts)


def _is_whole(X: Spread) -> bool:
    return X.dtype in (np.uint8, bool) and not X.sparse


def _square(d: int) -> float:
    return 8.0 * d * d


def demand_rows(X: Spread, M: Any) -> Any:
    """Moments, once there are enough rows: blocks of unknown lengths have been counted."""
    n = 0 if M is None else M.rows
    if n < max(1, min(X.minimum, 2)):
        raise ValueError(f"{X.name}: at least {X.minimum} samples (rows) are needed; got {n}. Pass more rows.")
    return M


def _weighed(measure: Any, name: str, X: NDArray, weights: Any = None) -> Any:
    """Moments of one block; None for a block of weight 0."""
    w = None if weights is None else block_weights(name, weights, X)
    return None if w is not None and not w.any() else measure(X, w)


def _whole_sums(X: NDArray) -> _Whole:
    return _Whole(*here.whole_sums(X), np.array([len(X)]))


def _whole_class_sums(X: NDArray, labels: NDArray[np.int32], n_classes: int) -> _Whole:
    return _Whole(*here.whole_sums(X, labels, n_classes), np.bincount(labels, minlength=n_classes))


def _class_moments(X: NDArray, labels: NDArray[np.int32], class_weights: NDArray, doubles: bool) -> Any:
    if not class_weights[labels].any():
        return None
    return here.class_moments(X, labels, class_weights, doubles=doubles)


def _merge_classes(a: ClassMoments, b: ClassMoments) -> ClassMoments:
    return a.merge(b)


def _moments_of_class(X: NDArray, labels: NDArray[np.int32], c: int) -> ColumnMoments | None:
    return here.column_moments(X[labels == c]) if (labels == c).any() else None


def _sample_of_rows(X: NDArray, weights: NDArray | None = None) -> tuple[NDArray, bool] | None:
    """First row of positive weight, and whether another differs from it."""
    counted = np.arange(len(X)) if weights is None else np.flatnonzero(np.asarray(weights) > 0)
    if not len(counted):
        return None
    return np.asarray(X[counted[0]], np.float64), here.rows_differ(X, weights)


def _differing(a: tuple[NDArray, bool], b: tuple[NDArray, bool]) -> tuple[NDArray, bool]:
    return a[0], a[1] or b[1] or bool(np.any(a[0] != b[0]))
