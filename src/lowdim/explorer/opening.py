"""Opening an explorer: sessions from arrays, DataFrames and tables."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from lowdim.data import options
from lowdim.data.in_memory import table_of
from lowdim.explorer.column_summaries import Column, feature_columns
from lowdim.explorer.session import Session
from lowdim.methods.prepared_table import Preparation, PreparedTable, prepared

_LABEL, _ID = "label", "id"


def session_of(made: PreparedTable, title: str, further: Any = None) -> Session:
    """Session of a prepared table, and of further columns that are not features."""
    table = made.table
    columns: dict[str, Column] = {}
    colour = identity = None
    if table.ids is not None:
        identity = table.id_name or _ID
        columns[identity] = Column(identity, table.ids)
    if table.labels is not None:
        colour = table.label_name or _LABEL
        columns[colour] = Column(colour, table.labels)
    own = {n: Column(n, table.X[n]) for n in table.names} if table.mixed else feature_columns(table.X, table.names)
    columns |= {name: one for name, one in own.items() if name not in columns}
    beside = _further(further, made)
    columns = {**{name: one for name, one in columns.items() if name not in beside}, **beside}
    if colour is None:
        colour = next((name for name, one in beside.items() if one.kind == "category"), None)
    return Session(made, columns, title=title, colour=colour, identity=identity)


def _further(columns: Any, made: PreparedTable) -> dict[str, Column]:
    """Columns of a mapping or DataFrame, of the rows that were kept."""
    if columns is None:
        return {}
    if not isinstance(columns, Mapping) and not hasattr(columns, "columns"):
        raise TypeError(f"explore: table must be a data frame or a mapping of columns; got {type(columns).__name__}.")
    found = {str(name): columns[name] for name in getattr(columns, "columns", columns)}
    n = made.table.X.shape[0] if made.kept is None else len(made.kept)
    for name, values in found.items():
        if len(values) != n:
            raise ValueError(f"explore: columns of table must have {n} rows; {name!r} has {len(values)}.")
    kept = slice(None) if made.kept is None else made.kept
    return {
        name: Column(name, values if made.kept is None else np.asarray(values)[kept]) for name, values in found.items()
    }


def open_session(
    X: Any, y: Any = None, table: Any = None, *, image_shape: tuple[int, int] | None = None, title: str = "data",
    id: Any = None, **preparation: Any,
) -> Session:  # fmt: skip
    """Session of rows, their labels and further columns; ``preparation`` are the settings of :class:`Preparation`."""
    asked = Preparation(**preparation)
    scan = asked.missing == "error"
    given = table_of(X, y, caller="explore", id=id, image_shape=image_shape, minimum=3, scan=scan)
    return session_of(prepared(given, asked), title, table)


def open_sequence(sequence: Any, X: Any = None, y: Any = None, table: Any = None, **given: Any) -> Session:
    """Session of the rows that are followed through maps of a sequence, with these maps."""
    from lowdim.explorer.sequences import followed_labels, followed_rows, show_sequence

    if not hasattr(sequence, "tracks"):
        raise TypeError(f"explore: sequence must be what lowdim.aligned returns; got {type(sequence).__name__}.")
    X = followed_rows(sequence) if X is None else X
    session = open_session(X, followed_labels(sequence, y), table, **given)
    show_sequence(session, sequence)
    return session


def explore(
    X: Any,
    y: Any = None,
    *,
    sequence: Any = None,
    table: Any = None,
    id: Any = None,
    image_shape: tuple[int, int] | None = None,
    title: str = "data",
    method: str = "pca",
    parameters: Mapping[str, Any] | None = None,
    browser: bool = False,
    **preparation: Any,
) -> Any:
    """Explore maps of ``X`` interactively: show, examine and compute them.

    Parameters
    ----------
    X : array, DataFrame or sparse matrix of shape (n_samples, n_features), or Aligned
        The data. Columns of text and dates of a data frame are prepared by :class:`lowdim.Prepare`. Maps that
        :func:`lowdim.aligned` returns bring their own rows, if all have the same columns.
    y : array or Series of shape (n_samples,), or str, optional
        Labels, or the name of their column in the DataFrame: the initial colours of the points, and the targets of
        supervised methods. For maps of a sequence also a list with the labels of each.
    sequence : Aligned, optional
        Maps of a sequence, shown instead of a first map: a slider moves through them, and rows in common glide. ``X``
        then has one row for each line of ``sequence.tracks()``.
    table : DataFrame or mapping of arrays, optional
        Further columns to colour by, search in and count; they are not features.
    id : array of shape (n_samples,), or str, optional
        Identifiers of the rows, or the name of their column in the DataFrame.
    image_shape : (int, int), optional
        Height and width, where each row is an image.
    title : str
        Name of the data on the page and in names of files.
    method : str
        Method of the first map, by the name that ``lowdim methods`` lists.
    parameters : mapping of str to values, optional
        Its parameters, such as ``{"n_neighbors": 12}``.
    browser : bool
        Open a page in the browser instead, as ``lowdim explore`` does, and return when Ctrl-C ends it; labels that
        were not exported are then written to a file in the current folder.
    **preparation
        ``prepare``, ``scale``, ``log``, ``missing``, ``categories`` and ``first``, as in :func:`lowdim.compare`.

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
    options.demand_known("explore", preparation, [one.name for one in fields(Preparation)])
    if hasattr(X, "tracks"):
        X, sequence = None, X
    if sequence is None:
        session = open_session(X, y, table, image_shape=image_shape, title=title, id=id, **preparation)
        session.fit(method, dict(parameters or {}))
    else:
        session = open_sequence(sequence, X, y, table, image_shape=image_shape, title=title, id=id, **preparation)
    if not browser:
        return Explorer(session)
    Server(session).serve(browser=True, announce=print, rescued=lambda path: print(f"wrote the labels to {path}"))
    return None
