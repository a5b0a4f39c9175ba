"""Opening an explorer: sessions from arrays, DataFrames and tables."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from lowdim.data import validation
from lowdim.data.table import Table, numbered
from lowdim.explorer.column_summaries import Column, feature_columns
from lowdim.explorer.session import Session

_LABEL, _ID = "label", "id"


def session_of(given: Table, X: Any, steps: list[Any], title: str) -> Session:
    """Session of a table as it was read, and the rows ``X`` that the fitted ``steps`` computed from it."""
    columns: dict[str, Column] = {}
    colour = identity = None
    if given.ids is not None:
        identity = given.id_name or _ID
        columns[identity] = Column(identity, given.ids)
    if given.labels is not None:
        colour = given.label_name or _LABEL
        columns[colour] = Column(colour, given.labels)
    own = given.X
    if given.mixed:
        columns |= {name: Column(name, own[name]) for name in own.columns if name not in columns}
        features = X
    else:
        columns |= {name: one for name, one in feature_columns(own, given.names).items() if name not in columns}
        features = own
    names = None if not given.mixed and given.names == numbered(own) else given.names
    shape = None if given.mixed else given.image_shape
    return Session(
        X, columns, title=title, targets=given.labels, colour=colour, identity=identity, image_shape=shape,
        features=features, steps=steps, names=names,
    )  # fmt: skip


def table_of(X: Any, y: Any, table: Any, image_shape: tuple[int, int] | None) -> tuple[Table, Any]:
    """Rows as a table with their labels, and the frame of further columns."""
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    if hasattr(X, "columns"):
        import polars as pl

        frame = X if isinstance(X, pl.DataFrame) else pl.from_pandas(X) if hasattr(X, "iloc") else pl.DataFrame(X)
        plain = all(dtype.is_numeric() or dtype == pl.Boolean for dtype in frame.dtypes)
        rows = frame.to_numpy().astype(np.float64) if plain and not sum(frame.null_count().row(0)) else frame
    else:
        rows = X
    if not hasattr(rows, "columns"):
        rows = validation.rows(rows, "explore", sparse=True, minimum=3)
    n = rows.shape[0]
    labels, name = None, None
    if y is not None:
        labels = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
        name = str(getattr(y, "name", None) or _LABEL)
        if labels.shape != (n,):
            raise ValueError(f"explore: y must hold one label for each of the {n} rows; got shape {labels.shape}.")
    if image_shape is not None and int(np.prod(image_shape)) != rows.shape[1]:
        raise ValueError(
            f"explore: image_shape must have as many pixels as X has columns ({rows.shape[1]}); got {image_shape}. "
            "Pass (height, width)."
        )
    further = _further(table, n)
    return Table(rows, names or numbered(rows), labels, name, image_shape=image_shape, source="data"), further


def _further(table: Any, n: int) -> dict[str, Column]:
    """Columns of a mapping or DataFrame, of n rows."""
    if table is None:
        return {}
    if not isinstance(table, Mapping) and not hasattr(table, "columns"):
        raise TypeError(f"explore: table must be a data frame or a mapping of columns; got {type(table).__name__}.")
    columns = {str(name): Column(str(name), table[name]) for name in getattr(table, "columns", table)}
    wrong = [name for name, column in columns.items() if len(column) != n]
    if wrong:
        raise ValueError(f"explore: columns of table must have {n} rows; {wrong[0]!r} has {len(columns[wrong[0]])}.")
    return columns


def open_session(
    X: Any, y: Any = None, table: Any = None, *, image_shape: tuple[int, int] | None = None, title: str = "data"
) -> Session:
    """Session of rows, their labels and further columns."""
    given, further = table_of(X, y, table, image_shape)
    steps: list[Any] = []
    rows = given.X
    if given.mixed:
        from lowdim.methods.prepare import Prepare

        prepare = Prepare()
        rows = prepare.fit_transform(given.X)
        steps.append(prepare)
    session = session_of(given, rows, steps, title)
    session.columns = {**{name: one for name, one in session.columns.items() if name not in further}, **further}
    if session.colour is None and further:
        session.colour = next((name for name, one in further.items() if one.kind == "category"), None)
    return session


def explore(
    X: Any,
    y: Any = None,
    *,
    table: Any = None,
    image_shape: tuple[int, int] | None = None,
    title: str = "data",
    method: str = "pca",
    browser: bool = False,
) -> Any:
    """Explore maps of ``X`` interactively: show, examine and compute them.

    Parameters
    ----------
    X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        The data. Columns of text and dates of a data frame are prepared by :class:`lowdim.Prepare`.
    y : array or Series of shape (n_samples,), optional
        Labels: the initial colours of the points, and the targets of supervised methods.
    table : DataFrame or mapping of arrays, optional
        Further columns to colour by, search in and count; they are not features.
    image_shape : (int, int), optional
        Height and width, where each row is an image.
    title : str
        Name of the data on the page and in names of files.
    method : str
        Method of the first map, by the name that ``lowdim methods`` lists.
    browser : bool
        Open a page in the browser instead, as ``lowdim explore`` does, and return when Ctrl-C ends it.

    Returns
    -------
    Explorer or None
        A widget for a notebook; its ``selection``, ``labels``, ``maps`` and ``model(number)`` are what the page shows.
        None for a page in the browser.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("digits")
    >>> explorer = lowdim.explore(X, y, image_shape=(8, 8), title="digits")  # doctest: +SKIP
    >>> explorer.selection  # doctest: +SKIP
    array([], dtype=int64)
    """
    if browser:
        from lowdim.explorer.server import Server, demand_packages

        demand_packages()
    else:
        try:
            from lowdim.explorer.widget import Explorer
        except ImportError as error:
            if (error.name or "").split(".")[0] != "anywidget":
                raise
            raise ImportError(
                "explore: the notebook widget needs anywidget, which is not installed. Run: "
                "pip install 'lowdim[widget]', or pass browser=True."
            ) from None
    session = open_session(X, y, table, image_shape=image_shape, title=title)
    session.fit(method, {})
    if not browser:
        return Explorer(session)
    Server(session).serve(browser=True, announce=print)
    return None
