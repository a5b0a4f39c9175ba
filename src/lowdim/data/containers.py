"""Input containers that are refused with an explanation: text, dates, masked arrays, malformed sparse matrices."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from lowdim.work.csr import demand_sound


def refuse_text(name: str, X: Any, called: str) -> None:
    """Name the columns of a DataFrame that hold text or dates, or the first text in an array."""
    columns = getattr(X, "columns", None)
    if columns is not None and hasattr(X, "dtypes"):
        if not len(columns):
            raise ValueError(f"{name}: {called} must have features; got a DataFrame with 0. Pass at least one column.")
        if len(set(columns)) < len(columns):
            twice = max(columns, key=list(columns).count)
            raise ValueError(
                f"{name}: column names of {called} must be unique; got {twice!r} more than once. Rename them, "
                f"or pass {called}.to_numpy()."
            )
        kinds = columns_without_numbers(X)
        if kinds:
            shown = ", ".join(map(repr, list(kinds)[:5])) + (f" and {len(kinds) - 5} more" if len(kinds) > 5 else "")
            raise ValueError(
                f"{name}: {called} must be numeric; got {' and '.join(sorted(set(kinds.values())))} in column {shown}. "
                "Drop these columns or encode them first, as lowdim.Prepare does."
            )
    elif isinstance(X, np.ndarray) and X.size and (kind := _not_numbers(X)):
        found = next((value for value in X.ravel() if isinstance(value, str | bytes)), X.ravel()[0])
        why = f"could not convert string to float: {found!r}" if kind == "text" else f"got {kind} such as {found!s}"
        raise ValueError(
            f"{name}: {called} must be numeric; {why}. Drop the columns of {kind} or encode them first, as "
            "lowdim.Prepare does."
        )


def refuse_annotated(name: str, X: Any, called: str) -> None:
    """Refuse AnnData objects, which hold several arrays of the same rows."""
    if hasattr(X, "obsm") and hasattr(X, "obsp"):
        raise TypeError(
            f"{name}: {called} must be an array of rows; got an AnnData object, which holds several. Pass one of them, "
            'such as adata.obsm["X_pca"] or adata.X.'
        )


def refuse_unsound(name: str, X: Any, called: str) -> None:
    """Refuse sparse matrices with indices out of bounds, which kernels would follow without checking."""
    if sp.issparse(X):
        try:
            demand_sound(X)
        except ValueError as error:
            raise ValueError(
                f"{name}: {called} must be a sparse matrix whose arrays are consistent; got {error}. Rebuild it, "
                "for example from scipy.sparse.coo_array."
            ) from None


def refuse_masked(name: str, X: Any, called: str) -> None:
    """Refuse masked values, which conversion to a plain array would silently unmask."""
    if np.ma.is_masked(X):
        masked = np.argwhere(np.ma.getmaskarray(X))
        raise ValueError(
            f"{name}: {called} must have no missing values; got a masked array with {len(masked):,}, the first "
            f"in row {masked[0][0]}. Drop those rows, or replace the values with {called}.filled(…)."
        )


def columns_without_numbers(X: Any) -> dict[str, str]:
    """Columns of a DataFrame that hold text, dates or records, each with what it holds."""
    return {str(name): kind for name in X.columns if (kind := _not_numbers(X[name]))}


def _not_numbers(values: Any) -> str:
    """Kind of the values in a column or an array that are not numbers; empty if all are numbers."""
    array = np.asarray(values)
    if array.dtype.kind in "MmV":
        return "records" if array.dtype.kind == "V" else "dates"
    text = array.dtype.kind in "US" or (
        array.dtype.kind == "O" and any(isinstance(value, str | bytes) for value in array.ravel())
    )
    return "text" if text else ""
