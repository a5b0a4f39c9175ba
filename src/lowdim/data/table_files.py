"""Tables of other programs: spreadsheets, JSON, Arrow, databases, and files of statistics packages."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lowdim.data.file_errors import damaged, find, listing
from lowdim.data.file_memory import demand_texts
from lowdim.data.table import Table, Wanted
from lowdim.data.text_files import demand_header, of_frame
from lowdim.data.text_formats import MISSING
from lowdim.work import memory
from lowdim.work.archive_errors import ARCHIVE_ERRORS

if TYPE_CHECKING:
    import polars as pl

PART = "::"  # separates a file from a table, sheet or query in it
_INSTEAD = "Save the columns that are needed, or convert the file to .parquet."
_PACKED = 30.0  # bytes in memory for each byte of a compressed spreadsheet
_PLAIN = 6.0  # and of a file that is not compressed


def _needs(package: str, extra: str, source: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        raise ImportError(
            f"read: the package {package} is needed for {source}; it is not installed. Install it: "
            f"pip install 'lowdim[{extra}]'."
        ) from None


def _demand(path: Path, source: str, factor: float) -> None:
    memory.require(factor * path.stat().st_size, f"read: {source}", _INSTEAD)


def _checked(read: Callable[[], "pl.DataFrame"], source: str, kind: str, advice: str = "Save it again.") -> Any:
    """What ``read`` returns; its errors say what kind of file is needed."""
    import polars as pl

    try:
        frame = read()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, *ARCHIVE_ERRORS) as error:
        raise damaged(source, kind, error, advice) from None
    demand_texts(frame, source)
    return frame


def read_excel(path: Path, source: str, wanted: Wanted, part: str) -> Table:
    """Table of a sheet of a spreadsheet: the first, or the one that is named."""
    import polars as pl

    fastexcel = _needs("fastexcel", "excel", source)
    _demand(path, source, _PACKED)
    try:
        sheets = list(fastexcel.read_excel(path).sheet_names)
    except Exception as error:  # calamine has exceptions of its own
        raise damaged(source, "spreadsheet", error, "Save it again as .xlsx or .csv.") from None
    name = sheets[0] if not part else find("sheet", part, sheets, str(path))
    skip = wanted.layout.skip or 0
    options = {"header_row": skip}
    frame = _checked(
        lambda: pl.read_excel(
            path, sheet_name=name, engine="calamine", read_options=options, raise_if_empty=False, drop_empty_rows=False
        ),
        source,
        "spreadsheet",
    )
    if wanted.layout.skip is None:
        demand_header(frame, source)
    frame = _without_margins(frame)
    if not part and len(sheets) > 1 and (frame.height < 2 or (frame.width == 1 and frame.dtypes[0] == pl.String)):
        raise ValueError(
            f"read: a sheet with a table is needed; the first of {source}, {name!r}, has {frame.height} row(s) of "
            f"{frame.width} column(s). Name another, as by '{path}{PART}{sheets[1]}'; there are {listing(sheets)}."
        )
    notes = (f"sheet {name!r} of {listing(sheets)}",) if len(sheets) > 1 else ()
    return of_frame(frame, source, wanted, notes, sheet=True)


def _without_margins(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Sheet without the rows and the unnamed columns that are empty."""
    import polars as pl

    blank = [name for name in frame.columns if name.startswith("__UNNAMED__") and not frame[name].count()]
    frame = frame.drop(blank)
    return frame.filter(~pl.all_horizontal(pl.all().is_null())) if frame.width else frame


def read_json(path: Path, source: str, wanted: Wanted, part: str) -> Table:
    """Table of a JSON list of records."""
    import polars as pl

    _refuse_part(part, source)
    _demand(path, source, _PLAIN)
    advice = "A table is a list of records, [{...}, {...}], or one record per line (.ndjson)."
    frame = _checked(lambda: pl.read_json(path, infer_schema_length=None), source, "JSON", advice)
    return of_frame(frame, source, wanted)


def read_ndjson(path: Path, source: str, wanted: Wanted, part: str) -> Table:
    """Table of one JSON record per line."""
    import polars as pl

    _refuse_part(part, source)
    _demand(path, source, _PLAIN)
    frame = _checked(
        lambda: pl.read_ndjson(path, infer_schema_length=None), source, "NDJSON", "Write one record a line."
    )
    return of_frame(frame, source, wanted)


def read_arrow(path: Path, source: str, wanted: Wanted, part: str) -> Table:
    """Table of an Arrow or feather file, as a file or as a stream."""
    import polars as pl

    _refuse_part(part, source)
    _demand(path, source, _PLAIN)
    with open(path, "rb") as file:
        whole = file.read(6) == b"ARROW1"
    read = pl.read_ipc if whole else pl.read_ipc_stream
    return of_frame(
        _checked(lambda: read(path.read_bytes()), source, "Arrow", "Write it as version 2."), source, wanted
    )


def read_sqlite(path: Path, source: str, wanted: Wanted, part: str) -> Table:
    """Table of an SQLite file: the only one, the one that is named, or the result of a query."""
    import polars as pl

    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as base:
            names = [row[0] for row in base.execute("select name from sqlite_master where type in ('table', 'view')")]
            query = _query(part, [name for name in names if not name.startswith("sqlite_")], str(path))
            cursor = base.execute(query)
            columns = [column[0] for column in cursor.description or ()]
            rows = cursor.fetchall()
    except sqlite3.Error as error:
        raise damaged(source, "SQLite", error, "Check the file and the query.") from None
    memory.require(100.0 * len(rows) * len(columns), f"read: {len(rows):,} rows of {source}", _INSTEAD)
    read = lambda: pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None, strict=False)  # noqa: E731
    return of_frame(_checked(read, source, "SQLite"), source, wanted)


def read_duckdb(path: Path, source: str, wanted: Wanted, part: str) -> Table:
    """Table of a DuckDB file: the only one, the one that is named, or the result of a query."""
    import polars as pl

    duckdb = _needs("duckdb", "duckdb", source)
    _needs("pyarrow", "duckdb", source)
    try:
        with closing(duckdb.connect(str(path), read_only=True)) as base:
            base.execute("set enable_external_access = false")  # a query reads this file only
            names = [row[0] for row in base.execute("select table_name from information_schema.tables").fetchall()]
            frame = pl.DataFrame(base.sql(_query(part, names, str(path))).to_arrow_table())
    except duckdb.Error as error:
        raise damaged(source, "DuckDB", error, "Check the file and the query.") from None
    return of_frame(frame, source, wanted)


def _query(part: str, names: list[str], path: str) -> str:
    """Query of the part of a database that is named: a table or a query."""
    if part.strip().lower().startswith(("select ", "with ", "from ")):
        return part
    if not part and len(names) != 1:
        raise ValueError(
            f"read: one table is needed; {path} has {listing(names, 20) or 'none'}. Name one, as by "
            f"'{path}{PART}{names[0] if names else 'TABLE'}', or a query, '{path}{PART}select …'."
        )
    name = find("table", part, names, path) if part else names[0]
    return 'select * from "' + name.replace('"', '""') + '"'


def read_statistics(path: Path, source: str, wanted: Wanted, part: str) -> Table:
    """Table of a file of Stata, SPSS or SAS; values with labels become ordered answers' words or categories."""
    import polars as pl

    _refuse_part(part, source)
    pyreadstat = _needs("pyreadstat", "statistics", source)
    _demand(path, source, _PLAIN)
    readers = {".dta": "read_dta", ".sav": "read_sav", ".zsav": "read_sav", ".sas7bdat": "read_sas7bdat"}
    read = getattr(pyreadstat, readers.get(path.suffix.lower(), "read_xport"))
    try:
        columns, meta = read(str(path), output_format="dict")
    except Exception as error:  # its exceptions have no common base
        raise damaged(source, path.suffix, error) from None
    words = getattr(meta, "variable_value_labels", {}) or {}
    listed = {name: _listed(values) for name, values in columns.items()}
    for name, labels in words.items():  # words for some of the values, as of answers
        if name in listed and set(listed[name]) - {None} <= set(labels):
            listed[name] = [None if value is None else str(labels[value]) for value in listed[name]]
    made = {name: pl.Series(name, values, strict=False) for name, values in listed.items()}
    return of_frame(_checked(lambda: pl.DataFrame(made), source, path.suffix), source, wanted)


def _listed(values: Any) -> list[Any]:
    items = values.tolist() if hasattr(values, "tolist") else list(values)
    return [
        None if item is None or item != item or (isinstance(item, str) and item in MISSING) else item for item in items
    ]


def _refuse_part(part: str, source: str) -> None:
    if part:
        raise ValueError(
            f"read: a file of one table has no parts; got {part!r} for {source}. Leave out '{PART}{part}'."
        )


READERS: dict[str, Callable[[Path, str, Wanted, str], Table]] = {
    **dict.fromkeys(("xlsx", "xlsm", "xlsb", "xls", "ods"), read_excel),
    "json": read_json,
    **dict.fromkeys(("ndjson", "jsonl"), read_ndjson),
    **dict.fromkeys(("feather", "arrow", "ipc"), read_arrow),
    **dict.fromkeys(("sqlite", "sqlite3", "db"), read_sqlite),
    **dict.fromkeys(("duckdb", "ddb"), read_duckdb),
    **dict.fromkeys(("dta", "sav", "zsav", "sas7bdat", "xpt"), read_statistics),
}
