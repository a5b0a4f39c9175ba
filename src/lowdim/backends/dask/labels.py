"""Labels of distributed rows: one pass finds the classes, and tasks that need codes compute them."""

import warnings
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.backends import DASK
from lowdim.backends.dask.graphs import each, fold, key, with_lengths
from lowdim.backends.dask.partitioned import Spread, Where
from lowdim.backends.dask.validation import beside
from lowdim.data import labels as numpy_labels
from lowdim.data.labels import Labels, checked, demand_several
from lowdim.data.labels import labels as labels_here


@DASK.implements(numpy_labels.labels)
def labels(name: str, y: Any, X: Spread, *, several: bool = True, of: str = "X") -> Labels:
    """Labels, whose codes are a Dask array in the blocks of ``X``."""
    if y is None:
        return labels_here(name, None, np.empty((0, 0)), of=of)
    values = beside(name, y, X, "y")
    if values.ndim == 2 and values.shape[1] != 1:
        raise ValueError(
            f"{name}: y must be a 1d array of labels; got {values.ndim} dimensions. Pass one column of it."
        )
    column = Spread(values, np.dtype(object), 1, X.lengths, name, opened=partial(_open, name=name))
    found = fold(column, partial(np.unique, return_counts=True), _joined, stage="labels")
    if found is None:
        raise ValueError(f"{name}: at least one row is needed; got blocks without any. Pass more rows.")
    classes, counts = found
    if several:
        demand_several(name, classes, int(counts.sum()))
    codes = each(column, _codes, None, np.int32, shared=key(classes, classes, "classes"))
    return Labels(classes, codes, counts)


@DASK.implements(numpy_labels.one_class)
def one_class(name: str, X: Spread) -> Labels:  # noqa: ARG001  # X knows it
    """Labels of rows that are all of one class; rows of blocks of unknown length are counted, in a pass."""
    counted = with_lengths(X)
    column = Spread(X.X, np.dtype(object), 1, X.lengths, X.name)
    return Labels(np.zeros(1, np.int64), each(column, _zeros, None, np.int32), np.array([counted.shape[0]]))


def _open(block: Any, where: Where, name: str) -> NDArray[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of many classes for few rows, as a block has
        return checked(name, np.asarray(block).ravel(), where)


def _codes(block: Any, where: Where, classes: NDArray[Any]) -> NDArray[np.int32]:  # noqa: ARG001  # each's order
    values = np.asarray(block).ravel()
    return np.searchsorted(classes, values.astype(classes.dtype)).astype(np.int32)


def _zeros(block: Any, where: Where, shared: Any) -> NDArray[np.int32]:  # noqa: ARG001  # each's order
    return np.zeros(len(block), np.int32)


def _joined(a: tuple[NDArray[Any], NDArray], b: tuple[NDArray[Any], NDArray]) -> tuple[NDArray[Any], NDArray]:
    """Distinct labels of two blocks, and how often each occurs."""
    if (a[0].dtype.kind in "OUT") != (b[0].dtype.kind in "OUT"):
        raise ValueError(
            f"y must hold labels of one kind in every block; got {a[0][0]!r} and {b[0][0]!r}. Convert them."
        )
    classes, at = np.unique(np.concatenate([a[0], b[0]]), return_inverse=True)
    return classes, np.bincount(at, np.concatenate([a[1], b[1]])).astype(np.int64)
