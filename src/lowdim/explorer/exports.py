"""Exports: tables, labels, models, images and pages, as bytes for the browser to save."""

import io
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.write import harmless
from lowdim.explorer import computing_pages, selection_analysis, thumbnails
from lowdim.explorer.message_format import Message, encode
from lowdim.explorer.page_source import plain, saved_page
from lowdim.explorer.running_fits import Map
from lowdim.explorer.session import Session
from lowdim.show import computing
from lowdim.work.atomic_files import atomic

if TYPE_CHECKING:
    from lowdim.explorer.protocol import Visitor

MIMES = {
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "lowdim": "application/octet-stream",
    "html": "text/html",
    "svg": "image/svg+xml",
    "png": "image/png",
}
_FORMATS = {
    "selection": ("csv", "parquet"),
    "labels": ("csv", "parquet"),
    "rows": ("csv", "parquet"),
    "model": ("lowdim",),
    "page": ("html",),
    "picture": ("svg", "png"),
}
_SAVED_COLUMNS, _SAVED_BYTES = 40, 24 * 2**20  # of a saved page
_SAVED_IMAGES = 20_000
_NAMED = 200_000  # rows up to which a saved page has the names of islands
_LEAST_DOUBTED, _DOUBTED = 50, 10_000  # rows between which it has the reliability of each, a second for each map
_AXES = "xyz"


def export(visitor: "Visitor", selected: NDArray[np.bool_], fields: dict[str, Any]) -> Message:
    """The requested export, as a file."""
    what, format = fields.get("what"), fields.get("format")
    if not isinstance(what, str) or format not in _FORMATS.get(what, ()):
        known = "; ".join(f"{one} as {' or '.join(formats)}" for one, formats in _FORMATS.items())
        raise ValueError(f"export: {str(what)[:20]!r} as {str(format)[:20]!r} is not available. Available: {known}.")
    session, view = visitor.session, plain(fields.get("view"))
    one = None if fields.get("map") is None else session.map(fields["map"])
    if what in ("selection", "labels", "rows"):
        content = _table(session, what, str(format), one, selected)
    elif what == "model":
        content = _model(session, _demanded(one, "model"))
    elif what == "picture":
        content = picture(session, _demanded(one, "picture"), str(format), view)
    else:
        content = _page(visitor, view)
    suffix = {"selection": "-selection", "labels": "-labels", "picture": "-map"}.get(what, "")
    name = f"{stem(session.title)}{suffix}.{format}"
    return Message(
        "export", None, {"filename": name, "mime": MIMES[str(format)]}, {"bytes": np.frombuffer(content, np.uint8)}
    )


def stem(title: str) -> str:
    """Name of a file for these data.

    >>> stem("../a b.csv")
    'a_b'
    """
    text = re.sub(r"[^\w.-]+", "_", title.replace("\\", "/").rstrip("/").rpartition("/")[2]).strip("._-")
    return re.sub(r"\.(csv|tsv|parquet|npy|npz|h5ad)(\.gz)?$", "", text)[:80] or "data"


def _demanded(one: Map | None, what: str) -> Map:
    if one is None:
        raise ValueError(f"export: a {what} needs a map. Choose one.")
    return one


def frame_of(session: Session, names: list[str], rows: NDArray[np.intp], one: Map | None = None) -> Any:
    """Columns of these rows as a polars DataFrame, with their positions on a map."""
    import polars as pl

    columns: dict[str, Any] = {"row": rows}
    for name in names:
        columns[name if name != "row" else "row_"] = pl.Series(session.column(name).raw(rows), strict=False)
    if one is not None and one.Y is not None:
        Y = one.positions()[rows]
        for j in range(Y.shape[1]):
            columns[_free(f"{one.method}_{_AXES[j]}", columns)] = pl.Series(Y[:, j]).fill_nan(None)
    return pl.DataFrame(columns)


def _free(name: str, taken: dict[str, Any]) -> str:
    while name in taken:
        name += "_"
    return name


def _table(session: Session, what: str, format: str, one: Map | None, selected: NDArray[np.bool_]) -> bytes:
    if what == "selection":
        rows = np.flatnonzero(selected)
        if not len(rows):
            raise ValueError("export: no rows are selected. Select some first.")
    else:
        rows = np.arange(session.n)
    if what == "labels":
        if not session.labels:
            raise ValueError("export: there are no labels yet. Select rows and name them first.")
        names = [*([session.identity] if session.identity else []), *session.labels]
        frame = frame_of(session, names, rows)
        session.unsaved = False
    else:
        frame = frame_of(session, [*session.columns, *session.labels], rows, one)
    out = io.BytesIO()
    frame.write_parquet(out) if format == "parquet" else harmless(frame).write_csv(out)
    return out.getvalue()


def rescue_labels(session: Session, folder: Path) -> Path:
    """Write labels that were not exported to a new file in a folder, and return its path."""
    name, turn = f"{stem(session.title)}-labels", 1
    path = folder / f"{name}.csv"
    while path.exists():
        turn += 1
        path = folder / f"{name}-{turn}.csv"
    with atomic(path) as file:
        file.write(_table(session, "labels", "csv", None, np.zeros(session.n, bool)))
    return path


def _model(session: Session, one: Map) -> bytes:
    from lowdim.methods.chain import save

    if one.fitted is None:
        raise ValueError(f"export: map {one.number} has no model until it is finished. Wait for it, or stop it.")
    with tempfile.TemporaryDirectory(prefix="lowdim-") as folder:
        path = Path(folder) / "map.lowdim"
        save(session.made.whole(one.fitted), path)
        return path.read_bytes()


def picture(session: Session, one: Map, format: str, view: dict[str, Any], dpi: int = 150) -> bytes:
    """Image of a map, drawn by Python."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from lowdim.show.scatter import scatter

    positions = one.positions()
    there = ~np.isnan(positions).any(axis=1)
    name = view.get("colour", session.colour)
    y = None
    if isinstance(name, str) and name:
        import polars as pl

        y = pl.Series(name, session.column(name).raw(np.flatnonzero(there)), strict=False)
    figure = Figure(figsize=(8, 6), layout="constrained")
    FigureCanvasAgg(figure)
    ax = figure.add_subplot(projection="3d" if positions.shape[1] == 3 else None)
    scatter(positions[there], y, ax=ax, title=f"{one.title} of {session.title}")
    out = io.BytesIO()
    figure.savefig(out, format=format, dpi=dpi, metadata={"Date": None} if format == "svg" else None)
    return out.getvalue()


def _page(visitor: "Visitor", view: dict[str, Any]) -> bytes:
    """The saved page: all maps in their current state, the columns that fit, and the state of the view."""
    session = visitor.session
    hello = visitor.hello()
    maps = [one for one in session.maps.values() if one.Y is not None]
    hello.fields |= {"maps": [one.described() for one in maps], "saved": True, "methods": []}
    messages = [hello]
    first = [name for name in (view.get("colour"), session.colour, session.identity) if isinstance(name, str)]
    size = 0
    for name in list(dict.fromkeys([*first, *session.labels, *session.columns]))[:_SAVED_COLUMNS]:
        if name not in session.columns and name not in session.labels:
            continue
        message = visitor.column(name)
        size += sum(array.nbytes for array in message.arrays.values())
        if size > _SAVED_BYTES:
            break
        messages.append(message)
    saved = {message.fields["name"] for message in messages[1:]}
    hello.fields["columns"] = [one for one in hello.fields["columns"] if one["name"] in saved]
    for one in maps:
        frame = one.picture()
        if frame is not None:
            messages.append(Message("frame", None, frame.fields | {"final": True}, frame.arrays))
        if one.trace:
            messages.append(one.curve())
        if session.n <= _NAMED:
            messages.append(selection_analysis.names(session, one.number, view.get("colour")))
        if _LEAST_DOUBTED <= session.n <= _DOUBTED and one.fitted is not None and one.rows is None:
            messages.append(selection_analysis.doubted(session, one.number, 0))
    hello.fields["doubted"] = [message.fields["map"] for message in messages if message.type == "reliability"]
    if session.image_shape is not None and session.n <= _SAVED_IMAGES:
        messages.append(thumbnails.atlas(session, np.arange(session.n)))
    messages.append(Message("view", None, {"view": view}))
    return _computing(session, messages, hello)


def _computing(session: Session, messages: list[Message], hello: Message) -> bytes:
    """The saved page with what it needs to compute, or with the reason why it does not."""
    title, engine = f"{session.title} – lowdim", None
    room = computing.PAGE_BYTES - len(saved_page(map(encode, messages), title).encode())
    message, why = computing_pages.compute_message(session, room)
    if message is None:
        hello.fields["computes_not"] = why
    else:
        hello.fields["methods"] = computing_pages.methods(session.ground)
        messages.insert(-1, message)
        engine = computing.packed_module()
    return saved_page(map(encode, messages), title, engine).encode()
