"""Missing values: counted, then refused, dropped or filled."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lowdim.data.file_errors import SHOWN, listing
from lowdim.work.blockwise import row_blocks

if TYPE_CHECKING:
    from lowdim.data.table import Wanted


def handle_missing(
    X: Any,
    names: list[str],
    labels: NDArray[Any] | None,
    ids: NDArray[Any] | None,
    wanted: "Wanted",
    source: str,
) -> tuple[Any, NDArray[Any] | None, NDArray[Any] | None]:
    """Data, labels and ids without missing values, as ``wanted.missing`` says; for mixed tables, labels only."""
    missing = wanted.missing
    if missing == "keep":
        return X, _labels(labels), _plain(ids)
    if wanted.mixed:  # Prepare handles the missing values of these columns
        counts = np.zeros(len(names), dtype=np.int64)
    else:
        _refuse_infinity(X, names, source)
        counts = missing_counts(X)
    unlabelled = np.zeros(X.shape[0], dtype=bool) if labels is None else _is_missing(labels)
    if missing == "drop":
        keep = ~unlabelled
        if counts.any():
            keep &= ~_rows_with_missing(X)
        if not keep.any():
            raise ValueError(
                f"read: at least one complete row is needed; every row of {source} has a missing value. "
                "Drop the columns with the most missing values, or pass missing='mean'."
            )
        if not keep.all():
            rows = X.filter(keep) if hasattr(X, "filter") else X[keep]
            X, labels, ids = rows, *(None if a is None else a[keep] for a in (labels, ids))
    elif counts.any():
        if missing == "error":
            raise ValueError(
                f"read: every cell must hold a number; in {source} {gaps(counts, names)}. "
                "Pass missing='drop' to leave those rows out, or missing='mean' to fill in column means."
            )
        X = filled(X, counts, names, source)
    return X, _labels(labels), _plain(ids)


def _refuse_infinity(X: Any, names: list[str], source: str) -> None:
    """Refuse infinity in an array, naming the first; memory maps are left to the methods, which read them anyway."""
    if sparse.issparse(X) or X.dtype.kind != "f" or isinstance(X, np.memmap):
        return
    positions = np.argwhere(np.isinf(X)) if np.isinf(X).any() else np.empty((0, 2), int)
    if len(positions):
        row, column = positions[0]
        raise ValueError(
            f"read: every cell must hold a finite number; in {source} {names[column]!r} holds {X[row, column]} in row "
            f"{row + 1} ({len(positions)} infinite cells in all). Correct them, or drop the column."
        )


def _is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind == "O":
        return np.array([v is None or v != v for v in values], dtype=bool)  # NaN differs from itself
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, dtype=bool)


def _labels(values: NDArray[Any] | None) -> NDArray[Any] | None:
    """Labels as an array of one kind; where some are missing, NaN among numbers and None among text."""
    if values is None or values.dtype.kind != "O" or not (lost := _is_missing(values)).any():
        return _plain(values)
    present = values[~lost].tolist()
    if present and all(isinstance(value, int | float) and not isinstance(value, bool) for value in present):
        return np.array([np.nan if gone else value for value, gone in zip(values, lost, strict=True)])
    labels = np.empty(len(values), dtype=object)
    labels[:] = [None if gone else str(value) for value, gone in zip(values, lost, strict=True)]
    return labels


def _plain(values: NDArray[Any] | None) -> NDArray[Any] | None:
    """Text and numbers out of an object array; a missing id becomes an empty text."""
    if values is None or values.dtype.kind != "O":
        return values
    items = values.tolist()
    if any(item is None or isinstance(item, str) for item in items):
        items = ["" if item is None else str(item) for item in items]
    return np.array(items)


def missing_counts(X: Any) -> NDArray[np.int64]:
    """Number of NaN in each column; memory maps are read block by block."""
    counts = np.zeros(X.shape[1], dtype=np.int64)
    if X.dtype.kind != "f":
        return counts
    if sparse.issparse(X):
        np.add.at(counts, X.indices[np.isnan(X.data)], 1)
        return counts
    for _, block in row_blocks(X, X.dtype):
        if np.isnan(block.min()):  # the minimum is NaN if any value is
            counts += np.isnan(block).sum(axis=0)
    return counts


def _rows_with_missing(X: Any) -> NDArray[np.bool_]:
    if sparse.issparse(X):
        lost = np.zeros(X.shape[0], dtype=bool)
        lost[np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[np.isnan(X.data)]] = True
        return lost
    return np.concatenate([np.isnan(block).any(axis=1) for _, block in row_blocks(X, X.dtype)])


def gaps(counts: NDArray[np.int64], names: list[str]) -> str:
    """Description of the columns with missing values and how many each has."""
    lacking = np.flatnonzero(counts)
    parts = ", ".join(f"{names[j]!r} has {counts[j]} missing" for j in lacking[:SHOWN])
    return parts + (f" and {len(lacking) - SHOWN} more columns have some" if len(lacking) > SHOWN else "")


def filled(X: Any, counts: NDArray[np.int64], names: list[str], source: str) -> Any:
    """Copy of X with the mean of its column in place of each NaN; zeros of a sparse matrix count."""
    n = X.shape[0]
    if empty := [names[j] for j in np.flatnonzero(counts == n)]:
        raise ValueError(
            f"read: the mean of a column needs at least one value; in {source} {listing(empty)} have none in {n} rows. "
            "Pass them in drop=[...]."
        )
    X = X.copy() if sparse.issparse(X) else np.array(X)
    values = X.data if sparse.issparse(X) else X
    lost = np.isnan(values)
    positions = X.indices[lost] if sparse.issparse(X) else np.nonzero(lost)[1]
    values[lost] = 0
    means = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel() / (n - counts)
    values[lost] = means[positions]
    return X
