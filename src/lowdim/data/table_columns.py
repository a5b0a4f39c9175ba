"""Columns of a table one at a time, as polars series: from a pandas or polars DataFrame, an array or lists."""

import datetime
from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from lowdim.data import validation
from lowdim.data.arrow import from_arrow
from lowdim.data.text_formats import stripped
from lowdim.work.blockwise import float_dtype
from lowdim.work.forked import demand_threads

if TYPE_CHECKING:
    import polars as pl

_EPOCH_UNITS = {"s": "ms", "m": "ms", "h": "ms", "D": "ms", "W": "ms", "M": "ms", "Y": "ms"}


class Columns:
    """A table whose columns are taken one at a time, whole or some rows of them.

    ``dtype`` is the floating type that its numbers become.
    """

    def __init__(self, X: Any, names: list[str]) -> None:
        self.X, self.names = X, names
        self.height = int(X.shape[0])
        self.dtype = _dtype(X)

    def series(self, j: int, rows: slice = slice(None)) -> "pl.Series":
        """Column ``j``: numbers, booleans, dates or stripped text, null or NaN where a value is missing."""
        import polars as pl

        X = self.X
        if isinstance(X, np.ndarray):
            column = _from_array(np.ascontiguousarray(X[rows, j]))
        elif hasattr(X, "iloc"):
            column = _from_pandas(X.iloc[rows, j])
        else:
            column = X.to_series(j)[rows]
        if column.dtype in (pl.Categorical, pl.Enum):
            column = column.cast(pl.String)
        elif column.dtype.is_decimal():
            column = column.cast(pl.Float64)
        elif isinstance(column.dtype, pl.Datetime) and column.dtype.time_zone:
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return stripped(column) if column.dtype == pl.String else column

    def order(self, j: int) -> list[str] | None:
        """Order of the levels of column ``j`` where its type has one."""
        import polars as pl

        if hasattr(self.X, "iloc"):
            dtype = self.X.dtypes.iloc[j]
            return [str(level) for level in dtype.categories] if getattr(dtype, "ordered", False) else None
        dtype = None if isinstance(self.X, np.ndarray) else self.X.dtypes[j]
        return dtype.categories.to_list() if isinstance(dtype, pl.Enum) else None


def columns_of(X: Any, name: str, *, minimum: int = 1) -> Columns:
    """Validated table of numbers, text and dates, of at least ``minimum`` rows, for the caller called ``name``."""
    demand_threads(name)
    X = from_arrow(X)
    if hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "shape"):
        _demand_frame(name, X, minimum)
    else:
        X = _array_of(X)
        if not isinstance(X, np.ndarray) or X.dtype.kind in "biufc":
            X = validation.rows(X, name, scan=False, minimum=minimum)
        else:
            with validation.advising():
                X = check_array(X, dtype=None, ensure_all_finite=False, ensure_min_samples=minimum, estimator=name)
    return Columns(X, [f"x{j}" for j in range(X.shape[1])])


def _array_of(X: Any) -> Any:
    """Lists as an array, of objects where they hold text among numbers; all else as it is."""
    if not isinstance(X, list | tuple):
        return X
    try:
        array = np.asarray(X)
    except ValueError:
        return X  # lists of different lengths, which validation reports
    return np.asarray(X, dtype=object) if array.dtype.kind in "US" else array


def _demand_frame(name: str, X: Any, minimum: int) -> None:
    names = list(X.columns)
    if len(set(names)) < len(names):
        twice = max(names, key=names.count)
        raise ValueError(f"{name}: column names must be unique; got {twice!r} more than once. Rename them.")
    n, d = X.shape
    if not d:
        raise ValueError(f"{name}: 0 feature(s) were passed; a minimum of 1 is required. Pass at least one column.")
    if n < minimum:
        raise ValueError(
            f"{name}: at least {minimum} samples (rows) are needed; got {n} sample(s) (shape {(n, d)}). Pass more rows."
        )


def _dtype(X: Any) -> np.dtype:
    """float32 where that holds every number as it is."""
    if isinstance(X, np.ndarray):
        return float_dtype(X.dtype) if X.dtype.kind in "biuf" else np.dtype(np.float64)
    kinds = {str(dtype).lower() for dtype in X.dtypes}
    return np.dtype(np.float32 if kinds == {"float32"} else np.float64)


def _from_array(values: NDArray[Any]) -> "pl.Series":
    import polars as pl

    if values.dtype.kind in "biuf":
        if values.dtype.itemsize > 8 or values.dtype == np.float16 or not values.dtype.isnative:
            values = values.astype(np.float64)
        return pl.Series(values=values)
    if values.dtype.kind in "Mm":
        unit = np.datetime_data(values.dtype)[0]
        return pl.Series(values=values.astype(f"{values.dtype.kind}8[{_EPOCH_UNITS.get(unit, unit)}]"))
    return _from_objects(values.tolist())


def _from_pandas(values: Any) -> "pl.Series":
    """Series of pandas; by way of NumPy and lists, so that pyarrow need not be there."""
    import polars as pl

    dtype = values.dtype
    if hasattr(values, "sparse"):
        return _from_pandas(values.sparse.to_dense())
    if type(dtype).__name__ == "PeriodDtype":  # a period is its beginning
        return _from_pandas(values.dt.to_timestamp())
    if isinstance(dtype, np.dtype) and dtype.kind in "biufMm":
        return _from_array(values.to_numpy())
    if getattr(dtype, "kind", "O") in "iuf":  # numbers that may be missing
        return pl.Series(values=values.to_numpy(dtype=np.float64, na_value=np.nan))
    if getattr(dtype, "tz", None) is not None:  # with a time zone
        return _from_array(values.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
    return _from_objects(values.tolist())


def _from_objects(values: Sequence[Any]) -> "pl.Series":
    """Series of Python objects: all booleans, all numbers, all dates, or text."""
    import polars as pl

    items = [None if validation.absent(value) else value for value in values]
    kinds = {type(value) for value in items if value is not None}
    if kinds <= {bool, np.bool_}:
        return pl.Series(values=[None if value is None else bool(value) for value in items], dtype=pl.Boolean)
    if all(issubclass(kind, Real | Decimal) for kind in kinds):
        return pl.Series(values=[np.nan if value is None else float(value) for value in items], dtype=pl.Float64)
    if all(issubclass(kind, datetime.date | np.datetime64) for kind in kinds):
        moments = [np.datetime64("NaT") if value is None else np.datetime64(_in_utc(value), "us") for value in items]
        return pl.Series(values=np.array(moments, dtype="M8[us]"))
    wrong = next((v for v in items if not (v is None or isinstance(v, str | Real | Decimal | datetime.date))), None)
    if wrong is not None:
        raise TypeError(
            f"Prepare: argument must be a table of values that are each a string, a number or a date; got "
            f"{wrong!r}, a {type(wrong).__name__}. Convert it, or leave the column out."
        )
    return pl.Series(values=[None if v is None else _sound(v) if isinstance(v, str) else plain(v) for v in items])


def _sound(text: str) -> str:
    """Text without halves of characters, which UTF-8 cannot hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _in_utc(value: Any) -> Any:
    """A point in time without its zone: of one with a zone the time in UTC, of others the time as it is."""
    if getattr(value, "tzinfo", None) is None:
        return value
    return value.astimezone(datetime.UTC).replace(tzinfo=None)


def plain(value: Any) -> str:
    """Text of a value that is a level among text: whole numbers without a decimal point.

    >>> plain(3.0), plain(2.5), plain(True)
    ('3', '2.5', 'true')
    """
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, Real) and float(value).is_integer():
        return str(int(float(value)))
    return str(value)
