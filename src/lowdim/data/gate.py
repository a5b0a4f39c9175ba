"""The gate: every array comes in here, once. What is wrong with it is said before any work starts."""

import sys
from contextlib import suppress
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import _check_n_features, check_array, column_or_1d, validate_data

# Arrays whose values live elsewhere: coercing them in silence would hide a transfer or a computation.
_ELSEWHERE = {
    "dask": "compute()",
    "dask_expr": "compute()",
    "cupy": "get()",
    "jax": "__array__()",
    "jaxlib": "__array__()",
    "torch": "numpy(force=True)",
}
_ADVICE = {
    "features, but": "Pass the columns that fit saw.",
    "feature names should match": "Rename or reorder the columns as they were in fit.",
    "Expected 2D array": "Rows are samples, columns are features.",
    "0 feature(s)": "Pass at least one column.",
    "sample(s)": "Pass more rows.",
}


def rows(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    sparse: bool = False,
    minimum: int = 1,
    scan: bool = True,
    tensors: bool = False,
    called: str = "X",
) -> Any:
    """Validated data: a NumPy array of its own numeric type, or canonical CSR where ``sparse`` is allowed.

    Never copied where it need not be. ``reset=True`` notes the features seen (fit); ``False`` compares with them.
    ``scan=False`` leaves the search for NaN and infinity to :func:`demand_finite`, for callers that read all values
    anyway and can tell from what they computed. ``tensors=True`` lets tensors of torch through, on their device.
    ``called`` is what the caller names them, for errors.
    """
    name = type(estimator).__name__
    if tensors and is_tensor(X):
        return _tensor_rows(estimator, X, reset=reset, minimum=minimum)
    _refuse_elsewhere(name, X)
    _refuse_text(name, X, called)
    _refuse_masked(name, X, called)
    if sp.issparse(X) and not sparse:
        raise TypeError(
            f"{name}: sparse data was passed, but {called} must be dense here; got a {type(X).__name__}. "
            f"Pass {called}.toarray() if it fits in memory."
        )
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) == 2 and 0 < shape[0] < minimum:
        samples = "1 sample" if shape[0] == 1 else f"{shape[0]} samples"
        raise ValueError(
            f"{name}: at least {minimum} samples (rows) are needed; got {samples} (shape {tuple(shape)}). "
            "Pass more rows."
        )
    try:
        X = validate_data(
            estimator,
            X,
            reset=reset,
            dtype="numeric",
            accept_sparse="csr" if sparse else False,
            ensure_all_finite=False,
            ensure_min_samples=minimum,
        )
    except ValueError as error:
        text = str(error)
        advice = next((f" {words}" for part, words in _ADVICE.items() if part in text), "")
        raise type(error)(text + advice) from None
    if X.dtype.kind == "O":  # lists with None in them
        X = X.astype(np.float64)
    if sp.issparse(X) and not X.has_canonical_format:  # not in place: they are the caller's
        X = X.copy()
        X.sum_duplicates()
    if scan:
        demand_finite(estimator, X, X, called)
    return X


def is_tensor(X: Any) -> bool:
    """Whether ``X`` is a tensor of torch; asking does not import it."""
    return type(X).__module__.split(".")[0] == "torch"


def _tensor_rows(estimator: Any, X: Any, *, reset: bool, minimum: int) -> Any:
    """The same checks for a tensor, made where it lives; it comes back detached from what made it."""
    name = type(estimator).__name__
    if X.ndim != 2 or X.is_complex() or X.layout != sys.modules["torch"].strided:
        raise ValueError(
            f"{name}: a dense 2D tensor of real numbers is needed; got {X.dtype} of shape {tuple(X.shape)}, "
            f"{X.layout}. Rows are samples, columns are features."
        )
    if X.shape[0] < minimum or X.shape[1] < 1:
        raise ValueError(
            f"{name}: at least {minimum} rows and one column are needed; got shape {tuple(X.shape)}. Pass more."
        )
    try:
        _check_n_features(estimator, X, reset=reset)
    except ValueError as error:
        raise ValueError(f"{error} {_ADVICE['features, but']}") from None
    if reset and hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    X = X.detach()
    if X.is_floating_point() and not bool(X.isfinite().all()):
        row, column = (~X.isfinite()).nonzero()[0].tolist()
        raise ValueError(
            f"{name}: X must be finite; got {X[row, column].item()} (NaN or infinity) at row {row}, column {column}. "
            "Drop such rows, or replace the values."
        )
    return X


def weights(estimator: Any, sample_weight: Any, X: Any) -> Any:
    """Sample weights as float64 (n,), or None; all must be finite and 0 or more, and one of them more."""
    if sample_weight is None:
        return None
    n, name = X.shape[0], type(estimator).__name__
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
            f"{name}: sample_weight must have shape ({n},), one weight a row; got {checked.shape}. "
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
            f"{name}: sample_weight must have a positive entry; got {n} zeros. Leave it out to weigh all rows alike."
        )
    return checked


def absent(value: Any) -> bool:
    """Whether a value stands for none: None, NaN, NaT or pandas' NA, which compares to nothing."""
    if value is None or type(value).__name__ == "NAType":
        return True
    other = value != value
    return isinstance(other, bool | np.bool_) and bool(other)  # an array answers with an array


def one_a_row(name: str, values: Any, n: int, called: str, what: str, of: str = "X") -> NDArray[Any]:
    """Array with an entry for each of ``n`` rows of what the caller names ``of``; ``what`` is such an entry."""
    needs = f"{name}: {called} must have one {what} for each of the {n:,} rows of {of}; got"
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{needs} lists of several lengths. Pass one {what} a row.") from None
    if array.ndim == 0:
        raise ValueError(f"{needs} a single {type(values).__name__}. Pass one {what} a row.")
    if len(array) != n:
        raise ValueError(f"{needs} {len(array):,}. Match them.")
    return array


def targets(estimator: Any, y: Any, X: Any, *, warn: bool = True) -> Any:
    """Validated targets of the rows of ``X``: labels or numbers, one or several columns, none missing.

    One column becomes a vector, with a warning unless ``warn`` is False.
    """
    name, n = type(estimator).__name__, X.shape[0]
    if y is None:
        raise ValueError(
            f"{name} requires y to be passed, but the target y is None. Pass what the rows are to predict: fit(X, y)."
        )
    y = one_a_row(name, y, n, "y", "value")
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


def second_view(estimator: Any, y: Any, X: Any, n_columns: int | None = None) -> NDArray:
    """Validated second view (n, e) of the rows of ``X``: finite numbers; a vector is one column."""
    name = type(estimator).__name__
    Y = targets(estimator, y, X, warn=False)
    Y = Y[:, None] if Y.ndim == 1 else Y
    if Y.dtype.kind == "O":
        with suppress(TypeError, ValueError):
            Y = Y.astype(np.float64)
    if Y.ndim != 2 or Y.dtype.kind not in "biuf":
        raise ValueError(
            f"{name}: y must be a second view, numbers of shape (n_samples, n_targets); got {Y.dtype} of shape "
            f"{Y.shape}. Encode labels as numbers first."
        )
    if n_columns is not None and Y.shape[1] != n_columns:
        raise ValueError(f"{name}: y must have the {n_columns} columns that fit saw; got {Y.shape[1]}. Match them.")
    return Y


def scores(estimator: Any, Y: Any, k: int, *, tensors: bool = False) -> Any:
    """Validated scores (n, k) on their way back to data space; ``tensors`` as in :func:`rows`."""
    name = type(estimator).__name__
    if not (tensors and is_tensor(Y)):
        _refuse_elsewhere(name, Y)
        Y = check_array(Y, dtype=[np.float64, np.float32], ensure_all_finite=False, input_name="Y")
    if Y.ndim != 2 or Y.shape[1] != k:
        raise ValueError(
            f"{name}: inverse_transform needs {k} columns, one per component; got {Y.shape[-1]}. "
            "Pass what transform returned."
        )
    Y = Y.detach() if is_tensor(Y) else Y
    finite = Y.isfinite().cpu().numpy() if is_tensor(Y) else np.isfinite(Y)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise ValueError(
            f"{name}: scores must be finite; got {Y[row, column]} (NaN or infinity) at row {row}, column {column}. "
            "Drop such rows."
        )
    return Y


def demand_finite(estimator: Any, X: Any, witness: Any, called: str = "X") -> None:
    """Raise ValueError with the place and count of NaN and infinity in ``X`` if ``witness`` shows there are any.

    ``witness`` is ``X`` itself or something computed from all of it (sums, scores): NaN and infinity survive sums
    and products, so a finite witness clears ``X`` at a fraction of the cost.
    """
    values = witness.data if sp.issparse(witness) else witness
    if values.dtype.kind != "f" and values.dtype.kind != "O":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return
    place = _first_bad(X)
    if place is None:  # large but finite values: the witness overflowed, the data did not
        return
    row, column, value, count = place
    names = getattr(estimator, "feature_names_in_", None)
    where = f"row {row}, column {column if names is None else repr(str(names[column]))}"
    what = "NaN" if np.isnan(value) else "infinity"
    raise ValueError(
        f"{type(estimator).__name__}: {called} must be finite; got {what} at {where} ({count:,} NaN or infinity values "
        f"in {X.shape[0]:,} rows). Drop those rows, or replace the values (NaN: sklearn.impute.SimpleImputer)."
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
        places = np.argwhere(~np.isfinite(block))
        if len(places) and first is None:
            row, column = places[0]
            first = (start + int(row), int(column), float(block[row, column]))
        count += len(places)
    return None if first is None else (*first, count)


def _refuse_elsewhere(name: str, X: Any) -> None:
    """Refuse arrays of libraries that keep them on a device, a cluster or in a query."""
    home = type(X).__module__.split(".")[0]
    call = "collect()" if type(X).__name__ == "LazyFrame" else _ELSEWHERE.get(home)
    if call:
        raise TypeError(
            f"{name}: a NumPy array, a DataFrame or a SciPy sparse matrix is needed; got a {home} "
            f"{'LazyFrame' if call == 'collect()' else 'array'}. Bring it over with .{call}."
        )


def _refuse_text(name: str, X: Any, called: str) -> None:
    """Name the columns of a DataFrame that hold text or dates, or the first text in an array."""
    columns = getattr(X, "columns", None)
    if columns is not None and hasattr(X, "dtypes"):
        if len(set(columns)) < len(columns):
            twice = max(columns, key=list(columns).count)
            raise ValueError(
                f"{name}: columns of {called} must have names of their own; got {twice!r} more than once. Rename them, "
                f"or pass {called}.to_numpy()."
            )
        kinds = {str(c): kind for c in columns if (kind := _not_numbers(X[c]))}
        if kinds:
            shown = ", ".join(map(repr, list(kinds)[:5])) + (f" and {len(kinds) - 5} more" if len(kinds) > 5 else "")
            raise ValueError(
                f"{name}: {called} must be numeric; got {' and '.join(sorted(set(kinds.values())))} in column {shown}. "
                "Drop these columns or encode them first."
            )
    elif isinstance(X, np.ndarray) and (kind := _not_numbers(X)):
        found = next((value for value in X.ravel() if isinstance(value, str | bytes)), X.ravel()[0])
        why = f"could not convert string to float: {found!r}" if kind == "text" else f"got {kind} such as {found!s}"
        raise ValueError(f"{name}: {called} must be numeric; {why}. Drop the columns of {kind} or encode them first.")


def _refuse_masked(name: str, X: Any, called: str) -> None:
    """Refuse masked values, which every conversion to an array would silently uncover."""
    if np.ma.is_masked(X):
        masked = np.argwhere(np.ma.getmaskarray(X))
        raise ValueError(
            f"{name}: {called} must have a value everywhere; got a masked array that lacks {len(masked):,}, the first "
            f"in row {masked[0][0]}. Drop those rows, or replace the values with {called}.filled(…)."
        )


def _not_numbers(values: Any) -> str:
    """Kind of what is no number in a column or an array; empty if all are numbers."""
    array = np.asarray(values)
    if array.dtype.kind in "Mm":
        return "dates"
    text = array.dtype.kind in "US" or (
        array.dtype.kind == "O" and any(isinstance(value, str | bytes) for value in array.ravel())
    )
    return "text" if text else ""
