"""Treatment of each column: by the parameters of ``Prepare``, or by the entry of the plan for that column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from lowdim.data import answer_scales, column_kinds, number_units, options, spellings, text_formats
from lowdim.data.column_kinds import Finding
from lowdim.data.column_recipes import (
    NUMBERS,
    Recipe,
    as_text,
    circles_of,
    learn_levels,
    learn_options,
    learn_scale,
)
from lowdim.data.file_errors import listing, near
from lowdim.work.archive_errors import shortened

if TYPE_CHECKING:
    import polars as pl

RULES = {
    "numbers": options.one_of(*NUMBERS),
    "missing": options.one_of("error", "mean", "median", "drop"),
    "indicators": options.flag,
    "categories": options.one_of("onehot", "ordinal", "drop"),
    "max_levels": options.integer(2),
    "dates": options.one_of("number", "cyclic", "drop"),
    "rules": options.integer(1, column_kinds.RULES),
}
_COLUMN_RULES = RULES | {
    "kind": options.one_of("number", "yes/no", "category", "ordinal", "multi-select", "date", "drop"),
    "order": options.Rule(
        lambda value: isinstance(value, Sequence) and not isinstance(value, str) and len(value) > 1,
        "a list of two levels or more",
    ),
    "format": options.Rule(lambda value: isinstance(value, str) and "%" in value, "a format such as '%d.%m.%Y'"),
    "separator": options.Rule(lambda value: isinstance(value, str) and len(value) > 0, "a text such as ';'"),
    "merge": options.flag,  # of spelling variants
    "weight": options.real(0.0),
}
del _COLUMN_RULES["rules"]
_PLAIN = ("as_is", "gower")  # scaling that leaves 0 and 1, and the order of levels, as they are
_WHOLE = 12  # whole numbers that are levels of a category, not cut into classes
_HELD = 0.5  # share of the rows that the most frequent levels must cover for a column to be a category


@dataclass(frozen=True)
class Wish:
    """Settings for one column."""

    numbers: str
    missing: str
    indicators: bool
    categories: str
    max_levels: int
    dates: str
    kind: str = ""
    order: Sequence[str] | None = None
    format: str = ""
    weight: float = 1.0
    rules: int = column_kinds.RULES
    separator: str = ""
    merge: bool = False
    instead: tuple[tuple[str, str], ...] = ()  # kinds that are taken as others, unless the plan names one
    classes: int = 0  # into which numbers and dates are cut that are taken as categories; 0: none


def wishes(defaults: Mapping[str, Any], plan: Any, names: list[str]) -> list[Wish]:
    """Settings for each of the columns ``names``; ``plan`` maps columns to the settings that differ."""
    common = Wish(**defaults)
    if plan is None:
        return [common] * len(names)
    if not isinstance(plan, Mapping):
        raise ValueError(
            f"Prepare: plan must map columns to what is done with them, such as {{'name': 'drop'}}; got a "
            f"{type(plan).__name__}. Pass a dictionary."
        )
    unknown = [str(name) for name in plan if name not in names]
    if unknown:
        close = near(unknown[0], names)
        advice = f"Did you mean {close[0]!r}?" if close else f"There are {listing(names, 20)}."
        raise ValueError(f"Prepare: plan must name columns of the table; got {listing(unknown)}. {advice}")
    return [_wish(common, name, plan[name]) if name in plan else common for name in names]


def _wish(common: Wish, name: str, given: Any) -> Wish:
    if isinstance(given, str):
        given = {"kind": given}
    elif isinstance(given, list | tuple):
        given = {"kind": "category", "categories": "ordinal", "order": list(given)}
    if not isinstance(given, Mapping):
        raise ValueError(
            f"Prepare: plan must give a kind, an order of levels or a mapping for column {name!r}; got {given!r}. "
            "Pass for example 'drop', ['low', 'high'] or {'kind': 'category', 'max_levels': 10}."
        )
    for key, value in given.items():
        rule = _COLUMN_RULES.get(key)
        if rule is None:
            raise ValueError(
                f"Prepare: plan of column {name!r} may say {', '.join(_COLUMN_RULES)}; got {key!r}. Check the spelling."
            )
        if not rule.accepts(value):
            raise ValueError(f"Prepare: {key} of column {name!r} must be {rule.needs}; got {value!r}. Change the plan.")
    asked = dict(given)
    if "order" in asked:
        asked["order"] = [str(level) for level in asked["order"]]
        asked.setdefault("kind", "category")
        asked.setdefault("categories", "onehot" if asked["kind"] == "multi-select" else "ordinal")
    return replace(common, **asked)


def decide(name: str, finding: Finding, wish: Wish) -> tuple[str, str, str]:
    """Kind, action and reason for a column; ValueError where it cannot be used as asked."""
    kind, why = finding.kind, finding.why
    if wish.kind:
        kind, why = wish.kind, "the plan says so"
    else:
        kind = dict(wish.instead).get(kind, kind)
    if kind == "drop":
        return finding.kind, "drop", why
    if finding.kind == "empty":
        raise ValueError(
            f"Prepare: a column needs at least one value; {name!r} has none. Leave it out, as by "
            f"plan={{{name!r}: 'drop'}}."
        )
    if finding.kind == "other":
        raise ValueError(
            f"Prepare: columns must hold numbers, text or dates; {name!r} does not: {finding.why}. Convert it, or "
            f"leave it out: plan={{{name!r}: 'drop'}}."
        )
    if kind in ("identifier", "constant", "text") or finding.kind == "constant":
        return finding.kind, "drop", finding.why
    if kind == "mixed":  # refused, naming the row, when its text is read
        kind = finding.problem
    if kind in ("category", "code", "ordinal", "multi-select"):
        if wish.categories == "drop":
            return kind, "drop", why
        own = {"ordinal": "ordinal", "multi-select": "options"}
        return kind, own.get(kind, wish.categories), why
    if kind == "date":
        return kind, {"number": "date"}.get(wish.dates, wish.dates), why
    return kind, kind, why


def learn(name: str, column: "pl.Series", finding: Finding, wish: Wish, order: list[str] | None) -> Recipe:
    """Recipe for a column, from the rows it is given."""
    if order is not None and wish.rules > 1 and not wish.kind and finding.kind in ("category", "identifier", "ordinal"):
        finding = replace(finding, kind="ordinal", why="its type orders its levels", order=tuple(order))
    kind, action, why = decide(name, finding, wish)
    gaps = int(column_kinds.is_missing(column).sum())
    if action == "drop":
        return Recipe(kind, "drop", "left out", why, gaps)
    to_cut = kind == "category" and wish.classes and finding.kind in ("number", "date") and not wish.order
    if to_cut and (cut := _learn_classes(column, finding, wish, why, gaps)) is not None:
        return cut
    spelling, unit = _spelled(name, column, wish, action, finding)
    weight = float(wish.weight)
    made = Recipe(kind, action, "", why, gaps, wish.missing, spelling, weight=weight, unit=unit)
    if (finding.variants and not wish.kind) or wish.merge:
        made, column = _merged(made, column)
    if kind == "ordinal":
        made = _learn_answers(name, column, made, wish, order or list(finding.order) or None)
    elif kind == "multi-select":
        made = _learn_options(name, column, made, wish, finding)
    elif kind in ("category", "code"):
        scale = list(finding.order) if finding.kind == "ordinal" and action == "onehot" else None
        made = _learn_category(name, column, made, wish, order or scale or None)
    if made.action == "drop":
        return made
    if action not in ("onehot", "options"):
        words, row = made.refusal(column)
        if words:
            raise ValueError(f"Prepare: column {name!r} {words} in row {row} (counted from 0). Change the plan.")
        made = _learn_numbers(name, column, made, wish)
    if action == "cyclic":
        circles = circles_of(column_kinds.moments_in(column, made.spelling))
        made = replace(made, circles=circles, done=f"{made.done}; sine and cosine of {', '.join(circles)}")
    if wish.indicators and gaps and wish.missing in ("mean", "median"):
        made = replace(
            made, indicator=True, indicator_share=gaps / len(column), done=f"{made.done}; missing values indicated"
        )
    if gaps:
        made = replace(made, done=f"{made.done}; {_filled(made)}")
    return replace(made, done=made.done.strip("; "))


def _merged(made: Recipe, column: "pl.Series") -> tuple[Recipe, "pl.Series"]:
    """A column whose spelling variants are replaced by the spelling that is most frequent."""
    text = as_text(column)
    other = spellings.variants(dict(text.drop_nulls().alias("value").value_counts(name="rows").iter_rows()))
    if other:
        column = text.replace(list(other), list(other.values()))
    first = next(iter(other), "")
    told = (
        f"; {len(other)} spelling variant{'s' * (len(other) > 1)} merged, such as {first!r} into {other.get(first)!r}"
    )
    return replace(made, matching=spellings.CASE, done=told if other else ""), column


def _spelled(name: str, column: "pl.Series", wish: Wish, action: str, finding: Finding) -> tuple[str, str]:
    """Format of the numbers or dates in a column of text, and their unit; ValueError if some cells do not match."""
    import polars as pl

    if action in ("onehot", "ordinal", "yes/no", "options") or column.dtype != pl.String:
        return "", ""
    unit = ""
    if action == "number":
        how = text_formats.number_style(column)[0]
        values = text_formats.spelled_numbers(column, how)
        if wish.rules > 1 and values.null_count() > column.null_count():
            bare, units, _ = number_units.split_units(column)
            found, unit = text_formats.number_style(bare)[0], finding.unit or _unit_of(units)
            read = number_units.numbers_with_unit(column, found, unit)
            if read.null_count() < values.null_count():
                how, values = found, read
            else:
                unit = ""
    else:
        how = wish.format or text_formats.date_format(column)[0]
        values = text_formats.spelled_dates(column, how) if how else pl.Series([None] * len(column), dtype=pl.Datetime)
    strange = column.is_not_null() & values.is_null()
    if strange.any():
        what = "numbers" if action == "number" else "dates"
        form = f" as {how}" if action != "number" and how else f" in {unit!r}" if unit else ""
        raise ValueError(
            f"Prepare: column {name!r} must hold {what}{form} in every row; got {_listed(column, strange)}. "
            "Correct it, or say in a plan what the column is: a category, or 'drop'."
        )
    return how, unit


def _unit_of(units: "pl.Series") -> str:
    """The most frequent unit."""
    named = units.filter((units != "").fill_null(False)).alias("value")
    counts = named.value_counts(sort=True, name="rows")
    return str(counts[0, 0]) if len(counts) else ""


def _listed(column: "pl.Series", strange: "pl.Series") -> str:
    """The first cells that do not match, with their rows, and how many there are."""
    rows = strange.arg_true()
    cells = [f"{shortened(repr(column[row]))} in row {row}" for row in rows[:3].to_list()]
    more = f" and {len(rows) - 3:,} more" if len(rows) > 3 else ""
    return f"{cells[0]} (counted from 0)" + "".join(f", {cell}" for cell in cells[1:]) + more


def _learn_answers(name: str, column: "pl.Series", made: Recipe, wish: Wish, order: list[str] | None) -> Recipe:
    """Recipe of ordered answers: their positions in the order."""
    found = learn_levels(column, max(column.len(), 2), None)[0]["levels"]
    order = list(wish.order) if wish.order is not None else order or answer_scales.order_of(found)
    if order is None:
        raise ValueError(
            f"Prepare: the answers in column {name!r} ({listing(found)}) are of no known scale. Give their order: "
            f"plan={{{name!r}: [lowest, …, highest]}}."
        )
    matching = spellings.ANSWERS if wish.order is None else made.matching
    places = spellings.places_of(order, found, matching)
    strange = [level for level in found if level not in places]
    if strange:
        raise ValueError(
            f"Prepare: the order of column {name!r} must name all its levels; it lacks {listing(strange)}. Add them."
        )
    seen = [order[place] for place in sorted(set(places.values()))]
    done = f"coded by its place in the order {' < '.join(seen[:6])}{' < …' * (len(seen) > 6)}{made.done}"
    return replace(made, levels=list(order), matching=matching, done=done)


def _learn_options(name: str, column: "pl.Series", made: Recipe, wish: Wish, finding: Finding) -> Recipe:
    """Recipe of several options per cell: an indicator for each."""
    separator = wish.separator or (finding.spelling if finding.kind == "multi-select" else ";")
    found, more = learn_options(column, separator, wish.max_levels)
    if not found["levels"]:
        raise ValueError(
            f"Prepare: options of column {name!r}, separated by {separator!r}, must differ between rows; every row has "
            f"the same. Name another separator, or leave it out: plan={{{name!r}: 'drop'}}."
        )
    scaled = wish.numbers if wish.numbers in _PLAIN else "standardize"
    words = f"{len(found['levels'])} indicators of options separated by {separator!r}"
    words += f", {more} rare or constant ones left out" if more else ""
    return replace(
        made, **found | {"scale": 1.0 if scaled in _PLAIN else found["scale"]}, spelling=separator, numbers=scaled,
        done=words + ("" if scaled in _PLAIN else ", scaled as a group"),
    )  # fmt: skip


def _learn_category(name: str, column: "pl.Series", made: Recipe, wish: Wish, order: list[str] | None) -> Recipe:
    order = list(wish.order) if wish.order is not None else order
    most = wish.max_levels if made.action == "onehot" else column.len()
    found, count, held = learn_levels(column, max(most, 2), order)
    if made.action == "ordinal":
        if order is None:
            return replace(made, levels=found["levels"], done=f"coded 0, 1, 2, … in alphabetical order{made.done}")
        strange = [level for level in found["levels"] if level not in order]
        if strange:
            raise ValueError(
                f"Prepare: the order of column {name!r} must name all its levels; it lacks {listing(strange)}. "
                "Add them."
            )
        return replace(made, levels=list(order), done=f"coded 0, 1, 2, … in the order {' < '.join(order[:6])}")
    if found["pooled"] and held < _HELD and made.kind == "code":
        why = f"{made.why}; {count:,} different codes, of which the most frequent cover {held:.0%} of the rows"
        return replace(made, action="drop", done="left out", why=why)
    if found["pooled"] and held < _HELD:
        raise ValueError(
            f"Prepare: a category needs repeated levels; {name!r} has {count:,}, of which the {most - 1} most "
            f"frequent cover {held:.0%} of the rows. Leave it out (plan={{{name!r}: 'drop'}}), or raise max_levels."
        )
    pooled = f", {count - len(found['levels']):,} rare levels pooled" if found["pooled"] else ""
    scaled = wish.numbers if wish.numbers in _PLAIN else "standardize"
    done = f"one-hot encoded to {len(found['shares'])}{pooled}{'' if scaled in _PLAIN else ', scaled as a group'}"
    return replace(made, **found, numbers=scaled, done=done + made.done)


def _learn_classes(column: "pl.Series", finding: Finding, wish: Wish, why: str, gaps: int) -> Recipe | None:
    """Recipe of numbers or dates cut at their quantiles; None for whole numbers that recur, which are levels."""
    made = Recipe(
        finding.kind, "classes", "", why, gaps, wish.missing, finding.spelling, weight=float(wish.weight),
        unit=finding.unit, numbers="standardize",
    )  # fmt: skip
    values = made._values(column)
    values = values[~np.isnan(values)]
    distinct = np.unique(values)
    recur = finding.kind == "number" and len(distinct) <= min(_WHOLE, wish.max_levels, len(values) / 2)
    if recur and bool((distinct == np.round(distinct)).all()):
        return None
    classes = min(wish.classes, len(values))
    places = -(-np.arange(1, classes) * len(values) // classes) - 1  # the last row of each class
    knots = np.unique(np.sort(values)[places])
    knots = knots[knots < values.max()]  # each class has a row
    if not len(knots):
        knots = distinct[:1]
    shares = np.bincount(np.searchsorted(knots, values), minlength=len(knots) + 1) / len(values)
    ends = [_end(knot, finding.kind) for knot in knots]
    middle = [f"{low} – {high}" for low, high in pairwise(ends)]
    levels = [f"≤ {ends[0]}", *middle, f"> {ends[-1]}"]
    if len(set(levels)) < len(levels):  # ends that agree in six digits
        levels = [f"{level} ({i + 1})" for i, level in enumerate(levels)]
    done = f"cut into {len(levels)} classes of similar size, scaled as a group"
    if gaps:
        filled = replace(made, levels=levels, shares=shares)
        done += f"; {_filled(filled)}"
    return replace(made, knots=knots, levels=levels, shares=shares, done=done)


def _end(value: float, kind: str) -> str:
    """End of a class, as names of levels show it."""
    if kind == "date":
        return str(np.datetime64(round(value * 86_400), "s")).removesuffix("T00:00:00")
    return f"{value:.6g}"


def _learn_numbers(name: str, column: "pl.Series", made: Recipe, wish: Wish) -> Recipe:
    values = made._values(column)
    values = values[~np.isnan(values)]
    if np.isinf(values).any():
        raise ValueError(
            f"Prepare: X must be finite; got infinity in column {name!r}. Drop such rows, or replace the values."
        )
    if wish.numbers == "gower" and made.action == "cyclic":
        raise ValueError(
            f"Prepare: Gower's distance of dates is that of their days; column {name!r} has dates='cyclic' too. Pass "
            "dates='number'."
        )
    numbers = wish.numbers if made.action == "number" or wish.numbers in _PLAIN else "standardize"
    if numbers == "log1p" and values.min() <= -1.0:
        raise ValueError(
            f"Prepare: log(1 + x) needs values above -1; column {name!r} goes down to {values.min():g}. Choose "
            "numbers='ranks', or another rule for this column in a plan."
        )
    try:
        found, words = learn_scale(values, numbers)
    except ValueError as error:
        raise ValueError(f"Prepare: column {name!r}: {error}") from None
    how = {"yes/no": "coded 0 and 1", "date": "as days", "cyclic": "as days"}.get(made.action, "")
    words = ", ".join(filter(None, [made.done, how, "" if how and numbers == "as_is" else words]))
    words += f"; numbers in {made.unit!r}" if made.unit else ""
    return replace(made, **found, done=words)


def _filled(made: Recipe) -> str:
    count = "1 missing value" if made.gaps == 1 else f"{made.gaps:,} missing values"
    if made.missing == "drop":
        return f"rows with its {count} left out"
    if made.action in ("onehot", "classes"):
        most = f"the most frequent level, {made.levels[int(np.argmax(made.shares[: len(made.levels)]))]!r}"
        return f"{count} filled by {most if made.missing == 'median' else 'the mean of each column'}"
    return f"{count} filled by the {made.missing}"
