"""Validation of every input array, once, so that errors are raised before any work starts."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, column_or_1d

from lowdim.data.containers import refuse_annotated, refuse_masked, refuse_text, refuse_unsound
from lowdim.work import backend_arrays, dispatch
from lowdim.work.dispatch import operation

_ADVICE = {
    "features, but": "Pass the columns that fit saw.",
    "feature names should match": "Rename or reorder the columns as they were in fit.",
    "Expected 2D array": "Rows are samples, columns are features.",
    "0 feature(s)": "Pass at least one column.",
    "different shape than during": "Pass what transform returned.",
    "sample(s)": "Pass more rows.",
}


def rows(
    X: Any,
    name: str,
    *,
    sparse: bool = False,
    minimum: int = 1,
    scan: bool = True,
    called: str = "X",
    gaps: bool = False,
) -> Any:
    """Validated data: a NumPy array of its own numeric type, or canonical CSR where ``sparse`` is allowed.

    Copied only where necessary. Rows of another backend stay there, if it supports the caller ``name``.
    ``scan=False`` leaves the search for NaN and infinity to :func:`demand_finite`, for callers that read all values
    anyway and can tell from what they computed. ``called`` is what the caller names them, for errors. With ``gaps`` the
    caller takes NaN, and looks for infinity by itself.
    """
    dispatch.require_supported(X, name)
    return validated_rows(X, name, sparse=sparse, minimum=minimum, scan=scan, called=called, gaps=gaps)


@operation
def validated_rows(
    X: Any, name: str, *, sparse: bool, minimum: int, scan: bool, called: str, gaps: bool = False
) -> Any:
    """Rows as :func:`rows` returns them, of a backend that supports the caller."""
    columns = getattr(X, "columns", None)
    refuse_annotated(name, X, called)
    refuse_text(name, X, called)
    refuse_masked(name, X, called)
    if sp.issparse(X) and not sparse:
        raise TypeError(
            f"{name}: sparse data was passed, but {called} must be dense here; got a {type(X).__name__}. "
            f"Pass {called}.toarray() if it fits in memory."
        )
    refuse_unsound(name, X, called)
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) == 2 and 0 < shape[0] < minimum:
        samples = "1 sample" if shape[0] == 1 else f"{shape[0]} samples"
        raise ValueError(
            f"{name}: at least {minimum} samples (rows) are needed; got {samples} (shape {tuple(shape)}). "
            "Pass more rows."
        )
    if not _is_plain(X, minimum):
        with advising():
            X = check_array(
                X,
                dtype="numeric",
                accept_sparse="csr" if sparse else False,
                ensure_all_finite=False,
                ensure_min_samples=minimum,
                estimator=name,
                input_name=called,
            )
    if X.dtype.kind == "O":  # lists with None in them
        X = X.astype(np.float64)
    if sp.issparse(X) and not X.has_canonical_format:  # not in place: they are the caller's
        X = X.copy()
        X.sum_duplicates()
    if scan and not gaps:
        demand_finite(name, X, X, called, columns)
    return X


def _is_plain(X: Any, minimum: int) -> bool:
    """Whether ``X`` is an array of numbers to which ``check_array``, slower than many a small fit, does nothing."""
    return type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "biuf" and len(X) >= minimum and X.shape[1] > 0


@operation(any_backend=True)
def outline(X: Any) -> Any:
    """Object that holds the column names of ``X``: itself for rows in memory."""
    return X


@contextmanager
def advising() -> Iterator[None]:
    """Add advice to scikit-learn's errors about data."""
    try:
        yield
    except (ValueError, TypeError) as error:
        text = str(error).strip()
        advice = next((f" {words}" for part, words in _ADVICE.items() if part in text), "")
        raise type(error)(text + advice) from None


@operation(on=2, any_backend=True)
def weights(name: str, sample_weight: Any, X: Any) -> Any:
    """Sample weights as float64 (n,), or None; all must be finite and non-negative, and at least one positive."""
    if sample_weight is None:
        return None
    n = X.shape[0]
    given = one_a_row(name, sample_weight, n, "sample_weight", "weight")
    checked = None
    if given.dtype.kind in "biufO":
        with suppress(TypeError, ValueError):
            checked = given.astype(np.float64)
    if checked is None:
        some = given.ravel()[:1].tolist()[0]
        raise ValueError(f"{name}: sample_weight must hold numbers; got {given.dtype} such as {some!r}. Convert them.")
    if checked.shape != (n,):
        raise ValueError(
            f"{name}: sample_weight must have shape ({n},), one weight per row; got {checked.shape}. "
            "Pass one number for each row of X."
        )
    bad = ~(np.isfinite(checked) & (checked >= 0))
    if bad.any():
        raise ValueError(
            f"{name}: sample_weight must be finite and 0 or more, never negative; got {checked[bad][0]:g} at row "
            f"{int(np.argmax(bad))}. Correct it, or pass 0 to leave the row out."
        )
    if not checked.any():
        raise ValueError(
            f"{name}: sample_weight must have a positive entry; got {n} zeros. Leave it out to weight all rows equally."
        )
    return checked


def absent(value: Any) -> bool:
    """Whether a value is missing: None, NaN, NaT or pandas' NA, whose comparisons are not booleans."""
    if value is None or type(value).__name__ == "NAType":
        return True
    other = value != value
    return isinstance(other, bool | np.bool_) and bool(other)  # for an array, the comparison gives an array


def one_a_row(name: str, values: Any, n: int, called: str, what: str, of: str = "X") -> NDArray[Any]:
    """Array with an entry for each of ``n`` rows of what the caller names ``of``; ``what`` is such an entry."""
    needs = f"{name}: {called} must have one {what} for each of the {n:,} rows of {of}; got"
    try:
        array = np.asarray(backend_arrays.all_to_numpy(values))
    except ValueError as error:
        if dispatch.backend_of(values) is not None:
            raise ValueError(f"{name}: {called}: {error}") from None
        raise ValueError(f"{needs} lists of different lengths. Pass one {what} per row.") from None
    if array.ndim == 0:
        raise ValueError(f"{needs} a single {type(values).__name__}. Pass one {what} per row.")
    if len(array) != n:
        raise ValueError(f"{needs} {len(array):,}. Match them.")
    return array


def targets(name: str, y: Any, X: Any, *, warn: bool = True) -> Any:
    """Validated targets of the rows of ``X``: labels or numbers, one or several columns, none missing.

    One column becomes a vector, with a warning unless ``warn`` is False.
    """
    n = X.shape[0]
    if y is None:
        raise ValueError(
            f"{name} requires y to be passed, but the target y is None. Pass the targets of the rows: fit(X, y)."
        )
    y = one_a_row(name, y, n, "y", "value")
    if y.dtype.kind in "cVS":
        what = {"c": "complex numbers", "S": "bytes"}.get(y.dtype.kind, f"records of {y.dtype}")
        raise ValueError(f"{name}: y must hold numbers or text; got {what}. Convert it, or pass one column of it.")
    if y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=warn)
    bad = (
        np.array([absent(v) for v in y.ravel()])
        if y.dtype.kind == "O"
        else ~np.isfinite(y)
        if y.dtype.kind in "fc"
        else np.zeros(1, bool)
    )
    if bad.any():
        raise ValueError(
            f"{name}: y must have a value for every row; got {int(bad.sum()):,} NaN or infinity. Drop those rows."
        )
    return y


def target_numbers(name: str, y: Any, n: int, asked: str) -> NDArray[np.float64]:
    """Validated targets (n, m): finite numbers, one or several columns; ``asked`` is the option that needs them."""
    if y is None:
        raise ValueError(f"{name}: {asked} needs targets; got y=None. Pass fit(X, y), or target_weight=0.")
    Y = targets(name, y, np.empty((n, 0)), warn=False)
    if Y.dtype.kind == "O":
        with suppress(TypeError, ValueError):
            Y = Y.astype(np.float64)
    Y = Y[:, None] if Y.ndim == 1 else Y
    if Y.ndim != 2 or not Y.shape[1] or Y.dtype.kind not in "biuf":
        raise ValueError(
            f"{name}: {asked} needs targets that are numbers, (n_samples,) or (n_samples, n_targets); got {Y.dtype} of "
            f"shape {Y.shape}. Labels need target_metric='categorical'."
        )
    return np.ascontiguousarray(Y, np.float64)


@operation(on=2, any_backend=True)
def second_view(name: str, y: Any, X: Any, n_columns: int | None = None, given: Any = None) -> Any:
    """Validated second view (n, e) of the rows of ``X``: finite numbers; a vector is one column.

    It stays on its backend, which must be that of ``X``, or ``given``, that of the fit.
    """
    place, other = dispatch.backend_of(y), dispatch.backend_of(X if given is None else given)
    if y is not None and place is not other:
        raise TypeError(
            f"{name}: both views must be of the same kind; got {getattr(other, 'name', 'a NumPy array')} and "
            f"{getattr(place, 'name', 'a NumPy array')}. Convert one to the kind of the other."
        )
    if place is not None:
        return _other_view(name, y, X, n_columns)
    Y = targets(name, y, X, warn=False)
    Y = Y[:, None] if Y.ndim == 1 else Y
    if Y.dtype.kind == "O":
        with suppress(TypeError, ValueError):
            Y = Y.astype(np.float64)
    if Y.ndim != 2 or not Y.shape[1] or Y.dtype.kind not in "biuf":
        raise ValueError(
            f"{name}: y must be a second view, numbers of shape (n_samples, n_targets); got {Y.dtype} of shape "
            f"{Y.shape}. Encode labels as numbers first."
        )
    _demand_columns(name, Y, n_columns)
    return Y


def _other_view(name: str, y: Any, X: Any, n_columns: int | None) -> Any:
    """Second view of another backend."""
    Y = rows(y[:, None] if y.ndim == 1 else y, name, called="y")
    if Y.shape[0] != X.shape[0]:
        raise ValueError(
            f"{name}: y must have a row for each of the {X.shape[0]:,} of X; got {Y.shape[0]:,}. Match them."
        )
    _demand_columns(name, Y, n_columns)
    return Y


def _demand_columns(name: str, Y: Any, n_columns: int | None) -> None:
    if n_columns is not None and Y.shape[1] != n_columns:
        raise ValueError(f"{name}: y must have the {n_columns} columns that fit saw; got {Y.shape[1]}. Match them.")


def scores(Y: Any, name: str, k: int) -> Any:
    """Validated scores (n, k) for ``inverse_transform``, of any backend."""
    if dispatch.require_supported(Y, name) is None:
        with advising():
            Y = check_array(Y, dtype=[np.float64, np.float32], ensure_all_finite=False, input_name="Y")
    if Y.ndim != 2 or Y.shape[1] != k:
        raise ValueError(
            f"{name}: inverse_transform needs {k} columns, one per component; got {Y.shape[-1]}. "
            "Pass what transform returned."
        )
    return finite_scores(Y, name)


@operation
def finite_scores(Y: Any, name: str) -> Any:
    """Scores that must be finite."""
    finite = np.isfinite(Y)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise ValueError(
            f"{name}: scores must be finite; got {Y[row, column]} (NaN or infinity) at row {row}, column {column}. "
            "Drop such rows."
        )
    return Y


def demand_finite(
    name: str,
    X: Any,
    witness: Any,
    called: str = "X",
    columns: Any = None,
    part: tuple[int, int | None] | None = None,
) -> None:
    """Raise ValueError with the position and count of NaN and infinity in ``X`` if ``witness`` shows there are any.

    ``witness`` is ``X`` itself or something computed from all of it (sums, scores): NaN and infinity survive sums
    and products, so a finite witness proves ``X`` finite at a fraction of the cost. ``part`` is the number of a block
    of rows and that of its first row, or None, where ``X`` is not all of them.
    """
    values = witness.data if sp.issparse(witness) else witness
    if values.dtype.kind != "f" and values.dtype.kind != "O":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64 if values.dtype.kind == "O" else None)):
            return
    place = _first_bad(X)
    if place is None:  # large but finite values: the witness overflowed, the data did not
        return
    row, column, value, count = place
    at, among = row_of(row, part), f"{X.shape[0]:,} rows{'' if part is None else ' of its block'}"
    what = "NaN" if np.isnan(value) else "infinity"
    raise ValueError(
        f"{name}: {called} must be finite; got {what} at {at}, column "
        f"{column if columns is None else repr(str(columns[column]))} ({count:,} NaN or infinity values "
        f"in {among}). {_remedy(name, called, value)}"
    )


def _remedy(name: str, called: str, value: float) -> str:
    """What to do about a value that is not finite."""
    if called != "X" or not np.isnan(value):
        return "Drop those rows, or replace the values."
    filled = "fill the gaps first, by what columns have in common: lowdim.PCA(10, missing='em').fit(X).impute(X)"
    if name == "PCA":
        return "Pass missing='em', which takes rows with gaps, or drop those rows."
    if name == "compare":
        return f"Measures need complete rows: pass missing='drop', 'mean' or 'median', or {filled}."
    return f"Drop those rows, or {filled}. sklearn.impute.SimpleImputer takes a mean."


def row_of(row: int, part: tuple[int, int | None] | None) -> str:
    """Description of a row by its number in a block ``part``: the number of the block and its first row, or None.

    >>> row_of(3, None), row_of(3, (7, 700)), row_of(3, (7, None))
    ('row 3', 'row 703', 'row 3 of block 7')
    """
    if part is None:
        return f"row {row}"
    block, start = part
    return (
        f"row {start + row}" if start is not None else f"row {row} of {'its block' if block < 0 else f'block {block}'}"
    )


def _first_bad(X: Any) -> tuple[int, int, float, int] | None:
    """Row, column and value of the first non-finite entry, and how many there are."""
    if sp.issparse(X):
        entries = X.tocoo()
        bad = np.flatnonzero(~np.isfinite(entries.data))
        if not len(bad):
            return None
        return int(entries.row[bad[0]]), int(entries.col[bad[0]]), float(entries.data[bad[0]]), len(bad)
    if X.dtype.kind != "f":
        return None
    first, count = None, 0
    step = max(1, 2**20 // X.shape[1])
    for start in range(0, X.shape[0], step):
        block = X[start : start + step]
        positions = np.argwhere(~np.isfinite(block))
        if len(positions) and first is None:
            row, column = positions[0]
            first = (start + int(row), int(column), float(block[row, column]))
        count += len(positions)
    return None if first is None else (*first, count)
