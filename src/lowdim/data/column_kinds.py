"""What a column of a table holds, by fixed rules: numbers, answers, categories, dates, text, identifiers or nothing."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data import answer_scales, multi_select, number_units, spellings, text_formats

if TYPE_CHECKING:
    import polars as pl

RULES = 2  # version of the rules; 1 had no units, scales, multiple options, codes, free text and spelling variants
_DIFFERENT = 0.9  # share of distinct values from which text is an identifier of its row
_COUNTED = 10  # number of rows from which consecutive integers are taken for row numbers
_WORDS = 4.0  # mean number of words from which text is free text
_FOLDED = 5000  # distinct values up to which spelling variants are looked for
_MOSTLY = 0.5  # share of numbers (dates) from which text is taken for numbers (dates) with invalid values


@dataclass(frozen=True)
class Finding:
    """Recognised kind of a column, and the reason."""

    kind: str
    why: str
    gaps: int
    distinct: int  # 0 if not counted
    spelling: str = ""  # style of numbers or format of dates where text spells them
    low: str = ""
    high: str = ""
    problem: str = ""  # what keeps it from being used, for kinds "mixed", "empty" and "other"
    unit: str = ""  # of numbers in text
    order: tuple[str, ...] = ()  # levels of ordered answers, from low to high
    variants: tuple[tuple[str, str], ...] = ()  # other spellings of levels, and the spelling that is kept


def recognise(column: "pl.Series", *, most_levels: int = 50, count: bool = False, rules: int = RULES) -> Finding:
    """Kind of a column by the rules, in this order; with ``count``, distinct numbers and dates are counted too.

    - no value: ``empty``; one value only: ``constant``;
    - booleans, or text that holds only yes and no values of one language: ``yes/no``;
    - text of digits that begins with zeros: ``code``;
    - numbers, or text that spells numbers throughout, with one unit or none: ``number``, unless they are integers that
      number the rows, which are an ``identifier``;
    - dates, or text that spells dates throughout: ``date``;
    - answers of a known scale, or numbers with words: ``ordinal``;
    - text that is mostly, but not entirely, numbers (dates): ``mixed``;
    - cells that combine a few options: ``multi-select``;
    - text of many words: ``text``; with more than nine in ten values distinct: ``identifier``; other text:
      ``category``.

    >>> import polars as pl
    >>> recognise(pl.Series(["a", "b", "a", None])).kind, recognise(pl.Series(["1,5", "2,0"])).spelling
    ('category', 'decimal commas')
    """
    import polars as pl

    gaps = int(is_missing(column).sum())
    filled = column.drop_nulls()
    filled = filled.drop_nans() if filled.dtype.is_float() else filled
    if not len(filled):
        return Finding("empty", "it has no value in any row", gaps, 0, problem="no value in any row")
    if filled.dtype.is_nested() or filled.dtype in (pl.Binary, pl.Object):
        return Finding("other", f"it holds {filled.dtype}", gaps, 0, problem=f"it holds {filled.dtype}")
    if filled.dtype == pl.String:
        return _recognise_text(filled, gaps, most_levels, rules)
    numeric = filled.dtype.is_numeric() or filled.dtype.is_temporal()
    distinct = 1 if numeric and filled.min() == filled.max() else int(filled.n_unique()) if count or not numeric else 0
    if distinct == 1:
        return Finding("constant", f"every value is {_shown(filled[0])}", gaps, 1)
    if filled.dtype == pl.Boolean:
        return Finding("yes/no", "it holds true and false", gaps, distinct)
    if filled.dtype.is_numeric():
        low, high = _shown(filled.min()), _shown(filled.max())
        if filled.dtype.is_integer() and _counts_rows(filled, gaps):
            return Finding("identifier", "its integers number the rows", gaps, distinct, "", low, high)
        return Finding("number", "it holds numbers", gaps, distinct, "", low, high)
    ends = _shown(filled.min()), _shown(filled.max())
    return Finding("date", f"it holds {filled.dtype}", gaps, distinct, "", *ends)


def _recognise_text(filled: "pl.Series", gaps: int, most_levels: int, rules: int) -> Finding:
    """Kind of a column of text, by its distinct values and their counts."""
    counts = filled.alias("value").value_counts(name="rows")
    values, often = counts[:, 0], counts[:, 1].to_numpy()
    distinct = len(values)
    if distinct == 1:
        return Finding("constant", f"every value is {_shown(values[0])}", gaps, 1)
    if (distinct == 2 or rules > 1) and text_formats.are_answers(values):
        return Finding("yes/no", "it holds yes and no", gaps, distinct)
    if rules > 1 and text_formats.are_codes(values):
        return Finding("code", "its numbers begin with zeros, which numbers would lose", gaps, distinct)
    style, numbers = text_formats.number_style(values, counts=often)
    if numbers == 1.0:
        spelled = text_formats.spelled_numbers(values, style)
        ends = _shown(spelled.min()), _shown(spelled.max())
        return Finding("number", f"its text spells numbers with {style}", gaps, distinct, style, *ends)
    form, dates = text_formats.date_format(values, often)
    if dates == 1.0:
        moments = text_formats.spelled_dates(values, form)
        ends = _shown(moments.min()), _shown(moments.max())
        return Finding("date", f"its text spells dates as {form}", gaps, distinct, form, *ends)
    if rules > 1:
        order = answer_scales.order_of(_by_count(counts)) if distinct <= most_levels else None
        if order is not None:
            why = f"its {distinct} answers form a scale from {_shown(order[0])} to {_shown(order[-1])}"
            return Finding("ordinal", why, gaps, distinct, order=tuple(order))
        found = _with_unit(filled, values, often, gaps, most_levels)
        if found is not None and (found.kind == "number" or numbers < _MOSTLY):
            return found
    mixtures: list[tuple[str, float, pl.Series | None]] = [
        ("number", numbers, text_formats.spelled_numbers(values, style)),
        ("date", dates, text_formats.spelled_dates(values, form) if form else None),
    ]
    for what, share, read in mixtures:
        if read is not None and (share >= _MOSTLY or read.drop_nulls().n_unique() > most_levels):
            words = f"{share:.0%} of its values are {what}s, but not {_others(filled, values, read)}"
            return Finding("mixed", words, gaps, distinct, form if what == "date" else style, problem=what)
    if rules > 1 and (separator := multi_select.separator_of(dict(zip(values, often, strict=True)), most_levels)):
        several = f"its cells combine options, separated by {separator!r}"
        return Finding("multi-select", several, gaps, distinct, separator)
    if rules > 1 and distinct > most_levels and (words_each := _mean_words(values)) >= _WORDS:
        return Finding("text", f"free text of {words_each:.0f} words on average", gaps, distinct)
    if distinct > _DIFFERENT * len(filled):
        how_many = "every value is" if distinct == len(filled) else f"{distinct / len(filled):.0%} of the values are"
        return Finding("identifier", f"{how_many} different", gaps, distinct)
    merged = spellings.variants(dict(counts.iter_rows())) if rules > 1 and distinct <= _FOLDED else {}
    if distinct - len(merged) == 1:
        return Finding("constant", f"every value is {_shown(values[0])}, in {distinct} spellings", gaps, 1)
    why = f"text of {distinct - len(merged):,} different values"
    return Finding("category", why, gaps, distinct - len(merged), variants=tuple(merged.items()))


def _by_count(counts: Any) -> list[str]:
    """Distinct values, the most frequent first."""
    ordered: list[str] = counts.sort([counts.columns[1], counts.columns[0]], descending=[True, False])[:, 0].to_list()
    return ordered


def _mean_words(values: "pl.Series") -> float:
    return float((values.head(10_000).str.count_matches(r"\s+") + 1).mean() or 0)  # type: ignore[arg-type]


def _with_unit(
    filled: "pl.Series", values: "pl.Series", often: NDArray[Any], gaps: int, most_levels: int
) -> Finding | None:
    """Kind of text that spells numbers with a unit, or in parentheses where they are negative; None if it does not."""
    distinct = len(values)
    probe = number_units.split_units(values.head(100))[0]
    if probe.null_count() > len(probe) / 2:
        return None
    bare, units, spaced = number_units.split_units(values)
    style, _ = text_formats.number_style(bare, counts=often)
    read = text_formats.spelled_numbers(bare, style)
    share = float(often[read.is_not_null().to_numpy()].sum() / often.sum())
    named = sorted({unit for unit in units.filter(read.is_not_null()).to_list() if unit})
    known = all(
        number_units.is_unit(unit, spaced=bool(spaced.filter(units == unit).all()), distinct=distinct) for unit in named
    )
    if share < _MOSTLY or not known:
        return None
    if any(not number_units.same_unit(unit, named[0]) for unit in named):
        if distinct <= most_levels:
            return None  # a few sizes such as 500 ml and 1 l are a category
        several = ", ".join(map(repr, named[:4]))
        return Finding("mixed", f"its numbers have several units: {several}", gaps, distinct, style, problem="number")
    unit = max(named, key=lambda one: often[(units == one).fill_null(False).to_numpy()].sum()) if named else ""
    what = f"numbers in {unit!r}" if unit else "numbers, negative in parentheses"
    if share < 1.0:
        words = f"{share:.0%} of its values are {what}, but not {_others(filled, values, read)}"
        return Finding("mixed", words, gaps, distinct, style, problem="number", unit=unit)
    without = int(often[((units == "").fill_null(False) & read.is_not_null()).to_numpy()].sum()) if unit else 0
    why = f"its text spells {what} with {style}" + (f", {without:,} of them without the unit" if without else "")
    return Finding("number", why, gaps, distinct, style, _shown(read.min()), _shown(read.max()), unit=unit)


def _others(filled: "pl.Series", values: "pl.Series", read: "pl.Series") -> str:
    """The first values that were not read, as messages show them."""
    strange = values.filter(read.is_null()).to_list()
    few = filled.filter(filled.is_in(strange)).unique(maintain_order=True)[:3].to_list()
    more = len(strange) - len(few)
    return ", ".join(_shown(one) for one in few) + (f" and {more:,} more" if more else "")


def numbers_in(column: "pl.Series", style: str = "", unit: str = "") -> NDArray[np.float64]:
    """Values of a column of numbers or yes/no values, NaN where one is missing or not a number."""
    import polars as pl

    if column.dtype == pl.String:
        style = style or text_formats.PLAIN
        plain = text_formats.spelled_numbers(column, style)
        lost = plain.null_count() > column.null_count()
        column = number_units.numbers_with_unit(column, style, unit) if lost else plain
    return _floats(column)


def answers_in(column: "pl.Series") -> NDArray[np.float64]:
    """1 for yes, 0 for no, NaN where neither is given."""
    import polars as pl

    values = _floats(text_formats.answers(column) if column.dtype == pl.String else column)
    return np.where((values == 0) | (values == 1), values, np.nan)


def moments_in(column: "pl.Series", form: str = "") -> "pl.Series":
    """Points in time of a column of dates, null where one is missing or not a date."""
    import polars as pl

    if column.dtype == pl.String:
        return text_formats.spelled_dates(column, form)
    if column.dtype in (pl.Time, pl.Duration):
        return column.cast(pl.Duration("us")).cast(pl.Int64).cast(pl.Datetime("us"))
    return column.cast(pl.Datetime("us"), strict=False)


def days_in(moments: "pl.Series") -> NDArray[np.float64]:
    """Days since the beginning of 1970, NaN where a date is missing."""
    import polars as pl

    return _floats(moments.cast(pl.Int64)) / 86_400e6


def _floats(column: "pl.Series") -> NDArray[np.float64]:
    import polars as pl

    return np.asarray(column.cast(pl.Float64, strict=False).to_numpy(), dtype=np.float64)


def is_missing(column: "pl.Series") -> NDArray[np.bool_]:
    """Rows without a value: null, and NaN among numbers."""
    lost = column.is_null() | column.is_nan() if column.dtype.is_float() else column.is_null()
    return np.asarray(lost.fill_null(True).to_numpy())


def _counts_rows(filled: "pl.Series", gaps: int) -> bool:
    return not gaps and len(filled) >= _COUNTED and bool((filled.diff().drop_nulls() == 1).all())


def _shown(value: Any) -> str:
    """A value as messages show it."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if hasattr(value, "isoformat"):
        return str(value.isoformat(sep=" ") if hasattr(value, "hour") and hasattr(value, "year") else value).replace(
            " 00:00:00", ""
        )
    text = str(value) if not isinstance(value, str) else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}…"
