"""Rows that two maps share: by number, by the labels of a data frame, or as given pairs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_HOW = "Pass one number for each row of X (-1: not shared), or a pair of arrays of row numbers."


def partners(shared: Any, X: Any, n: int, m: int, name: str) -> NDArray[np.int64]:
    """For each of the n rows of ``X`` the row of the other map, of m rows, that it shares; −1 for none.

    ``shared`` is such an array, a pair of arrays of row numbers, or the other rows as a data frame, or its index,
    whose labels are looked up in that of ``X``.

    >>> partners(([0, 2], [1, 0]), None, 3, 2, "TSNE")
    array([ 1, -1,  0])
    """
    if hasattr(shared, "iloc"):  # a data frame: its labels
        shared = shared.index
    if hasattr(shared, "get_indexer_for"):
        return _by_labels(shared, X, m, name)
    if isinstance(shared, tuple) and len(shared) == 2:
        rows, others = (_numbers(part, name) for part in shared)
        if rows.shape != others.shape:
            raise ValueError(
                f"{name}: shared must be two arrays of one length; got {len(rows)} and {len(others)}. {_HOW}"
            )
        _demand_range(rows, 0, n, "rows of X", name)
        _demand_range(others, 0, m, "rows of the anchors", name)
        _demand_once(rows, "rows of X", name)
        found = np.full(n, -1, np.int64)
        found[rows] = others
    else:
        found = _numbers(shared, name)
        if found.shape != (n,):
            raise ValueError(
                f"{name}: shared must have one entry for each of the {n} rows of X; got {len(found)}. {_HOW}"
            )
        _demand_range(found, -1, m, "rows of the anchors, or -1", name)
    return _demanded(found, name)


def _demanded(found: NDArray[np.int64], name: str) -> NDArray[np.int64]:
    some = found[found >= 0]
    if not len(some):
        raise ValueError(f"{name}: the maps must share rows; got none. Pass shared=, or leave the anchors out.")
    _demand_once(some, "rows of the anchors", name)
    return found


def _by_labels(labels: Any, X: Any, m: int, name: str) -> NDArray[np.int64]:
    own = getattr(X, "index", None)
    if own is None or callable(own):
        raise ValueError(
            f"{name}: shared holds labels of rows, so X must be a data frame with an index; got "
            f"{type(X).__name__}. {_HOW}"
        )
    if len(labels) != m:
        raise ValueError(f"{name}: shared must have the label of each of the {m} anchors; got {len(labels)}.")
    for index, what in ((own, "X"), (labels, "the anchors")):
        if not index.is_unique:
            twice = index[index.duplicated()][0]
            raise ValueError(f"{name}: labels of rows must be unique; {what} has {twice} twice. Number the rows.")
    return _demanded(np.asarray(labels.get_indexer_for(own), np.int64), name)


def _numbers(values: Any, name: str) -> NDArray[np.int64]:
    found = np.asarray(values)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        got = f"an array of {found.dtype} of shape {found.shape}"
        raise ValueError(f"{name}: shared must be row numbers, labels of rows, or a pair of arrays; got {got}. {_HOW}")
    return found.astype(np.int64)


def _demand_range(rows: NDArray[np.int64], low: int, end: int, what: str, name: str) -> None:
    bad = rows[(rows < low) | (rows >= end)]
    if len(bad):
        raise ValueError(f"{name}: shared must name {what} ({low} to {end - 1}); got {bad[0]}. {_HOW}")


def _demand_once(rows: NDArray[np.int64], what: str, name: str) -> None:
    values, counts = np.unique(rows, return_counts=True)
    if (counts > 1).any():
        raise ValueError(f"{name}: shared must name {what} once; {values[counts > 1][0]} is there twice. Drop one.")
