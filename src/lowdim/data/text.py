"""Text and parquet files into tables, through polars."""

import csv
import gzip
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lowdim.data.complaints import damaged, no_data
from lowdim.data.table import Table, Wanted, as_list, from_frame
from lowdim.work.archive_errors import ARCHIVE_ERRORS

if TYPE_CHECKING:
    import polars as pl

# cells of text files without a value
MISSING = ("", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None", "?")
_PANDAS_INDEX = "__index_level_0__"


def read_text(data: Path | bytes, source: str, wanted: Wanted, separator: str | None = None) -> Table:
    """Table of a file of text, or of its bytes; the separator is found out unless given."""
    import polars as pl

    first, second = _first_lines(data, source)
    separator = separator or _separator(first, second)
    try:
        cells, below = (next(csv.reader([line], delimiter=separator), []) for line in (first, second))
    except csv.Error as error:
        raise damaged(source, "text", error, "Check its quotes and line ends.") from None
    header = not _is_numbers(cells, below)
    # Labels and ids are read as text first: 007 is not 7.
    kept = {cell: pl.String for j, cell in enumerate(cells) if _keeps_text(j, cell.strip(), wanted)}
    try:
        frame = pl.read_csv(
            data if isinstance(data, bytes) or data.suffix.lower() != ".gz" else gzip.decompress(data.read_bytes()),
            separator=separator,
            has_header=header,
            new_columns=None if header else [f"x{j}" for j in range(len(cells))],
            schema_overrides=kept if header else None,
            infer_schema_length=None,
            glob=False,
        )
    except (pl.exceptions.PolarsError, *ARCHIVE_ERRORS) as error:
        _blank_rows(data, source, separator, header, len(cells))  # a ragged line is the likely cause: name it
        raise damaged(source, "text", error, "Check its quotes and its encoding (UTF-8).") from None
    if frame.width > 1 and frame.height and frame[:, -1].null_count():
        blank = _blank_rows(data, source, separator, header, frame.width)
        frame = frame.filter(~pl.Series(np.isin(np.arange(frame.height), blank)))
    if frame.width == 1 and frame.height and (filled := frame[:, 0].is_not_null()).any():
        frame = frame.head(int(filled.arg_true()[-1]) + 1)  # blank lines at the end hold no value that is missing
    names = [cell.strip() for cell in cells]
    # polars leaves doubled quotes in names as they are; names that are not all different it numbers itself
    if header and len(set(names)) == frame.width == len(names) and first.count('"') % 2 == 0:
        frame.columns = names
    frame, index = _tidy(frame, wanted)
    return from_frame(frame, wanted, source, id=index)


def _separator(first: str, second: str) -> str:
    """Sign that divides both lines into equally many cells; most cells win, the usual sign where equal."""
    counts = {sign: [re.sub('"[^"]*"', "", line).count(sign) for line in (first, second)] for sign in ",\t;|"}
    even = [sign for sign, (above, below) in counts.items() if above == below > 0]
    return max(even or counts, key=lambda sign: counts[sign][0])


def _keeps_text(place: int, name: str, wanted: Wanted) -> bool:
    return name in (wanted.label, wanted.id) or (place == 0 and not name)


def _open(data: Path | bytes) -> io.BytesIO | io.BufferedReader | gzip.GzipFile:
    if isinstance(data, bytes):
        return io.BytesIO(data)
    return gzip.GzipFile(data) if data.suffix.lower() == ".gz" else open(data, "rb")


def _first_lines(data: Path | bytes, source: str) -> tuple[str, str]:
    """First two lines that are not blank, the second empty if there is none."""
    try:
        with _open(data) as file:
            lines = (line.decode("utf-8-sig").rstrip("\r\n") for line in file)
            filled = (line for line in lines if line.strip())
            first, second = next(filled, ""), next(filled, "")
    except UnicodeDecodeError as error:
        raise damaged(source, "text", error, "Save it as UTF-8.") from None
    except ARCHIVE_ERRORS as error:
        raise damaged(source, "gzip", error, "Compress it again.") from None
    if not first:
        raise ValueError(no_data(source))
    if "\0" in first:
        raise damaged(source, "text", "it holds binary data", "Name the file after what it is.")
    return first, second


def _is_numbers(cells: list[str], below: list[str]) -> bool:
    """Whether the first line is data: all numbers, and not the 0, 1, 2, ... of a pandas header."""
    cells = [cell.strip() for cell in cells]
    numbers = [_parses(cell, float) for cell in cells]
    if not any(numbers) or not all(ok or cell in MISSING for ok, cell in zip(numbers, cells, strict=True)):
        return False
    counts = [str(j) for j in range(len(cells))]
    if cells == counts:  # 0, 1 alone may well be data: a header then if what follows is no count
        return len(cells) < 2 or (len(cells) == 2 and all(_parses(cell, int) for cell in below))
    return cells != ["", *counts[:-1]]


def _parses(cell: str, kind: type) -> bool:
    try:
        kind(cell)
    except ValueError:
        return False
    return True


def _blank_rows(data: Path | bytes, source: str, separator: str, header: bool, width: int) -> list[int]:
    """Places of blank lines among the rows; raises if a line has more or fewer cells than the first."""
    blank: list[int] = []
    try:
        with _open(data) as file:
            lines = csv.reader(io.TextIOWrapper(file, "utf-8-sig", "replace", newline=""), delimiter=separator)
            row, started = 0, False
            for cells in lines:
                if not started and (header or not cells):
                    started = bool(cells)
                    continue
                started = True
                if not cells:
                    blank.append(row)
                elif len(cells) != width:
                    raise ValueError(
                        f"read: every line needs {width} cells; "
                        f"line {lines.line_num} of {source} has {len(cells)}. "
                        f"Correct the line, or quote cells that contain {separator!r}."
                    )
                row += 1
    except (csv.Error, OSError, EOFError):
        return []
    return blank


def _tidy(frame: "pl.DataFrame", wanted: Wanted) -> tuple["pl.DataFrame", str | None]:
    """Frame of a text file, numbers where text spells them, and the name of its row index if it has one."""
    import polars as pl

    if "" in frame.columns[1:] and frame[""].null_count() == frame.height:  # lines that end in a separator
        frame = frame.drop("")
    index = "index" if frame.columns[0] == "" and "index" not in frame.columns else None
    if index:
        frame = frame.rename({"": index})
    for column in frame:
        if column.dtype == pl.String:
            text = column.str.strip_chars()
            if column.name not in (wanted.id, index):
                text = text.set(text.is_in(MISSING), None)
            exact = column.name in (wanted.id, wanted.label, index)
            frame = frame.with_columns(_numbers(text, exact, whole=column.name in (wanted.id, index)))
    return _without_index(frame, index, wanted)


def _numbers(text: "pl.Series", exact: bool, whole: bool) -> "pl.Series":
    """Numbers that a column of text spells, or the text.

    ``exact`` keeps text that whole numbers would not give back (007); ``whole`` wants no other numbers.
    """
    import polars as pl

    if exact and _all_numbers(text, pl.Int64):
        numbers = text.cast(pl.Int64)
        return numbers if (numbers.cast(pl.String) == text).all() else text
    return text.cast(pl.Float64) if not whole and _all_numbers(text, pl.Float64) else text


def _all_numbers(text: "pl.Series", dtype: Any) -> bool:
    return bool(text.cast(dtype, strict=False).null_count() == text.null_count())


def _without_index(frame: "pl.DataFrame", index: str | None, wanted: Wanted) -> tuple["pl.DataFrame", str | None]:
    """Frame whose row index is the id, or is gone where another column is: no feature unless asked for."""
    if index is None or index in (wanted.label, *as_list(wanted.columns)):
        return frame, None
    return (frame, index) if wanted.id in (None, index) else (frame.drop(index), None)


def read_parquet(path: Path, source: str, wanted: Wanted) -> Table:
    """Table of a parquet file."""
    import polars as pl

    try:
        frame = pl.read_parquet(path, glob=False, hive_partitioning=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise damaged(source, "parquet", error) from None
    index = _PANDAS_INDEX if _PANDAS_INDEX in frame.columns else None
    frame, index = _without_index(frame, index, wanted)
    return from_frame(frame, wanted, source, id=index)
