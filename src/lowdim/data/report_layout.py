"""Tables laid out as reports: titles above the header, totals, repeated headers, copies of rows, genes in rows.

What looks like one of these is told, with the option that mends it; nothing is changed unless it is asked for.
"""

import csv
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

_LINES = 60  # lines from which the width of the table is taken
_HEADER = 0.6  # share of the cells of a header that are filled
_TOTAL = (
    r"^(?:grand |sub-?|sub )?totals?\b|^sum$|^sums$|^(?:gesamt|summe|insgesamt|zwischensumme|gesamtsumme)\b|"
    r"^(?:total général|sous-total|somme)\b|^(?:totale|subtotale|somma)\b|^(?:totaal|subtotaal)\b|^(?:suma|soma)$"
)
_ADDED = 7  # rows from which a last row that adds up the others is taken for their total
_SEEN = 20_000  # rows by which copies are suspected
_COPIES, _SHARE = 1000, 0.1  # copies of rows that are told: so many, and so large a share
_GENES = r"^(?:gene|genes|gene_?id|gene_?name|gene_?symbol|symbol|ensembl.*|probe.*|probeset.*|feature_?id|id_ref|"
_GENES += r"protein.*|metabolite.*|transcript.*|otu.*|#otu.*|taxon.*|taxa)$"
_SAMPLES = r"^(?:sample|patient|subject|donor|cell|gsm|tcga|srr|err|ctrl|control|treated|case|s|p)[\W_]*\w*\d+\w*$"


@dataclass(frozen=True)
class Layout:
    """What is mended as a table is read."""

    skip: int | None = None  # lines above the header; None refuses tables that seem to have some
    transpose: bool = False
    drop_duplicates: bool = False
    drop_totals: bool = False


@dataclass(frozen=True)
class Suspicion:
    """Something about a table that looks like a report, and the option that mends it."""

    what: str
    option: str
    words: str


class TitlesAboveError(ValueError):
    """A text file whose header has ``lines`` lines above it."""

    def __init__(self, message: str, lines: int) -> None:
        super().__init__(message)
        self.lines = lines


def lines_above(lines: list[str], separator: str) -> int:
    """Lines above the header: those before the first that has as many filled cells as the table needs.

    >>> lines_above(["Sales 2023", "", "city,sales,costs", "Rome,1,2", "Oslo,3,4"], ",")
    2
    """
    try:
        cells = [next(csv.reader([line], delimiter=separator), []) for line in lines[:_LINES]]
    except csv.Error:
        return 0
    widths = Counter(len(row) for row in cells if len(row) > 1)
    if not widths:
        return 0
    width = max(widths, key=lambda one: (widths[one], one))
    if width < 2 or widths[width] < max(2, 0.5 * sum(bool(row) for row in cells)):
        return 0
    for above, row in enumerate(cells):
        filled = sum(bool(cell.strip()) for cell in row) + (not row or not row[0].strip())  # an index has no name
        if len(row) == width and filled >= max(2, _HEADER * width):
            return above if any(any(one) for one in cells[:above]) else 0  # blank lines are no titles
    return 0


def mend(frame: "pl.DataFrame", layout: Layout) -> "pl.DataFrame":
    """Table without the rows that ``layout`` drops, turned if it says so."""
    import polars as pl

    if layout.drop_totals:
        lost = totals(frame) | repeated_headers(frame)
        frame = frame.filter(~pl.Series(lost)) if lost.any() else frame
    if layout.drop_duplicates:
        frame = frame.unique(maintain_order=True)
    return turned(frame) if layout.transpose else frame


def turned(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Table whose columns are the rows of ``frame``, named by its first column if that holds different names."""
    import polars as pl

    first = frame[:, 0]
    named = not first.dtype.is_numeric() and not first.null_count() and first.n_unique() == len(first)
    names = first.cast(pl.String).to_list() if named else [f"x{j}" for j in range(frame.height)]
    body = frame[:, 1:] if named else frame
    numeric = all(dtype.is_numeric() or dtype == pl.Boolean for dtype in body.dtypes)
    if numeric:
        values = body.cast(pl.Float64).to_numpy().T
        columns: dict[str, Any] = {name: values[:, j] for j, name in enumerate(names)}
    else:  # numbers beside text are text until their column is known
        rows = body.select(pl.all().cast(pl.String)).rows()
        columns = {name: pl.Series(values=row, dtype=pl.String) for name, row in zip(names, rows, strict=True)}
    label = "column" if "column" not in columns else "column_"
    return pl.DataFrame({label: body.columns} | columns)


def repeated_headers(frame: "pl.DataFrame") -> NDArray[np.bool_]:
    """Rows that repeat the names of the columns."""
    import polars as pl

    lost = np.zeros(frame.height, dtype=bool)
    if not frame.width or frame.dtypes[0] != pl.String:
        return lost
    candidates = np.flatnonzero((frame[:, 0] == frame.columns[0]).fill_null(False).to_numpy())
    for row in candidates:
        lost[row] = all(value in (None, name) for value, name in zip(frame.row(int(row)), frame.columns, strict=True))
    return lost


def totals(frame: "pl.DataFrame") -> NDArray[np.bool_]:
    """Rows of totals: a text that begins with a word for it, or a last row that adds up all others."""
    import polars as pl

    lost = np.zeros(frame.height, dtype=bool)
    numeric = sum(dtype.is_numeric() for dtype in frame.dtypes)
    for column in frame[:, :3] if frame.width > 1 else []:
        if column.dtype != pl.String:
            continue
        hit = column.str.strip_chars().str.to_lowercase().str.contains(_TOTAL).fill_null(False).to_numpy()
        if (hit.sum() <= max(3, 0.2 * len(hit)) and numeric != 0) or hit[-1:].any():
            lost |= hit
    if not lost.any() and _adds_up(frame):
        lost[-1] = True
    return lost


def _adds_up(frame: "pl.DataFrame") -> bool:
    """Whether the last row is the sum of all others, in all columns of numbers, at least two."""
    names = [name for name, dtype in frame.schema.items() if dtype.is_numeric()]
    if len(names) < 2 or frame.height < _ADDED:
        return False
    for name in names:
        values = frame[name].to_numpy().astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            rest = np.nansum(values[:-1])
        if np.count_nonzero(np.nan_to_num(values[:-1])) < _ADDED - 2:
            return False
        if not (abs(values[-1]) > 0 and np.isfinite(rest) and np.isclose(values[-1], rest, rtol=1e-9)):
            return False
    return True


def suspicions(frame: "pl.DataFrame", layout: Layout, *, every: bool = False) -> list[Suspicion]:
    """What looks like a report, unless ``layout`` mends it; ``every`` row is searched for copies, however many."""
    found = []
    if not layout.drop_totals and frame.height > 2:
        for lost, what in ((totals(frame), "totals"), (repeated_headers(frame), "repeated headers")):
            if lost.any():
                rows = np.flatnonzero(lost)
                shown = ", ".join(str(row + 1) for row in rows[:3]) + (
                    f" and {len(rows) - 3:,} more" if len(rows) > 3 else ""
                )
                words = f"row{'s' * (len(rows) > 1)} {shown} look{'s' * (len(rows) == 1)} like {what}"
                found.append(Suspicion(what, "drop_totals=True", words))
    if not layout.drop_duplicates and (copies := _copies(frame, every=every)):
        words = f"{copies:,} of {frame.height:,} rows are copies of others"
        found.append(Suspicion("copies of rows", "drop_duplicates=True", words))
    if not layout.transpose and (why := _is_turned(frame)):
        found.append(Suspicion("transposed", "transpose=True", f"samples seem to be in columns: {why}"))
    return found


def _copies(frame: "pl.DataFrame", *, every: bool) -> int:
    """Rows that are equal to an earlier one, if they are many."""
    least = 1 if every else _COPIES
    if frame.height <= least:
        return 0
    some = frame.head(_SEEN)
    if not every and (some.height - some.n_unique()) < _SHARE * some.height:
        return 0
    copies = int(frame.height - frame.n_unique())
    return copies if copies >= max(least, _SHARE * frame.height) else 0


def _is_turned(frame: "pl.DataFrame") -> str:
    """Why samples seem to be in columns; empty if they do not."""
    import polars as pl

    if frame.width < 4 or frame.dtypes[0] != pl.String or frame.height < 2 * frame.width:
        return ""
    first, rest = frame[:, 0], frame.columns[1:]
    if not all(dtype.is_numeric() for dtype in frame.dtypes[1:]) or first.n_unique() < 0.9 * len(first):
        return ""
    if re.match(_GENES, frame.columns[0].strip().casefold()):
        return f"the first column is called {frame.columns[0]!r}"
    if 2 * int(first.head(200).str.contains(r"^ENS[A-Z]*[GTP]\d{6,}").sum()) > min(200, len(first)):
        return "the first column holds identifiers of genes"
    alike = [name for name in rest if re.match(_SAMPLES, name.strip().casefold())]
    return f"columns are called {rest[0]!r}, {rest[1]!r}, …" if len(alike) >= 0.8 * len(rest) else ""


def told(found: list[Suspicion], source: str) -> list[str]:
    """Sentences about what was found, with the options."""
    return [f"read: in {source}, {one.words}. Pass {one.option} to mend it." for one in found]
