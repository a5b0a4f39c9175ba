"""Numbers written with a unit: "$1,234.50", "12.3 kg", "73%", and "(1,614)" for a negative amount."""

import re
from typing import TYPE_CHECKING

from lowdim.data import text_formats

if TYPE_CHECKING:
    import polars as pl

_SIGNS = "$€£¥₹₽₩₺₴₪฿¢₫"
_CURRENCIES = """
USD EUR GBP CHF JPY CNY INR SEK NOK DKK PLN CZK HUF RUB TRY BRL MXN CAD AUD NZD ZAR SGD HKD KRW ILS AED SAR
THB RON BGN UAH ARS CLP COP IDR MYR PHP VND EGP Fr Fr. SFr. Rs Rs. kr Kč zł Ft TL R$ US$ A$ C$ CA$ AU$ NZ$
HK$ S$
"""
# units that may follow a number without a space; others need one, since 12A and 4B are codes
_UNITS = """
kg g mg µg μg ug t lb lbs oz st km m cm mm µm μm um nm mi yd ft in l L ml mL dl dL cl µl μl s sec min h hr
hrs d ms Hz kHz MHz GHz W kW MW kWh Wh V mV A mA Pa kPa hPa bar psi °C °F °K K °C. J kJ kcal cal N m² m2 m³
m3 km² km2 ha km/h kmh mph m/s mg/dl mg/dL g/l g/L mmol/l mmol/L mmHg ppm ppb px pt dB bpm rpm B kB KB MB GB
TB yrs yr years mth mo wk pcs x € $ £ ¢ % ‰ °
"""
_CODES, _KNOWN = frozenset(_CURRENCIES.split()), frozenset(_UNITS.split())
_NUMBER = r"(?:\d[\d.,'’\x{a0}\x{202f} ]*(?:[eE][+-]?\d+)?|[.,]\d+)[ \x{a0}\x{202f}]*"
_BEFORE = "|".join([*(re.escape(code) for code in sorted(_CODES, key=len, reverse=True)), f"[{_SIGNS}]"])
_AFTER = rf"[{_SIGNS}%‰°]|[A-Za-zµμ°Ωčł][A-Za-zµμ°Ωčł0-9²³/·*^.%]{{0,11}}(?: [A-Za-z²³.]{{1,5}})?"
_PATTERN = rf"^({_BEFORE})?\s*(\()?\s*([+\-−–]?)\s*({_BEFORE})?\s*([+\-−–]?)\s*({_NUMBER})({_AFTER})?(-)?\s*(\))?$"
_FEW = 3  # distinct numbers from which an unknown word after a space is taken for a unit


def split_units(text: "pl.Series") -> tuple["pl.Series", "pl.Series", "pl.Series"]:
    """Numbers of cells without their units, null where a cell is not one; their units, and whether spaces part them.

    >>> import polars as pl
    >>> numbers, units, _ = split_units(pl.Series(["$1,234.50", "-$3", "(1,614)", "12.3 kg", "many"]))
    >>> numbers.to_list(), units.to_list()
    (['1,234.50', '-3', '-1,614', '12.3', None], ['$', '$', '', 'kg', None])
    """
    cells = text.str.extract_groups(_PATTERN).struct.unnest()
    first, opened, sign, before, second, number, after, trailing, closed = (cells[:, j] for j in range(9))
    before, twice = before.zip_with(first.is_null(), first), before.is_not_null() & first.is_not_null()
    bare = number.str.strip_chars()
    good = (
        bare.is_not_null()
        & (opened.is_not_null() == closed.is_not_null())
        & ((sign.fill_null("") == "") | (second.fill_null("") == ""))
        & ~(opened.is_not_null() & (sign + second).str.contains(r"[-−–]"))
        & ~twice
        & (before.is_null() | after.is_null())
    )
    negative = opened.is_not_null() | trailing.is_not_null() | (sign + second).str.contains("[-−–]")
    signed = ("-" + bare).zip_with(negative.fill_null(False), bare)
    units = (before.fill_null("") + after.fill_null("")).str.strip_chars()
    spaced = number.str.contains(r"[\s\x{a0}\x{202f}]$") | before.is_not_null()
    return signed.set(~good, None), units.set(~good, None), spaced.fill_null(False)


def numbers_with_unit(text: "pl.Series", style: str, unit: str) -> "pl.Series":
    """Numbers of cells whose unit is ``unit`` or that have none, null in others."""
    import polars as pl

    bare, units, _ = split_units(text)
    strange = [one for one in units.drop_nulls().unique().to_list() if one and not same_unit(one, unit)]
    if strange:
        bare = bare.set(units.is_in(strange).fill_null(False), None)
    return text_formats.spelled_numbers(bare, style) if bare.null_count() < len(bare) else bare.cast(pl.Float64)


def same_unit(one: str, other: str) -> bool:
    """Whether two words name one unit: "month" and "months", "KG" and "kg"; "m" and "M" do not.

    >>> same_unit("month", "Months"), same_unit("m", "M")
    (True, False)
    """
    return _plain(one) == _plain(other)


def _plain(unit: str) -> str:
    unit = unit.rstrip(".")
    if len(unit) < 2:
        return unit
    unit = unit.casefold()
    return unit[:-1] if len(unit) > 3 and unit.endswith("s") else unit


def is_unit(word: str, *, spaced: bool, distinct: int) -> bool:
    """Whether a word beside numbers is a unit, not a part of a code."""
    if word in _KNOWN or word in _CODES or word in _SIGNS:
        return True
    return spaced and distinct >= _FEW
