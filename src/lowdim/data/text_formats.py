"""Numbers, dates and yes/no values written as text: the format is recognised for a column, then fixed."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

# cells that mean a missing value
MISSING: tuple[str, ...] = ("", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None", "?")
MISSING += ("n/a", "N.A.", "n.a.", "n. a.", "<NA>", "NaT", "k.A.", "k. A.", "#NULL!", "#DIV/0!", "#VALUE!", "#REF!")
MARKS = (
    "-",
    "–",
    "—",
    "−",
    ".",
    "..",
    "...",
    "…",
    ":",
)  # and, in files, among numbers and dates, where text keeps them
# How numbers are written: the name shown to the user, and the pattern of a whole cell.
PLAIN, COMMAS, THOUSANDS = "decimal points", "decimal commas", "thousands separators"
_PATTERNS = {
    COMMAS: r"^[+-]?(\d{1,3}([. '’\x{a0}\x{202f}]\d{3})+|\d+)(,\d+)?([eE][+-]?\d+)?$",
    THOUSANDS: r"^[+-]?(\d{1,3}([, '’\x{a0}\x{202f}]\d{3})+|\d{1,2}(,\d{2})+,\d{3}|\d+)(\.\d+)?([eE][+-]?\d+)?$",
}
_GROUPS = {COMMAS: r"[. '’\x{a0}\x{202f}]", THOUSANDS: r"[, '’\x{a0}\x{202f}]"}
# Where day and month are ambiguous, the day comes first if every cell allows it.
DATE_FORMATS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y%m%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.fZ",
    "%Y-%m-%dT%H:%M:%S%.f%z",
    "%Y-%m-%d %H:%M:%S%.f%z",
    "%Y-%m-%dT%H:%M%z",
    "%Y-%m-%d %H:%M%z",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M",
)
_YES = ("yes", "y", "true", "t", "on", "ja", "j", "oui", "o", "si", "sí", "s", "sim", "да")
_NO = ("no", "n", "false", "f", "off", "nein", "non", "não", "nao", "нет")
_LANGUAGES = (
    {"yes", "y", "no", "n"},
    {"true", "t", "false", "f"},
    {"ja", "j", "nein", "n"},
    {"oui", "o", "non", "n"},
    {"si", "sí", "s", "no", "n"},
    {"sim", "s", "não", "nao", "n"},
    {"да", "нет"},
)
_PROBE = 200  # cells tested first, which rule out most formats before the whole column is read


def stripped(text: "pl.Series") -> "pl.Series":
    """Text without spaces around it, null where it means a missing value."""
    text = text.str.strip_chars()
    return text.set(text.is_in(MISSING), None)


def spelled_numbers(text: "pl.Series", style: str) -> "pl.Series":
    """Numbers written as text in a style, null where a cell is not a number.

    >>> import polars as pl
    >>> spelled_numbers(pl.Series(["1.234,5", "x"]), COMMAS).to_list()
    [1234.5, None]
    """
    import polars as pl

    if style != PLAIN:
        text = text.set(~text.str.contains(_PATTERNS[style]), None)
        text = text.str.replace_all(_GROUPS[style], "")
        text = text.str.replace(",", ".", literal=True) if style == COMMAS else text
    return text.cast(pl.Float64, strict=False)


def number_style(text: "pl.Series", *, commas: bool = False, counts: NDArray[Any] | None = None) -> tuple[str, float]:
    """Style in which most cells are numbers, and the share of filled cells that are.

    ``commas`` says that decimal commas are likely, as in a file separated by semicolons; it decides where
    ``1,234`` could be either. ``counts`` say how many cells each of ``text`` stands for.

    >>> import polars as pl
    >>> number_style(pl.Series(["0,5", "12,25"])), number_style(pl.Series(["1,234", "12,500"]))
    (('decimal commas', 1.0), ('thousands separators', 1.0))
    """
    if not len(text) - text.null_count():
        return PLAIN, 0.0
    best = PLAIN, 0.0
    for style in (PLAIN, COMMAS, THOUSANDS) if commas else (PLAIN, THOUSANDS, COMMAS):
        if style != PLAIN and text.str.contains(r"^[+-]?0\d").any():
            continue  # 007 and 01/2020 are codes, not numbers
        if style == THOUSANDS and not commas and text.str.contains(r"^[+-]?0,\d").any():
            continue  # a number with thousands separators never begins with 0
        share = _share(text, spelled_numbers(text, style), counts)
        if share > best[1]:
            best = style, share
        if share == 1.0:
            break
    return best


def _share(text: "pl.Series", values: "pl.Series", counts: NDArray[Any] | None) -> float:
    """Share of the filled cells of ``text`` that have a value in ``values``."""
    filled, read = text.is_not_null().to_numpy(), values.is_not_null().to_numpy()
    weights = np.ones(len(text)) if counts is None else counts
    return float(weights[read].sum() / weights[filled].sum())


def spelled_dates(text: "pl.Series", form: str) -> "pl.Series":
    """Points in time written as text in a format, null where a cell is not one."""
    import polars as pl

    if "%z" in form:  # an offset from UTC, of each cell: instants, in UTC
        return text.str.to_datetime(form, strict=False, time_unit="us", exact=True).dt.replace_time_zone(None)
    if "%H" in form:
        return text.str.to_datetime(form, strict=False, time_unit="us", exact=True)
    return text.str.to_date(form, strict=False, exact=True).cast(pl.Datetime("us"))


def date_format(text: "pl.Series", counts: NDArray[Any] | None = None) -> tuple[str, float]:
    """Format in which most cells are dates, and the share of filled cells that are; ``counts`` as for numbers.

    >>> import polars as pl
    >>> date_format(pl.Series(["24.12.2020", "1.2.2021"]))
    ('%d.%m.%Y', 1.0)
    """
    probe = text.drop_nulls().head(_PROBE)
    best = "", 0.0
    if not probe.str.contains(r"^\d+[./-]\d+[./-]\d+").any():
        return best  # eight digits are a number, unless a plan names the format
    for form in DATE_FORMATS:
        if spelled_dates(probe, form).null_count() == len(probe):
            continue
        share = _share(text, spelled_dates(text, form), counts)
        if share > best[1]:
            best = form, share
        if share == 1.0:
            break
    return best


def answers(text: "pl.Series") -> "pl.Series":
    """True for yes and false for no in several languages; null for anything else.

    >>> import polars as pl
    >>> answers(pl.Series(["Yes", "nein", "perhaps"])).to_list()
    [True, False, None]
    """
    import polars as pl

    lower = text.str.to_lowercase()
    yes, no = lower.is_in(_YES), lower.is_in(_NO)
    return pl.select(pl.when(yes).then(True).when(no).then(False).otherwise(None)).to_series()


def are_answers(values: "pl.Series") -> bool:
    """Whether the distinct values ``values`` are yes and no: two of them, or more of one language.

    >>> import polars as pl
    >>> are_answers(pl.Series(["yes", "Y", "NO"])), are_answers(pl.Series(["yes", "nein", "Y"]))
    (True, False)
    """
    if len(values) == 2:
        return not answers(values).null_count() and answers(values).n_unique() == 2
    lower = set(values.str.to_lowercase().to_list()) if len(values) <= 12 else set()
    return any(lower <= words for words in _LANGUAGES) and answers(values).n_unique() == 2


def are_codes(values: "pl.Series") -> bool:
    """Whether text consists of digits, some beginning with a zero that a number would lose, or with an extension.

    >>> import polars as pl
    >>> are_codes(pl.Series(["01234", "98765"])), are_codes(pl.Series(["0", "1"]))
    (True, False)
    >>> are_codes(pl.Series(["94110", "10001-1234"])), are_codes(pl.Series(["2020-01", "2020-02"]))
    (True, False)
    """
    if not values.str.contains(r"^\d+(-\d{2,})?$").all():
        return False
    extended = values.str.contains("-", literal=True)
    return bool(values.str.contains(r"^0\d").any() or (extended.any() and not extended.all()))
