"""Tables prepared column by column: recipes fitted on some rows, applied to others, and described in words."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data import column_kinds, column_plans
from lowdim.data.column_plans import Wish
from lowdim.data.column_recipes import Recipe
from lowdim.data.file_errors import listing
from lowdim.data.table_columns import Columns
from lowdim.work import memory, progress
from lowdim.work.user_warnings import warn

if TYPE_CHECKING:
    import polars as pl

_ROWS = 2**14  # rows encoded at a time: few enough to stay in the cache
_WORDS = {
    "number": ("number column", "number columns"),
    "yes/no": ("yes/no column", "yes/no columns"),
    "category": ("categorical column", "categorical columns"),
    "date": ("date column", "date columns"),
    "identifier": ("identifier", "identifiers"),
    "constant": ("constant column", "constant columns"),
}


def learn(table: Columns, asked: list[Wish]) -> tuple[list[Recipe], int]:
    """Recipe of each column, and how many rows were left out, which the fit does not use."""
    findings = _recognise(table, asked, None)
    used = _used(table.names, findings, asked)
    for j in used:
        if findings[j].gaps and asked[j].missing == "error":
            row = int(column_kinds.is_missing(table.series(j)).argmax())
            raise ValueError(_gap(table.names[j], row, findings[j].gaps))
    dropping = [j for j in used if findings[j].gaps and asked[j].missing == "drop"]
    lost = rows_with_gaps(table, dropping)
    if dropping and not lost.all():  # a column may have one value only in the rows that stay
        findings = _recognise(table, asked, ~lost)
        used = _used(table.names, findings, asked)
        lost = rows_with_gaps(table, [j for j in dropping if j in used])
    if lost.all():
        raise ValueError(
            "Prepare: at least one complete row is needed; every row has a missing value. Pass missing='median' or "
            "missing='mean' to fill them."
        )
    recipes = []
    with progress.stage("scales and levels", total=len(asked)) as tick:
        for j, (finding, wish) in enumerate(zip(findings, asked, strict=True)):
            column = table.series(j)
            if column.dtype.is_float() and bool(column.is_infinite().any()):
                _refuse_infinity(table.names[j], column, int(column.is_infinite().arg_max() or 0))
            column = column.filter(~lost) if lost.any() else column
            recipes.append(column_plans.learn(table.names[j], column, finding, wish, table.order(j)))
            tick(j + 1)
    if not any(recipe.suffixes for recipe in recipes):
        raise ValueError(
            f"Prepare: at least one column must be left; got {table.height} sample(s) in which all {len(asked)} "
            "columns are constant, identifiers or left out by the plan. Pass other columns."
        )
    return recipes, int(lost.sum())


def _recognise(table: Columns, asked: list[Wish], kept: NDArray[np.bool_] | None) -> list[column_kinds.Finding]:
    """What each column holds, in the rows ``kept`` or in all."""
    findings = []
    with progress.stage("kinds of columns", total=len(asked)) as tick:
        for j, wish in enumerate(asked):
            column = table.series(j) if kept is None else table.series(j).filter(kept)
            findings.append(column_kinds.recognise(column, most_levels=wish.max_levels))
            tick(j + 1)
    return findings


def _used(names: list[str], findings: list[column_kinds.Finding], asked: list[Wish]) -> list[int]:
    """Columns that are not left out."""
    pairs = zip(findings, asked, strict=True)
    return [j for j, pair in enumerate(pairs) if column_plans.decide(names[j], *pair)[1] != "drop"]


@dataclass(frozen=True)
class Survey:
    """What a column holds, and what would be done to it: ``wrong`` says why it cannot be used, if so."""

    name: str
    finding: column_kinds.Finding
    done: str
    wrong: bool


def survey(table: Columns, asked: list[Wish]) -> list[Survey]:
    """What each column holds and what a preparation would do to it; nothing is refused."""
    found = []
    with progress.stage("kinds of columns", total=len(asked)) as tick:
        for j, wish in enumerate(asked):
            name, column = table.names[j], table.series(j)
            finding = column_kinds.recognise(column, most_levels=wish.max_levels, count=True)
            try:
                done, wrong = column_plans.learn(name, column, finding, wish, table.order(j)).done, False
            except ValueError as error:
                done, wrong = str(error).removeprefix("Prepare: "), True
            found.append(Survey(name, finding, done, wrong))
            tick(j + 1)
    return found


def rows_with_gaps(table: Columns, used: list[int]) -> NDArray[np.bool_]:
    """Rows with a missing value in one of the columns ``used``."""
    lost = np.zeros(table.height, dtype=bool)
    for j in used:
        lost |= column_kinds.is_missing(table.series(j))
    return lost


def encode(recipes: list[Recipe], table: Columns) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Prepared rows (n, width), block by block, and which of them are to be left out."""
    ends = np.cumsum([0, *(len(recipe.suffixes) for recipe in recipes)])
    n, width = table.height, int(ends[-1])
    memory.require(n * width * table.dtype.itemsize, f"Prepare: {n:,} rows of {width:,} columns", "Pass fewer rows.")
    out = np.empty((n, width), table.dtype)
    lost = np.zeros(n, dtype=bool)
    unseen: dict[str, set[str]] = {}
    with progress.stage("encoding", total=n) as tick:
        for start in range(0, n, _ROWS):
            rows = slice(start, min(n, start + _ROWS))
            for j, recipe in enumerate(recipes):
                if recipe.action != "drop" and recipe.missing == "drop":
                    lost[rows] |= column_kinds.is_missing(table.series(j, rows))
            for j, recipe in enumerate(recipes):
                if recipe.action == "drop":
                    continue
                column = table.series(j, rows)
                _encode_block(table.names[j], recipe, column, start, out[rows, ends[j] : ends[j + 1]])
                if new := recipe.unseen(column.filter(~lost[rows])):
                    unseen.setdefault(table.names[j], set()).update(new)
            tick(rows.stop)
    for name, levels in unseen.items():
        warn(
            f"Prepare: column {name!r} has levels that fit did not see ({listing(sorted(levels))}); their rows get "
            "the mean of each of its columns."
        )
    return out, lost


def _encode_block(name: str, recipe: Recipe, column: "pl.Series", start: int, out: NDArray[Any]) -> None:
    """Write some rows of one column, which begin at row ``start``."""
    words, row = recipe.refusal(column)
    if words:
        words = words.replace("; got", ", as in fit; got", 1)
        raise ValueError(
            f"Prepare: column {name!r} {words} in row {start + row} (counted from 0). Correct it, or fit again with "
            "this column as it is now."
        )
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        gone = recipe.encode(column, out)
        finite = bool(np.isfinite(out.sum(dtype=np.float64))) or bool(np.isfinite(out).all())
    if gone.any() and recipe.missing == "error":
        raise ValueError(_gap(name, start + int(gone.argmax()), int(gone.sum())))
    if not finite:
        _refuse_infinity(name, column, int((~np.isfinite(out).all(axis=1)).argmax()), start)


def _refuse_infinity(name: str, column: "pl.Series", row: int, start: int = 0) -> None:
    raise ValueError(
        f"Prepare: X must be finite; got {column[row]!r} (infinity, or beyond what can be scaled) at row {start + row} "
        f"(counted from 0), column {name!r}. Drop such rows, or replace the values."
    )


def _gap(name: str, row: int, count: int) -> str:
    return (
        f"Prepare: values must not be missing; got NaN at row {row} (counted from 0), column {name!r} ({count:,} "
        "missing there). Pass missing='median' or missing='mean' to fill them, or missing='drop' to drop such rows."
    )


def describe(recipes: list[Recipe], names: list[str], rows_left_out: int) -> list[str]:
    """What was done, in one line per kind of column."""
    groups: dict[tuple[str, str], list[int]] = {}
    for j, recipe in enumerate(recipes):
        groups.setdefault((recipe.kind, _short(recipe)), []).append(j)
    lines = []
    for (kind, done), positions in groups.items():
        words = f"{_count(len(positions), *_WORDS.get(kind, ('column', 'columns')))} {done}"
        if done == "one-hot encoded":
            words += f" to {sum(len(recipes[j].suffixes) for j in positions):,}"
        few = ", ".join(names[j] for j in positions[:5]) + (
            f" and {len(positions) - 5:,} more" if len(positions) > 5 else ""
        )
        lines.append(f"{words}: {few}" if done == "left out" else words)
    for rule in ("mean", "median"):
        gaps = sum(recipe.gaps for recipe in recipes if recipe.missing == rule and recipe.action != "drop")
        if gaps:
            lines.append(f"{_count(gaps, 'missing value', 'missing values')} filled by the {rule}")
    if rows_left_out:
        lines.append(f"{_count(rows_left_out, 'row', 'rows')} with missing values left out")
    return lines


def _short(recipe: Recipe) -> str:
    """What was done, without the details of one column."""
    if recipe.action == "onehot":
        return "one-hot encoded"
    if recipe.action == "ordinal":
        return "coded in order"
    return "as days, sines and cosines" if recipe.action == "cyclic" else recipe.done.partition(";")[0]


def _count(n: int, one: str, several: str) -> str:
    return f"{n:,} {one if n == 1 else several}"
