"""Labels for display: categories or a quantity, by one rule for plots and comparisons alike."""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_NAMED = 20  # categories that get a colour and a legend entry of their own
MOST_CATEGORIES = 50  # whole numbers with more distinct values than this are a quantity, not a label


@dataclass(frozen=True)
class Categories:
    """Labels as codes into ``names``; ``len(names)`` stands for the ``hidden`` rare ones, -1 for missing."""

    codes: NDArray[np.intp]
    names: tuple[str, ...]
    hidden: int
    title: str


@dataclass(frozen=True)
class Values:
    """A continuous quantity, NaN where missing."""

    values: Floats
    title: str


def read_labels(
    y: Any,
    n: int,
    *,
    kind: str | None = None,
    names: Mapping[Any, str] | Sequence[str] | None = None,
    caller: str = "scatter",
    most: int = MOST_NAMED,
) -> Categories | Values:
    """Labels as categories or as a quantity.

    The rule: whole numbers with at most 50 distinct values, text, booleans and all other objects are
    categories; all other numbers are a quantity. ``kind`` overrules it. NaN and None are missing. Of more than ``most``
    categories the most frequent are kept and the others pooled. Errors name ``caller``.
    """
    title = str(getattr(y, "name", None) or "")
    dtype = getattr(y, "dtype", None)
    order = getattr(dtype, "categories", None)  # pandas' and polars' own order of the labels
    raw = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if raw.shape != (n,):
        raise ValueError(
            f"{caller}: y must hold one label per row of Y ({n}); got shape {raw.shape}. "
            "Pass y in the order and number of the rows of Y."
        )
    if kind not in (None, "categories", "values"):
        raise ValueError(f"{caller}: kind must be 'categories', 'values' or None; got {kind!r}. Choose one.")
    numbers = _numbers(raw)
    if kind == "values" and numbers is None:
        raise ValueError(f"{caller}: kind='values' needs numbers; got {raw.dtype}. Use kind='categories'.")
    if numbers is not None:
        present = np.unique(numbers[np.isfinite(numbers)])
        whole = bool((present == np.round(present)).all()) and len(present) <= MOST_CATEGORIES
        if kind == "values" or (kind is None and not whole):
            return Values(np.where(np.isfinite(numbers), numbers, np.nan), title)
        codes = np.searchsorted(present, numbers).astype(np.intp)
        codes[~np.isfinite(numbers)] = -1
        distinct: list[Any] = [int(v) if v == round(v) else float(v) for v in present.tolist()]
    else:
        codes, distinct = _encode(raw.tolist(), order)
    return fold_rare(codes, _display(distinct, names), title, most)


def fold_rare(codes: NDArray[np.intp], names: tuple[str, ...], title: str, most: int) -> Categories:
    """Keep the most frequent categories, in their order, and pool the others under one code."""
    hidden = max(len(names) - most, 0)
    if hidden:
        counts = np.bincount(codes[codes >= 0], minlength=len(names))
        kept = np.sort(np.argsort(-counts, kind="stable")[:most])
        place = np.full(len(names) + 1, most, dtype=np.intp)
        place[kept] = np.arange(most)
        place[-1] = -1
        codes, names = place[codes], tuple(names[i] for i in kept)
    return Categories(codes, names, hidden, title)


def _numbers(raw: NDArray[Any]) -> Floats | None:
    """The labels as floats when all that are present are numbers (booleans are not)."""
    if raw.dtype.kind in "iuf":
        return raw.astype(np.float64)
    if raw.dtype.kind == "O":
        present = [v for v in raw.tolist() if not _is_missing(v)]
        if present and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in present):
            return np.array([np.nan if _is_missing(v) else v for v in raw.tolist()], dtype=np.float64)
    return None


def _is_missing(value: Any) -> bool:
    if isinstance(value, float):
        return value != value
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _encode(labels: list[Hashable], order: Any) -> tuple[NDArray[np.intp], list[Any]]:
    """Codes and the distinct labels, in the order of the categorical type if there is one, otherwise sorted."""
    seen: dict[Any, int] = {}
    first = np.fromiter((-1 if _is_missing(v) else seen.setdefault(v, len(seen)) for v in labels), np.intp, len(labels))
    distinct = [value for value in order if value in seen] if isinstance(order, Iterable) else []
    distinct += _in_order(list(set(seen).difference(distinct)))
    place = np.full(len(seen) + 1, -1, dtype=np.intp)  # code -1 reads the last entry
    for rank, value in enumerate(distinct):
        place[seen[value]] = rank
    return place[first], distinct


def _in_order(distinct: list[Any]) -> list[Any]:
    """Natural sort order: 'b2' before 'b10'."""

    def natural(value: Any) -> list[tuple[int, int, str]]:
        parts = re.split(r"(\d+)", str(value))
        return [(0, int(part), "") if part.isdecimal() else (1, 0, part.casefold()) for part in parts]

    return sorted(distinct, key=natural)


def _display(distinct: list[Any], names: Mapping[Any, str] | Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return tuple(str(value) for value in distinct)
    if isinstance(names, Mapping):
        return tuple(str(names.get(value, value)) for value in distinct)
    if len(names) != len(distinct):
        raise ValueError(
            f"scatter: names must hold one name per category ({len(distinct)}); got {len(names)}. "
            "Pass them in sorted order of the categories, or a mapping from label to name."
        )
    return tuple(str(name) for name in names)
