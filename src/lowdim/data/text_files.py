"""Text and parquet files into tables, through polars."""

import csv
import gzip
import io
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lowdim.data.column_kinds import recognise
from lowdim.data.file_errors import damaged, listing
from lowdim.data.file_memory import demand_frame, demand_text, demand_texts, demand_unpacked, unpacked
from lowdim.data.report_layout import TitlesAboveError, lines_above, mend
from lowdim.data.table import Table, Wanted, as_list, from_frame
from lowdim.data.text_formats import MARKS, MISSING, are_codes, number_style, spelled_numbers, stripped
from lowdim.data.text_lines import (
    NotUTF8Error,
    below_lines,
    even,
    first_lines,
    in_utf16,
    named_separator,
    opened,
    recoded,
    separator_of,
    zero_padded,
)
from lowdim.work.archive_errors import ARCHIVE_ERRORS

if TYPE_CHECKING:
    import polars as pl

_SHAPE = ("separator", "has_header", "glob")
_PANDAS_INDEX = "__index_level_0__"
_SIGNS = {";": "semicolons", "\t": "tabs", "|": "bars"}
_HEADER = 0.6  # share of the cells of a header that are filled, in a sheet
_PROBE = 10_000  # rows by which types of columns are first inferred


def read_text(data: Path | bytes, source: str, wanted: Wanted, separator: str | None = None) -> Table:
    """Table of a file of text, or of its bytes; the separator is detected unless given."""
    if isinstance(data, Path) and data.suffix.lower() == ".gz":
        try:
            with gzip.GzipFile(data) as file:
                demand_unpacked(file, source)
            with gzip.GzipFile(data) as file:
                data = unpacked(file, source)
        except ARCHIVE_ERRORS as error:
            raise damaged(source, "gzip", error, "Compress it again.") from None
    try:
        if in_utf16(data):
            raise NotUTF8Error
        return _read(data, source, wanted, separator, [])
    except NotUTF8Error:
        data, encoding = recoded(data, source)
        return _read(data, source, wanted, separator, [f"encoded in {encoding}"])


def _read(data: Path | bytes, source: str, wanted: Wanted, separator: str | None, notes: list[str]) -> Table:
    """Table of text in UTF-8; ``notes`` list what was detected so far."""
    import polars as pl

    skip = wanted.layout.skip
    if skip:
        data = below_lines(data, skip)
    lines = first_lines(data, source, notes)
    above_it = skip or 0
    if lines and (named := named_separator(lines[0])):
        above_it += 1
        separator, data, lines = named, below_lines(data, 1), lines[1:]
        notes.append(f"separated by {_SIGNS.get(named, repr(named))}, as its first line says")
    if separator is None:
        separator = separator_of(lines)
        if separator != ",":
            notes.append(f"separated by {_SIGNS[separator]}")
    if skip is None and (above := lines_above(lines, separator)):
        what, them = ("a title", "it") if above == 1 else (f"{above} lines of titles", "them")
        raise TitlesAboveError(
            f"read: the first line must be the header; the table of {source} seems to begin in line {above + 1}, below "
            f"{what}. Pass skip={above} to leave {them} out, or skip=0.",
            above,
        )
    first, second = [*(line for line in lines if line.strip()), ""][:2]
    try:
        cells, below = (next(csv.reader([line], delimiter=separator), []) for line in (first, second))
    except csv.Error as error:
        raise damaged(source, "text", error, "Check its quotes and line ends.") from None
    header = not _is_numbers(cells, below, commas=separator != ",")
    names = [cell.strip() for cell in cells]
    demand_text(data, separator, len(cells), source)
    if header and (twice := next((name for name, n in Counter(names).items() if name and n > 1), None)):
        raise ValueError(
            f"read: column names must be unique; {source} has {twice!r} more than once. Rename one of them."
        )
    # Labels and ids are read as text first: 007 is not 7.
    kept = {cell: pl.String for j, cell in enumerate(cells) if _keeps_text(j, cell.strip(), wanted)}
    options: dict[str, Any] = {
        "separator": separator,
        "has_header": header,
        "new_columns": None if header else [f"x{j}" for j in range(len(cells))],
        "schema_overrides": kept if header else None,
        "glob": False,
    }
    try:
        try:  # types by the first rows, which is quick; by all rows where one of the others differs
            frame = pl.read_csv(data, infer_schema_length=_PROBE, **options)
        except pl.exceptions.PolarsError:
            frame = pl.read_csv(data, infer_schema_length=None, **options)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, *ARCHIVE_ERRORS) as error:
        if "utf-8" in str(error).lower():
            raise NotUTF8Error from None
        _blank_rows(data, source, separator, header, len(cells), above_it)  # a ragged line is the likely cause: name it
        raise damaged(source, "text", error, "Check its quotes.") from None
    if wanted.mixed and (padded := zero_padded(data, frame, separator)):
        texts = pl.read_csv(data, columns=padded, infer_schema=False, **{k: options[k] for k in _SHAPE})
        codes = [column.alias(frame.columns[j]) for j, column in zip(padded, texts, strict=True)]
        frame = frame.with_columns([text for text in codes if are_codes(stripped(text).drop_nulls())])
    if frame.width > 1 and frame.height and frame[:, -1].null_count():
        blank = _blank_rows(data, source, separator, header, frame.width, above_it)
        frame = frame.filter(~pl.Series(np.isin(np.arange(frame.height), blank))) if blank else frame
    if frame.width == 1 and frame.height and (filled := frame[:, 0].is_not_null()).any():
        frame = frame.head(int(filled.arg_true()[-1]) + 1)  # blank lines at the end hold no value that is missing
    # polars leaves doubled quotes in names as they are; names that are not all different it numbers itself
    if header and len(set(names)) == frame.width == len(names) and first.count('"') % 2 == 0:
        frame.columns = names
    frame = mend(frame, wanted.layout)
    frame, index, spelt = _tidy(frame, wanted, commas=separator != ",")
    notes += [f"{style} in {n} column{'s' * (n > 1)}" for style, n in spelt.items()]
    return replace(from_frame(frame, wanted, source, id=index), notes=tuple(notes))


def _keeps_text(place: int, name: str, wanted: Wanted) -> bool:
    return name in (wanted.label, wanted.id) or (place == 0 and not name)


def _is_numbers(cells: list[str], below: list[str], *, commas: bool) -> bool:
    """Whether the first line is data: all numbers, and not the 0, 1, 2, ... of a pandas header."""
    cells = [cell.strip() for cell in cells]
    numbers = [_parses(cell.replace(",", ".", 1) if commas else cell, float) for cell in cells]
    if not any(numbers) or not all(ok or cell in MISSING for ok, cell in zip(numbers, cells, strict=True)):
        return False
    counts = [str(j) for j in range(len(cells))]
    if cells == counts:  # 0, 1 may be data: a header only if the next line is not integers
        return len(cells) < 2 or (len(cells) == 2 and all(_parses(cell, int) for cell in below))
    return cells != ["", *counts[:-1]]


def _parses(cell: str, kind: type) -> bool:
    try:
        kind(cell)
    except ValueError:
        return False
    return True


def _blank_rows(data: Path | bytes, source: str, separator: str, header: bool, width: int, above: int = 0) -> list[int]:
    """Positions of blank lines among the rows; raises if a line has more or fewer cells than the first.

    ``above`` lines of the file are not in ``data``.
    """
    if even(data, separator, width):
        return []
    blank: list[int] = []
    try:
        with opened(data) as file:
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
                        f"line {above + lines.line_num} of {source} has {len(cells)}. "
                        f"Correct the line, or quote cells that contain {separator!r}."
                    )
                row += 1
    except (csv.Error, OSError, EOFError):
        return []
    return blank


def _tidy(frame: "pl.DataFrame", wanted: Wanted, *, commas: bool) -> tuple["pl.DataFrame", str | None, Counter[str]]:
    """Frame of a text file, text converted to numbers where possible; its row index, if any; number formats."""
    import polars as pl

    unnamed = [name for name in frame.columns[1:] if name == "" or name.startswith("_duplicated_")]
    if blank := [name for name in unnamed if frame[name].null_count() == frame.height]:  # lines that end in separators
        frame = frame.drop(blank)
    index = "index" if frame.columns[0] == "" and "index" not in frame.columns else None
    if index:
        frame = frame.rename({"": index})
    spelt: Counter[str] = Counter()
    for column in frame:
        if column.dtype == pl.String:
            identity = column.name in (wanted.id, index)
            text = column.str.strip_chars() if identity else stripped(column)
            if wanted.mixed and are_codes(text.drop_nulls()):
                frame = frame.with_columns(text)
                continue
            if wanted.mixed and not identity and column.name != wanted.label and (marked := _marked(text)) is not None:
                text, mark = marked
                spelt[mark] += 1
            numbers = _numbers(text, identity or column.name == wanted.label, whole=identity)
            if numbers.dtype == pl.String and not identity and column.name != wanted.label and _maybe_numbers(text):
                style, share = number_style(text, commas=commas)
                if share == 1.0:
                    numbers, spelt[style] = spelled_numbers(text, style), spelt[style] + 1
            frame = frame.with_columns(numbers)
    return *_without_index(frame, index, wanted), spelt


def _marked(text: "pl.Series") -> tuple["pl.Series", str] | None:
    """Numbers or dates in text without the marks that stand for missing values among them, and a note of the marks."""
    marks = text.is_in(MARKS)
    if not marks.any():
        return None
    rest = text.set(marks, None)
    if recognise(rest).kind not in ("number", "date"):
        return None  # a level among others
    return rest, f"{listing(text.filter(marks).unique().sort().to_list())} taken as missing"


def _numbers(text: "pl.Series", exact: bool, whole: bool) -> "pl.Series":
    """Column of text as numbers, or the text.

    ``exact`` keeps text that integers would not reproduce (007); ``whole`` accepts integers only.
    """
    import polars as pl

    if exact and _all_numbers(text, pl.Int64):
        numbers = text.cast(pl.Int64)
        return numbers if (numbers.cast(pl.String) == text).all() else text
    return text.cast(pl.Float64) if not whole and _all_numbers(text, pl.Float64) else text


def _maybe_numbers(text: "pl.Series") -> bool:
    """Whether the first cells have digits, which words do not."""
    return bool(text.drop_nulls().head(100).str.contains(r"\d").all())


def _all_numbers(text: "pl.Series", dtype: Any) -> bool:
    return _maybe_numbers(text) and bool(text.cast(dtype, strict=False).null_count() == text.null_count())


def _without_index(frame: "pl.DataFrame", index: str | None, wanted: Wanted) -> tuple["pl.DataFrame", str | None]:
    """Frame whose row index is the id, or is dropped if another column is: it is not a feature unless requested."""
    if index is None or index in (wanted.label, *as_list(wanted.columns)):
        return frame, None
    return (frame, index) if wanted.id in (None, index) else (frame.drop(index), None)


def read_parquet(path: Path, source: str, wanted: Wanted) -> Table:
    """Table of a parquet file."""
    import polars as pl

    try:
        demand_frame(path, source)
        frame = pl.read_parquet(path, glob=False, hive_partitioning=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise damaged(source, "parquet", error) from None
    demand_texts(frame, source)
    return of_frame(frame, source, wanted)


def demand_header(frame: "pl.DataFrame", source: str) -> None:
    """Refuse a sheet whose first row names few of its columns: the header seems to stand below it."""
    unnamed = sum(name.startswith("__UNNAMED__") for name in frame.columns)
    if not 2 * unnamed > frame.width > 1:
        return
    above = 1
    for row in frame.head(50).rows():
        if sum(cell not in (None, "") for cell in row) > _HEADER * frame.width:
            what, them = ("a title", "it") if above == 1 else (f"{above} rows", "them")
            raise TitlesAboveError(
                f"read: the first row must be the header; the table of {source} seems to begin below {what}. "
                f"Pass skip={above} to leave {them} out, or skip=0.",
                above,
            )
        above += 1


def of_frame(
    frame: "pl.DataFrame",
    source: str,
    wanted: Wanted,
    notes: tuple[str, ...] = (),
    *,
    sheet: bool = False,
) -> Table:
    """Table of a frame whose columns have types; those of text in a ``sheet`` may spell numbers."""
    import polars as pl

    if wanted.layout.skip and not sheet:
        raise ValueError(f"read: skip is for text files and spreadsheets; {source} has named columns. Leave it out.")
    index = _PANDAS_INDEX if _PANDAS_INDEX in frame.columns else None
    frame = mend(frame, wanted.layout)
    if frame.height and sheet and any(dtype == pl.String for dtype in frame.dtypes):
        frame, _, spelt = _tidy(frame, wanted, commas=False)
        notes = (*notes, *(f"{style} in {n} column{'s' * (n > 1)}" for style, n in spelt.items()))
    frame, index = _without_index(frame, index, wanted)
    return replace(from_frame(frame, wanted, source, id=index), notes=notes)
