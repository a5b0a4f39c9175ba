"""New rows on a map: from a file dropped on the page, placed by the model, each with its trust."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.read import read
from lowdim.data.table import Table
from lowdim.explorer.message_format import Message
from lowdim.explorer.running_fits import Map
from lowdim.explorer.session import Session
from lowdim.methods.prepared_table import matched, table_for, takes_table
from lowdim.relate.neighbors import nearest
from lowdim.relate.trust import NEAREST, familiar, trust
from lowdim.work.rows import in_form_of, searchable

_FORMATS = ("csv", "tsv", "parquet", "npy", "npz")
_SHOWN = 200  # characters of a file name


def place(session: Session, name: Any, format: Any, number: Any, data: bytes) -> Message:
    """Positions of the rows of a file on a map, which is left unchanged."""
    one = session.map(number)
    if one.fitted is None or not hasattr(one.fitted, "transform"):
        raise ValueError(f"map {one.number} cannot place new rows until it is finished. Wait for it, or stop it.")
    if format not in _FORMATS:
        raise ValueError(
            f"place: a file of one of the kinds {', '.join(_FORMATS)} is needed; got {str(format)[:20]!r}."
        )
    called = (str(name or "file").replace("\\", "/").rpartition("/")[2] or "file")[:_SHOWN]
    table = _table(session, session.made.whole(one.fitted), data, format, called)
    with matched():
        X = session.made.rows_of(table)
        Y = np.asarray(one.fitted.transform(session.made.rows_of(table, one.fitted)), np.float32)[:, : one.dims]
        trust = _trusted(session, one, X).astype(np.float32)
    Y = np.hstack([Y, np.zeros((len(Y), one.dims - Y.shape[1]), np.float32)])
    fields = {"placed": called, "count": len(Y), "map": one.number}
    return Message("place", None, fields, {"positions": Y, "trust": trust})


def _table(session: Session, model: Any, data: bytes, format: str, called: str) -> Table:
    """Table of the bytes, with the columns that the model takes."""
    # On Windows a file whose rows are mapped into memory cannot be removed.
    with tempfile.TemporaryDirectory(prefix="lowdim-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / f"dropped.{format}"  # our own name: no path from the page is ever opened
        path.write_bytes(data)

        def read_rows(**options: Any) -> Table:
            table, d = read(path, **options), model.n_features_in_
            if hasattr(model, "feature_names_in_") or table.X.shape[1] == d:
                return table
            if table.X.shape[1] == d + 1 and session.colour in table.names:
                return read(path, drop=[session.colour], **options)  # a table like the one explored, label and all
            raise ValueError(
                f"place: rows of {d} columns are needed; {path} has {table.X.shape[1]}. Drop a file like the data."
            )

        try:
            return table_for(model, read_rows)[0]
        except (ValueError, OSError) as error:
            raise ValueError(str(error).replace(str(path), called).replace(folder, "")) from None


def _trusted(session: Session, one: Map, X: Any) -> NDArray[np.float64]:
    """Trust in the position of each new row."""
    if hasattr(one.fitted, "trust"):
        return np.asarray(one.fitted.trust(X))
    rows = session.rows if one.rows is None else session.rows[one.rows]
    k = min(NEAREST, rows.shape[0] - 1)
    known = session.near(k) if one.rows is None else nearest(rows, k)
    new = nearest(rows, k, queries=searchable(in_form_of(X, rows), rows.dtype))
    if hasattr(one.fitted, "embedding_"):
        places = np.asarray(one.fitted.embedding_)
    else:
        given = session.made.rows_for(one.fitted) if takes_table(one.fitted) else rows
        places = np.asarray(one.fitted.transform(given if given is rows or one.rows is None else given[one.rows]))
    return trust(familiar(known.indices, known.distances, places), new.indices, new.distances, places)
