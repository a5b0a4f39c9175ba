"""Tables of rows in memory: arrays, sparse matrices, and DataFrames of pandas and polars with columns of any kind."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data import validation
from lowdim.data.arrow import from_arrow
from lowdim.data.containers import columns_without_numbers
from lowdim.data.file_errors import find
from lowdim.data.table import Table, numbered
from lowdim.data.table_columns import columns_of
from lowdim.work import dispatch

if TYPE_CHECKING:
    import polars as pl

_TITLES = {"y": "label", "id": "id"}


def table_of(
    X: Any,
    y: Any = None,
    *,
    caller: str,
    id: Any = None,
    image_shape: tuple[int, int] | None = None,
    minimum: int = 1,
    scan: bool = True,
) -> Table:
    """Table of rows; ``y`` and ``id`` are values, one for each row, or the name of a column of a DataFrame.

    A :class:`Table` is returned with these replaced. ``scan=False`` allows missing values.
    """
    X = from_arrow(X)
    if isinstance(X, Table):
        given, X = X, X.X
        names, title, image_shape = given.names, given.source, image_shape or given.image_shape
        y, id = (given.labels if y is None else y), given.ids if id is None else id
        beside = {"y": given.label_name, "id": given.id_name}
    else:
        dispatch.require_supported(X, caller)
        names, title, beside = None, "data", {}
    values: dict[str, NDArray[Any] | None] = {}
    titles: dict[str, str | None] = {}
    for word, column in (("y", y), ("id", id)):
        if isinstance(column, str):
            if not _is_frame(X):
                raise ValueError(
                    f"{caller}: {word}={column!r} names a column, which only a DataFrame has; got a "
                    f"{type(X).__name__}. Pass the values."
                )
            beside[word] = find(word, column, [str(name) for name in X.columns], "the data")
            column, X = X[column], X.drop(columns=[column]) if hasattr(X, "iloc") else X.drop(column)
        values[word] = (
            None if column is None else np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
        )
        titles[word] = (
            None if column is None else beside.get(word) or str(getattr(column, "name", None) or _TITLES[word])
        )
    if _is_frame(X):
        names = [str(name) for name in X.columns]
        rows = polars_frame(X, caller, minimum) if columns_without_numbers(X) else None
    else:
        rows = None
    if rows is None:
        rows = validation.rows(X, caller, sparse=True, minimum=minimum, scan=scan)
    n, d = rows.shape
    for word, one in values.items():
        if one is not None and one.shape != (n,):
            raise ValueError(
                f"{caller}: {word} must hold one {_TITLES[word]} for each of the {n} rows; got shape {one.shape}. "
                "Match them."
            )
    if image_shape is not None:
        demand_pixels(image_shape, d, caller)
    return Table(
        rows, names or numbered(rows), values["y"], titles["y"], values["id"], titles["id"], image_shape, title
    )


def demand_pixels(image_shape: tuple[int, int], d: int, caller: str) -> None:
    """Raise unless images of this shape have ``d`` pixels."""
    if len(image_shape) != 2 or image_shape[0] * image_shape[1] != d:
        raise ValueError(
            f"{caller}: image_shape must be (height, width) with {d} pixels in all, one per column; got {image_shape}. "
            "Pass the shape of the image in one row."
        )


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def polars_frame(X: Any, caller: str, minimum: int = 1) -> "pl.DataFrame":
    """A DataFrame as one of polars, without pyarrow; the order of categories is kept."""
    import polars as pl

    if isinstance(X, pl.DataFrame):
        return X
    columns = columns_of(X, caller, minimum=minimum)
    made = {}
    for j, name in enumerate(X.columns):
        order, series = columns.order(j), columns.series(j)
        made[str(name)] = series if order is None else series.cast(pl.Enum(order))
    return pl.DataFrame(made)
