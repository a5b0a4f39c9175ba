"""How text spells numbers, dates and answers: recognised for a whole column, then read the same way ever after."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

# cells without a value
MISSING = ("", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None", "?")
# How numbers are written: the name that is told, and the pattern of a whole cell.
PLAIN, COMMAS, THOUSANDS = "decimal points", "decimal commas", "thousands separators"
_PATTERNS = {
    COMMAS: r"^[+-]?(\d{1,3}([. '’\x{a0}\x{202f}]\d{3})+|\d+)(,\d+)?([eE][+-]?\d+)?$",
    THOUSANDS: r"^[+-]?(\d{1,3}([, '’\x{a0}\x{202f}]\d{3})+|\d+)(\.\d+)?([eE][+-]?\d+)?$",
}
_GROUPS = {COMMAS: r"[. '’\x{a0}\x{202f}]", THOUSANDS: r"[, '’\x{a0}\x{202f}]"}
# Where day and month could change places, the day comes first if every cell allows it.
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
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M",
)
_YES = ("yes", "y", "true", "t", "on", "ja", "j", "oui", "o", "si", "sí", "s", "sim", "да")
_NO = ("no", "n", "false", "f", "off", "nein", "non", "não", "nao", "нет")
_PROBE = 200  # filled cells that rule out most formats before a column is read whole


def stripped(text: "pl.Series") -> "pl.Series":
    """Text without spaces around it, null where it stands for no value."""
    text = text.str.strip_chars()
    return text.set(text.is_in(MISSING), None)


def spelled_numbers(text: "pl.Series", style: str) -> "pl.Series":
    """Numbers that text spells in a style, null where it spells none.

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


def number_style(text: "pl.Series", *, commas: bool = False) -> tuple[str, float]:
    """Style in which most cells are numbers, and the share of filled cells that are.

    ``commas`` says that decimal commas are likely, as in a file divided by semicolons; it decides where ``1,234`` could
    be either.

    >>> import polars as pl
    >>> number_style(pl.Series(["0,5", "12,25"])), number_style(pl.Series(["1,234", "12,500"]))
    (('decimal commas', 1.0), ('thousands separators', 1.0))
    """
    filled = text.drop_nulls()
    if not len(filled):
        return PLAIN, 0.0
    order = (PLAIN, COMMAS, THOUSANDS) if commas else (PLAIN, THOUSANDS, COMMAS)
    best = PLAIN, 0.0
    for style in order:
        if style != PLAIN and filled.str.contains(r"^[+-]?0\d").any():
            continue  # 007 and 01/2020 are codes
        share = 1.0 - spelled_numbers(filled, style).null_count() / len(filled)
        if style == THOUSANDS and not commas and filled.str.contains(r"^[+-]?0,\d").any():
            continue  # no thousands begin with 0
        if share > best[1]:
            best = style, share
        if share == 1.0:
            break
    return best


def spelled_dates(text: "pl.Series", form: str) -> "pl.Series":
    """Points in time that text spells in a format, null where it spells none."""
    import polars as pl

    if "%H" in form:
        return text.str.to_datetime(form, strict=False, time_unit="us", exact=True)
    return text.str.to_date(form, strict=False, exact=True).cast(pl.Datetime("us"))


def date_format(text: "pl.Series") -> tuple[str, float]:
    """Format in which most cells are dates, and the share of filled cells that are.

    >>> import polars as pl
    >>> date_format(pl.Series(["24.12.2020", "1.2.2021"]))
    ('%d.%m.%Y', 1.0)
    """
    filled = text.drop_nulls()
    best = "", 0.0
    if not len(filled) or not filled.head(_PROBE).str.contains(r"^\d+[./-]\d+[./-]\d+").any():
        return best  # eight digits in a row are a number, unless a plan names the format
    for form in DATE_FORMATS:
        probe = filled.head(_PROBE)
        if spelled_dates(probe, form).null_count() == len(probe):
            continue
        share = 1.0 - spelled_dates(filled, form).null_count() / len(filled)
        if share > best[1]:
            best = form, share
        if share == 1.0:
            break
    return best


def answers(text: "pl.Series") -> "pl.Series":
    """True for yes, false for no, in a few languages; null for anything else.

    >>> import polars as pl
    >>> answers(pl.Series(["Yes", "nein", "perhaps"])).to_list()
    [True, False, None]
    """
    import polars as pl

    lower = text.str.to_lowercase()
    yes, no = lower.is_in(_YES), lower.is_in(_NO)
    return pl.select(pl.when(yes).then(True).when(no).then(False).otherwise(None)).to_series()
