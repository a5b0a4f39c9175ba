"""Fields of the state of a fitted model: declared once per method, checked when a file is loaded.

Sizes are letters that denote one number throughout a state: ``array("k", "d")`` and ``array("d")`` must agree in
``d``. A letter is bound by the first field that uses it, so the order of a declaration matters.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from lowdim.work.csr import demand_sound
from lowdim.work.finite import is_finite

Sizes = dict[str, int]
Size = str | int
_LABELS = "biufUSMO"  # kinds of arrays that hold labels


@dataclass(frozen=True)
class Field:
    """Test of one attribute, which raises ValueError with the reason; ``optional`` ones may be missing."""

    check: Callable[[Any, Sizes], None]
    optional: bool = False

    def __or__(self, other: "Field") -> "Field":
        """Either of two."""

        def check(value: Any, sizes: Sizes) -> None:
            tried = dict(sizes)
            try:
                self.check(value, tried)
            except ValueError:
                other.check(value, sizes)
            else:
                sizes.update(tried)

        return Field(check)


def freely(field: Field) -> Field:
    """A field with sizes of its own for some letters."""
    return Field(lambda value, _: field.check(value, {}), field.optional)


def check_fields(state: Mapping[str, Any], fields: Mapping[str, Field], *, partly: bool = False) -> None:
    """Raise ValueError unless ``state`` is as declared: all of it and nothing else, or any part of it if ``partly``.

    >>> check_fields({"mean_": np.zeros(3), "n_": 3}, {"mean_": array("d"), "n_": count("d")})
    >>> check_fields({"mean_": np.zeros(3), "n_": 4}, {"mean_": array("d"), "n_": count("d")})
    Traceback (most recent call last):
    ...
    ValueError: n_ must be 3; got 4
    """
    sizes: Sizes = {}
    for name, field in fields.items():
        if name not in state:
            if field.optional or partly:
                continue
            raise ValueError(f"{name} is missing")
        try:
            field.check(state[name], sizes)
        except ValueError as error:
            raise ValueError(f"{name} {error}") from None
    if not partly and (strange := sorted(set(state) - set(fields))):
        raise ValueError(f"{', '.join(strange)} do not belong to this model")


def optional(field: Field) -> Field:
    """A field that may be missing."""
    return Field(field.check, optional=True)


def array(
    *shape: Size,
    kind: str = "f",
    low: float = -math.inf,
    high: float = math.inf,
    finite: bool = True,
    precision: str = "",
) -> Field:
    """Array of numbers of this shape; ``kind`` is a kind of dtype, such as "f", or one dtype, such as "f4".

    Fields that share a letter of ``precision`` share their dtype.

    >>> check_fields({"x": np.array([1.0, np.nan])}, {"x": array("n")})
    Traceback (most recent call last):
    ...
    ValueError: x must be finite; got nan
    """

    def check(value: Any, sizes: Sizes) -> None:
        _demand_type(value, kind)
        _demand_shape(value.shape, shape, sizes)
        _demand_range(value, low, high, finite)
        _demand_precision(value, precision, sizes)

    return Field(check)


def indices(*shape: Size, below: Size, low: int = 0, kind: str = "i", rising: bool = False) -> Field:
    """Array of indices from ``low`` to below a size; ``rising``: strictly increasing."""

    def check(value: Any, sizes: Sizes) -> None:
        _demand_type(value, kind)
        _demand_shape(value.shape, shape, sizes)
        _demand_range(value, low, _limit(below, sizes) - 1, True)
        if rising and (np.diff(value) <= 0).any():
            raise ValueError("must be strictly increasing")

    return Field(check)


def starts(n: Size, of: Size) -> Field:
    """Start of each of ``n`` groups of ``of`` items and the end of the last: int64 (n + 1,), from 0, not decreasing."""

    def check(value: Any, sizes: Sizes) -> None:
        _demand_type(value, "i8")
        if value.ndim != 1 or not len(value):
            raise ValueError(f"must have one dimension; got shape {value.shape}")
        _demand_size(len(value) - 1, n, sizes)
        if value[0] != 0 or (np.diff(value) < 0).any():
            raise ValueError("must start at 0 and not decrease")
        _demand_size(int(value[-1]), of, sizes)

    return Field(check)


def rows(n: Size, d: Size, precision: str = "") -> Field:
    """Rows as floats, dense or CSR, finite; ``precision`` as for :func:`array`."""

    def check(value: Any, sizes: Sizes) -> None:
        if sp.issparse(value):
            if value.format != "csr":
                raise ValueError(f"must be CSR; got {value.format}")
            demand_sound(value)
            _demand_shape(value.shape, (n, d), sizes)
            value = value.data
        else:
            _demand_shape(getattr(value, "shape", ()), (n, d), sizes)
        _demand_type(value, "f", half=True)
        _demand_range(value, -math.inf, math.inf, True)
        _demand_precision(value, precision, sizes)

    return Field(check)


def number(low: float = -math.inf, high: float = math.inf) -> Field:
    """Finite number from ``low`` to ``high``."""

    def check(value: Any, _: Sizes) -> None:
        if not isinstance(value, Real) or isinstance(value, bool | np.bool_) or not math.isfinite(value):
            raise ValueError(f"must be a finite number; got {str(value)[:40]!r}")
        if not low <= float(value) <= high:
            raise ValueError(f"must be from {low:g} to {high:g}; got {float(value):g}")

    return Field(check)


def count(size: Size | None = None, low: int = 0, most: Size | None = None) -> Field:
    """Integer: a size, or any from ``low`` (to the size ``most``)."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, Integral) or isinstance(value, bool | np.bool_):
            raise ValueError(f"must be an integer; got {str(value)[:40]!r}")
        if size is not None:
            _demand_size(int(value), size, sizes)
        limit = math.inf if most is None else _limit(most, sizes)
        if not low <= int(value) <= limit:
            raise ValueError(f"must be from {low} to {limit}; got {value}")

    return Field(check)


def text(*choices: str) -> Field:
    """Text: any, or one of some."""

    def check(value: Any, _: Sizes) -> None:
        if not isinstance(value, str) or (choices and value not in choices):
            raise ValueError(f"must be {' or '.join(map(repr, choices)) or 'text'}; got {str(value)[:40]!r}")

    return Field(check)


def labels(n: Size) -> Field:
    """One label (number, text or date) for each of some items."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in _LABELS:
            raise ValueError(f"must be an array of labels; got {_kind_of(value)}")
        _demand_shape(value.shape, (n,), sizes)
        _demand_range(value, -math.inf, math.inf, True)

    return Field(check)


def parts(*fields: Field) -> Field:
    """Tuple of so many fields."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, tuple) or len(value) != len(fields):
            raise ValueError(f"must have {len(fields)} parts; got {_kind_of(value)}")
        for number, (field, part) in enumerate(zip(fields, value, strict=True)):
            try:
                field.check(part, sizes)
            except ValueError as error:
                raise ValueError(f"part {number} {error}") from None

    return Field(check)


def graph(n: Size, n_edges: Size) -> Field:
    """Graph of ``n`` rows by its edges: their starts by row, their ends, and their lengths."""
    return parts(starts(n, n_edges), indices(n_edges, below=n, kind="i4"), array(n_edges, kind="f4", low=0))


def each(field: Field, n: Size | None = None) -> Field:
    """List of fields of one kind."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, list):
            raise ValueError(f"must be a list; got {_kind_of(value)}")
        if n is not None:
            _demand_size(len(value), n, sizes)
        for part in value:
            field.check(part, sizes)

    return Field(check)


def tested(test: Callable[[Any], Any]) -> Field:
    """Any value for which the method's own function raises no ValueError."""

    def check(value: Any, _: Sizes) -> None:
        test(value)

    return Field(check)


def mapping(values: Field) -> Field:
    """Dictionary from text to such values."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            raise ValueError(f"must be a dictionary by names; got {_kind_of(value)}")
        for key, part in value.items():
            try:
                values.check(part, sizes)
            except ValueError as error:
                raise ValueError(f"[{key!r}] {error}") from None

    return Field(check)


def bind(letter: str, size: Size) -> Field:
    """None; ``letter`` then denotes the same number as ``size``."""

    def check(value: Any, sizes: Sizes) -> None:
        if value is not None:
            raise ValueError(f"must be None; got {_kind_of(value)}")
        if (limit := _limit(size, sizes)) < math.inf:
            _demand_size(int(limit), letter, sizes)

    return Field(check)


def _is_none(value: Any, _: Sizes) -> None:
    if value is not None:
        raise ValueError(f"must be None; got {_kind_of(value)}")


def _is_plain(value: Any, sizes: Sizes) -> None:
    if isinstance(value, list | tuple):
        for part in value:
            _is_plain(part, sizes)
    elif value is not None and not isinstance(value, str | Real | bool | np.bool_):
        raise ValueError(f"must hold text and numbers; got {_kind_of(value)}")


nothing = Field(_is_none)
plain = Field(_is_plain)
# What scikit-learn's base class stores besides fitted attributes.
SEEN = {
    "n_features_in_": count("d", low=1),
    "feature_names_in_": optional(labels("d")),
    "_sklearn_output_config": optional(mapping(text("default", "pandas", "polars"))),
}


def _kind_of(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} {value.shape}"
    plain = isinstance(value, str | int | float | list | tuple | dict)
    return f"{type(value).__name__} {str(value)[:40]!r}" if plain else f"a {type(value).__name__}"


def _demand_type(value: Any, kind: str, *, half: bool = False) -> None:
    if not isinstance(value, np.ndarray):
        raise ValueError(f"must be an array; got {_kind_of(value)}")
    fits = value.dtype.kind == kind if len(kind) == 1 else value.dtype == np.dtype(kind)
    usual = value.dtype.kind != "f" or value.dtype.itemsize in (4, 8) or (half and value.dtype.itemsize == 2)
    if not fits or not usual or not value.dtype.isnative:
        raise ValueError(f"must be an array of {kind!r}; got {value.dtype}")


def _demand_shape(found: Iterable[int], shape: tuple[Size, ...], sizes: Sizes) -> None:
    found = tuple(found)
    if len(found) != len(shape):
        raise ValueError(f"must have {len(shape)} dimensions; got shape {found}")
    for size, letter in zip(found, shape, strict=True):
        try:
            _demand_size(size, letter, sizes)
        except ValueError:
            needed = tuple(part if isinstance(part, int) else sizes.get(part, part) for part in shape)
            raise ValueError(f"is inconsistent with the rest: shape {found}, not {needed}") from None


def _demand_precision(value: Any, letter: str, sizes: Sizes) -> None:
    if letter and sizes.setdefault(f"bytes of {letter}", value.dtype.itemsize) != value.dtype.itemsize:
        raise ValueError(f"must have the dtype of the rest; got {value.dtype}")


def _limit(size: Size, sizes: Sizes) -> float:
    """Value of a size; None where the field that binds it is absent."""
    return size if isinstance(size, int) else sizes.get(size, math.inf)


def _demand_size(found: int, size: Size, sizes: Sizes) -> None:
    needed = size if isinstance(size, int) else sizes.setdefault(size, found)
    if found != needed:
        raise ValueError(f"must be {needed}; got {found}")


def _demand_range(value: Any, low: float, high: float, finite: bool) -> None:
    if finite and value.dtype.kind == "f" and not is_finite(value):
        raise ValueError(f"must be finite; got {value[~np.isfinite(value)][0]}")
    if value.size and (low > -math.inf or high < math.inf):
        least, most = value.min(), value.max()
        if least < low or most > high:
            raise ValueError(f"must hold values from {low:g} to {high:g}; got {least:g} to {most:g}")
