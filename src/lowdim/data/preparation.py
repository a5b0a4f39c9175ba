"""Tables prepared column by column: recipes fitted on some rows, applied to others, and described in words."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data import column_kinds, column_plans
from lowdim.data.column_plans import Wish
from lowdim.data.column_recipes import LEVELS, Recipe
from lowdim.data.file_errors import SHOWN, listing, near
from lowdim.data.table_columns import Columns
from lowdim.work import memory, progress
from lowdim.work.user_warnings import warn

if TYPE_CHECKING:
    import polars as pl

_NAMED = 12  # columns that cannot be used, named in a message before the rest is counted
_ROWS = 2**14  # rows encoded at a time: few enough to stay in the cache
_WORDS = {
    "number": ("number column", "number columns"),
    "yes/no": ("yes/no column", "yes/no columns"),
    "category": ("categorical column", "categorical columns"),
    "ordinal": ("column of ordered answers", "columns of ordered answers"),
    "multi-select": ("multi-select column", "multi-select columns"),
    "date": ("date column", "date columns"),
    "code": ("column of codes", "columns of codes"),
    "text": ("column of free text", "columns of free text"),
    "identifier": ("identifier", "identifiers"),
    "constant": ("constant column", "constant columns"),
}


def learn(table: Columns, asked: list[Wish], on_unusable: str = "error") -> tuple[list[Recipe], int]:
    """Recipe of each column, and how many rows were left out, which the fit does not use.

    Columns that cannot be used are named in one error, or left out with a warning if ``on_unusable`` is "drop".
    """
    findings = _recognise(table, asked, None)
    used, obstacles = _used(table.names, findings, asked)
    dropping = [j for j in used if findings[j].gaps and asked[j].missing == "drop"]
    lost = rows_with_gaps(table, dropping)
    if dropping and not lost.all():  # a column may have one value only in the rows that stay
        findings = _recognise(table, asked, ~lost)
        used, obstacles = _used(table.names, findings, asked)
        lost = rows_with_gaps(table, [j for j in dropping if j in used])
    if lost.all():
        raise ValueError(
            "Prepare: at least one complete row is needed; every row has a missing value. Pass missing='median' or "
            "missing='mean' to fill them."
        )
    recipes: list[Recipe] = []
    kept = set(used)
    with progress.stage("scales and levels", total=len(asked)) as tick:
        for j, (finding, wish) in enumerate(zip(findings, asked, strict=True)):
            column = table.series(j)
            infinite = column.is_infinite() if column.dtype.is_float() and j in kept else None
            column = column.filter(~lost) if lost.any() else column
            try:
                if infinite is not None and infinite.any():
                    _refuse_infinity(table.names[j], table.series(j), int(infinite.arg_max() or 0))
                recipes.append(column_plans.learn(table.names[j], column, finding, wish, table.order(j)))
            except ValueError as error:
                obstacles[j] = str(error)
                recipes.append(Recipe(finding.kind, "drop", "left out", _reason(table.names[j], str(error))))
            tick(j + 1)
    gaps = [j for j in used if findings[j].gaps and asked[j].missing == "error" and recipes[j].action != "drop"]
    if on_unusable == "drop" and obstacles and any(recipe.suffixes for recipe in recipes):
        _tell_left_out(table.names, obstacles)
        obstacles = {}
    if obstacles or gaps:
        _refuse(table, findings, obstacles, gaps)
    if not any(recipe.suffixes for recipe in recipes):
        raise ValueError(
            f"Prepare: at least one column must be left; got {table.height} sample(s) in which all {len(asked)} "
            "columns are constant, identifiers or left out by the plan. Pass other columns."
        )
    return _pooled(recipes), int(lost.sum())


def _refuse(table: Columns, findings: list[column_kinds.Finding], obstacles: dict[int, str], gaps: list[int]) -> None:
    """Raise ValueError that names all columns that cannot be used, and those with missing values."""
    if gaps and not obstacles and len(gaps) == 1:
        row = int(column_kinds.is_missing(table.series(gaps[0])).argmax())
        raise ValueError(_gap(table.names[gaps[0]], row, findings[gaps[0]].gaps))
    counts = [f"{table.names[j]!r} has {findings[j].gaps:,}" for j in gaps[:SHOWN]]
    more = f" and {len(gaps) - SHOWN:,} more columns have some" if len(gaps) > SHOWN else ""
    lacking = f"{', '.join(counts)}{more}. Pass missing='median' or missing='mean' to fill them, or missing='drop' to "
    lacking += "drop such rows."
    if not obstacles:
        row = int(column_kinds.is_missing(table.series(gaps[0])).argmax())
        first = f"NaN at row {row} (counted from 0), column {table.names[gaps[0]]!r}"
        raise ValueError(f"Prepare: values must not be missing; got {first}; of missing values {lacking}")
    also = f" Values must not be missing either: {lacking}" if gaps else ""
    if len(obstacles) == 1:
        raise ValueError(next(iter(obstacles.values())) + also)
    raise ValueError(
        f"Prepare: {len(obstacles):,} columns cannot be used: {_listed(table.names, obstacles)}. Leave them out by "
        f"on_unusable='drop', or say in a plan what they are.{also}"
    )


def _listed(names: list[str], obstacles: dict[int, str]) -> str:
    """Columns that cannot be used, each with the reason."""
    parts = [f"{names[j]!r} ({_reason(names[j], obstacles[j])})" for j in sorted(obstacles)]
    return ", ".join(parts[:_NAMED]) + (f" and {len(parts) - _NAMED:,} more" if len(parts) > _NAMED else "")


def _reason(name: str, message: str) -> str:
    """What is wrong with a column, without its name and the advice."""
    words = message.removeprefix("Prepare: ").partition(". ")[0]
    return words.replace(f"column {name!r} ", "", 1).rstrip(".")


def near_names(name: str, names: list[str]) -> str:
    """Advice on a name that no column has: the one that may be meant, or those there are."""
    close = near(name, names)
    return f"Did you mean {close[0]!r}?" if close else f"There are {listing(names, 20)}."


def _tell_left_out(names: list[str], obstacles: dict[int, str]) -> None:
    one = len(obstacles) == 1
    warn(
        f"Prepare: {'1 column was' if one else f'{len(obstacles):,} columns were'} left out, since "
        f"{'it' if one else 'they'} cannot be used: {_listed(names, obstacles)}. Correct {'it' if one else 'them'}, or "
        f"say in a plan what {'it is' if one else 'they are'}."
    )


def _pooled(recipes: list[Recipe]) -> list[Recipe]:
    """Recipes in which the numbers that share one unit are divided by one scale, the root mean square of theirs.

    For Gower's distance weights are shares of their sum.
    """
    total = sum(recipe.weight for recipe in recipes if recipe.numbers == "gower" and recipe.suffixes)
    if total:
        recipes = [
            replace(recipe, weight=recipe.weight / total) if recipe.numbers == "gower" else recipe for recipe in recipes
        ]
    scales = [recipe.scale for recipe in recipes if recipe.numbers == "pooled" and recipe.action == "number"]
    scale = float(np.sqrt(np.mean(np.square(scales)))) if scales else 1.0
    return [
        replace(recipe, scale=scale) if recipe.numbers == "pooled" and recipe.action == "number" else recipe
        for recipe in recipes
    ]


def _recognise(table: Columns, asked: list[Wish], kept: NDArray[np.bool_] | None) -> list[column_kinds.Finding]:
    """What each column holds, in the rows ``kept`` or in all."""
    findings = []
    with progress.stage("kinds of columns", total=len(asked)) as tick:
        for j, wish in enumerate(asked):
            column = table.series(j) if kept is None else table.series(j).filter(kept)
            findings.append(column_kinds.recognise(column, most_levels=wish.max_levels, rules=wish.rules))
            tick(j + 1)
    return findings


def _used(
    names: list[str], findings: list[column_kinds.Finding], asked: list[Wish]
) -> tuple[list[int], dict[int, str]]:
    """Columns that are not left out, and those that cannot be used, with the error."""
    used, obstacles = [], {}
    for j, pair in enumerate(zip(findings, asked, strict=True)):
        try:
            if column_plans.decide(names[j], *pair)[1] != "drop":
                used.append(j)
        except ValueError as error:
            obstacles[j] = str(error)
    return used, obstacles


@dataclass(frozen=True)
class Survey:
    """What a column holds, and what would be done to it: ``wrong`` says why it cannot be used, if so."""

    name: str
    finding: column_kinds.Finding
    done: str
    wrong: bool
    order: tuple[str, ...] = ()  # levels in the order of the type of the column


def survey(table: Columns, asked: list[Wish]) -> list[Survey]:
    """What each column holds and what a preparation would do to it; nothing is refused."""
    found = []
    with progress.stage("kinds of columns", total=len(asked)) as tick:
        for j, wish in enumerate(asked):
            name, column = table.names[j], table.series(j)
            finding = column_kinds.recognise(column, most_levels=wish.max_levels, count=True, rules=wish.rules)
            try:
                done, wrong = column_plans.learn(name, column, finding, wish, table.order(j)).done, False
            except ValueError as error:
                done, wrong = str(error).removeprefix("Prepare: "), True
            found.append(Survey(name, finding, done, wrong, tuple(table.order(j) or ())))
            tick(j + 1)
    return found


def rows_with_gaps(table: Columns, used: list[int]) -> NDArray[np.bool_]:
    """Rows with a missing value in one of the columns ``used``."""
    lost = np.zeros(table.height, dtype=bool)
    for j in used:
        lost |= column_kinds.is_missing(table.series(j))
    return lost


def encode(recipes: list[Recipe], table: Columns) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Prepared rows (n, width), and which of them are to be left out."""
    n, width = table.height, sum(len(recipe.suffixes) for recipe in recipes)
    memory.require(n * width * table.dtype.itemsize, f"Prepare: {n:,} rows of {width:,} columns", "Pass fewer rows.")
    out = np.empty((n, width), table.dtype)
    lost = np.zeros(n, dtype=bool)
    for rows, _, gone in encoded(recipes, table, out):
        lost[rows] = gone
    return out, lost


def encoded(
    recipes: list[Recipe], table: Columns, out: NDArray[Any] | None = None
) -> Iterator[tuple[slice, NDArray[Any], NDArray[np.bool_]]]:
    """Prepared rows block by block: where they are, their columns, and which of them are to be left out.

    They are written to ``out``, or to a float64 array that the next block overwrites.
    """
    ends = np.cumsum([0, *(len(recipe.suffixes) for recipe in recipes)])
    n = table.height
    room = np.empty((min(n, _ROWS), int(ends[-1]))) if out is None else out[:0]
    unseen: dict[str, set[str]] = {}
    with progress.stage("encoding", total=n) as tick:
        for start in range(0, n, _ROWS):
            rows = slice(start, min(n, start + _ROWS))
            part = room[: rows.stop - start] if out is None else out[rows]
            lost = np.zeros(len(part), dtype=bool)
            for j, recipe in enumerate(recipes):
                if recipe.action != "drop" and recipe.missing == "drop":
                    lost |= column_kinds.is_missing(table.series(j, rows))
            for j, recipe in enumerate(recipes):
                if recipe.action == "drop":
                    continue
                column = table.series(j, rows)
                _encode_block(table.names[j], recipe, column, start, part[:, ends[j] : ends[j + 1]])
                if new := recipe.unseen(column.filter(~lost)):
                    unseen.setdefault(table.names[j], set()).update(new)
            yield rows, part, lost
            tick(rows.stop)
    for name, levels in unseen.items():
        warn(
            f"Prepare: column {name!r} has levels that fit did not see ({listing(sorted(levels))}); their rows get "
            "the mean of each of its columns."
        )


def _encode_block(name: str, recipe: Recipe, column: "pl.Series", start: int, out: NDArray[Any]) -> None:
    """Write some rows of one column, which begin at row ``start``."""
    words, row = recipe.refusal(column)
    if words:
        words = words.replace("; got", ", as in fit; got", 1)
        raise ValueError(
            f"Prepare: column {name!r} {words} in row {start + row} (counted from 0). Correct it, or fit again with "
            "this column as it is now."
        )
    if recipe.action in LEVELS and column.dtype.is_float() and (infinite := column.is_infinite()).any():
        _refuse_infinity(name, column, int(infinite.arg_max() or 0), start)  # which is no level
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
    if units := [f"{name} in {recipe.unit}" for name, recipe in zip(names, recipes, strict=True) if recipe.unit]:
        few = ", ".join(units[:5]) + (f" and {len(units) - 5:,} more" if len(units) > 5 else "")
        lines.append(f"{_count(len(units), 'number column', 'number columns')} read with a unit: {few}")
    if merged := [name for name, recipe in zip(names, recipes, strict=True) if " merged" in recipe.done]:
        lines.append(f"spelling variants merged in {_count(len(merged), 'column', 'columns')}: {', '.join(merged[:5])}")
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
    if recipe.action in ("ordinal", "options"):
        return "coded in order" if recipe.action == "ordinal" else "as indicators of their options"
    if recipe.action == "classes":
        return "cut into classes"
    return "as days, sines and cosines" if recipe.action == "cyclic" else recipe.done.partition(";")[0]


def _count(n: int, one: str, several: str) -> str:
    return f"{n:,} {one if n == 1 else several}"
