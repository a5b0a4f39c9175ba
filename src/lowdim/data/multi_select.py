"""Cells with several options, such as "bus; train", as questionnaires export them."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

SEPARATORS = (";", "|", ",")
_SEVERAL = 0.05  # share of the cells that hold several options
_LONG = 60  # characters of an option at most
_MOST_VALUES = 20_000  # distinct cells up to which options are looked for


def options_in(cell: str, separator: str) -> list[str]:
    """Options of a cell, without spaces around them.

    >>> options_in("bus; train;", ";")
    ['bus', 'train']
    """
    return [part for part in (one.strip() for one in cell.split(separator)) if part]


def separator_of(counts: Mapping[str, int], most: int) -> str:
    """Separator of the options where cells hold several of at most ``most`` options; empty where they do not.

    Options recur in different combinations, so that there are fewer of them than different cells.

    >>> separator_of({"a;b": 3, "a": 2, "b;c": 1, "c": 1}, 50), separator_of({"Rome, Italy": 2, "Oslo, Norway": 3}, 50)
    (';', '')
    """
    if len(counts) > _MOST_VALUES:
        return ""
    total = sum(counts.values())
    for separator in SEPARATORS:
        cells = {cell: options_in(cell, separator) for cell in counts}
        several = sum(counts[cell] for cell, parts in cells.items() if len(parts) > 1)
        if several < _SEVERAL * total or any(len(set(parts)) < len(parts) for parts in cells.values()):
            continue
        seen = Counter(part for parts in cells.values() for part in parts)
        strict = separator == ","  # which text has for other reasons too
        recurring = sum(count > 1 for count in seen.values())
        few = 2 <= len(seen) <= most and (len(seen) < len(cells) if strict else len(seen) <= len(cells))
        if few and recurring >= (len(seen) if strict else 2) and max(map(len, seen)) <= _LONG:
            return separator
    return ""


def indicators(column: "pl.Series", separator: str, options: list[str]) -> tuple[NDArray[np.float64], set[str]]:
    """Which of the options each cell holds (n, options), zeros where it is missing; options that are not among them."""
    import polars as pl

    place = {option: i for i, option in enumerate(options)}
    cells = column.drop_nulls().unique(maintain_order=True)
    table = np.zeros((len(cells) + 1, len(options)))
    unknown: set[str] = set()
    for row, cell in enumerate(cells.to_list()):
        for part in options_in(cell, separator):
            if part in place:
                table[row, place[part]] = 1.0
            else:
                unknown.add(part)
    codes = column.replace_strict(cells, list(range(len(cells))), default=len(cells), return_dtype=pl.Int64)
    return table[codes.fill_null(len(cells)).to_numpy()], unknown
