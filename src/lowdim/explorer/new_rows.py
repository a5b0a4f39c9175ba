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
from lowdim.relate.neighbors import nearest
from lowdim.relate.trust import spacings, trust
from lowdim.work.rows import in_form_of, searchable

_FORMATS = ("csv", "tsv", "parquet", "npy", "npz")
_NEAREST = 15  # neighbours used for trust
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
    X = session.prepared(_table(session, data, format, called))
    Y = np.asarray(one.fitted.transform(X), np.float32)[:, : one.dims]
    Y = np.hstack([Y, np.zeros((len(Y), one.dims - Y.shape[1]), np.float32)])
    fields = {"placed": called, "count": len(Y), "map": one.number}
    return Message("place", None, fields, {"positions": Y, "trust": _trusted(session, one, X).astype(np.float32)})


def _table(session: Session, data: bytes, format: str, called: str) -> Table:
    """Table of the bytes, with the columns that the rows of the session come from."""
    with tempfile.TemporaryDirectory(prefix="lowdim-") as folder:
        path = Path(folder) / f"dropped.{format}"  # our own name: no path from the page is ever opened
        path.write_bytes(data)
        try:
            return _matched(session, path)
        except (ValueError, OSError) as error:
            raise ValueError(str(error).replace(str(path), called).replace(folder, "")) from None


def _matched(session: Session, path: Path) -> Table:
    if session.names is not None:
        return read(path, columns=session.names, mixed=bool(session.steps))
    table = read(path)
    d = int(session.X.shape[1])
    if table.X.shape[1] == d + 1 and session.colour in table.names:
        table = read(path, drop=[session.colour or ""])  # a table like the one explored, label and all
    if table.X.shape[1] != d:
        raise ValueError(
            f"place: rows of {d} columns are needed; {path} has {table.X.shape[1]}. Drop a file like the data."
        )
    return table


def _trusted(session: Session, one: Map, X: Any) -> NDArray[np.float64]:
    """Trust in the position of each new row."""
    if hasattr(one.fitted, "trust"):
        return np.asarray(one.fitted.trust(X))
    rows = session.rows if one.rows is None else session.rows[one.rows]
    k = min(_NEAREST, rows.shape[0] - 1)
    known = session.near(k) if one.rows is None else nearest(rows, k)
    new = nearest(rows, k, queries=searchable(in_form_of(X, rows), rows.dtype))
    return trust(spacings(known.indices, known.distances), new.indices, new.distances)
