"""Rules for parameters: declared once per class, checked before any work, reported in one format."""

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Rule:
    """What a parameter may be: a test, its description, the strings among its options, and what an input form needs.

    ``kinds`` are those of "int", "float", "bool" and "none" that it may be, ``low`` and ``high`` the ends of its range.
    """

    accepts: Callable[[Any], bool]
    needs: str
    options: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()
    low: float | None = None
    high: float | None = None

    def __or__(self, other: "Rule") -> "Rule":
        return Rule(
            lambda value: self.accepts(value) or other.accepts(value),
            f"{self.needs}, or {other.needs}",
            self.options + other.options,
            self.kinds | other.kinds,
            *(self if self.kinds & {"int", "float"} else other).range,
        )

    @property
    def range(self) -> tuple[float | None, float | None]:
        """Lowest and highest number."""
        return self.low, self.high


def one_of(*options: str) -> Rule:
    """Rule for one of the given strings.

    >>> one_of("a", "b").needs
    "one of 'a', 'b'"
    """
    words = ", ".join(map(repr, options))
    return Rule(
        lambda value: isinstance(value, str) and value in options,
        words if len(options) == 1 else f"one of {words}",
        options,
    )


def integer(low: int, high: int = 2**31 - 1) -> Rule:
    """Rule for an integer from ``low`` to ``high``, the largest that the kernels take."""
    return Rule(
        lambda value: (
            isinstance(value, Integral) and not isinstance(value, bool | np.bool_) and low <= int(value) <= high
        ),
        f"an integer ≥ {low}" + (f" and ≤ {high}" if high < 2**31 - 1 else ""),
        (),
        frozenset({"int"}),
        low,
        high if high < 2**31 - 1 else None,
    )


def real(low: float = -math.inf, high: float = math.inf, *, closed: str = "neither") -> Rule:
    """Rule for a finite number between ``low`` and ``high``; ``closed`` says which ends count ("left", ...)."""
    left, right = closed in ("left", "both"), closed in ("right", "both")

    def accepts(value: Any) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool | np.bool_) or not math.isfinite(value):
            return False
        x = float(value)
        return (low <= x if left else low < x) and (x <= high if right else x < high)

    ends = f"{'[' if left else '('}{low:g}, {high:g}{']' if right else ')'}"
    words = "a finite number" if (low, high) == (-math.inf, math.inf) else f"a number in {ends}"
    limits = (end if math.isfinite(end) else None for end in (low, high))
    return Rule(accepts, words, (), frozenset({"float"}), *limits)


def share() -> Rule:
    """Rule for a proportion: a float strictly between 0 and 1."""
    return Rule(
        lambda value: isinstance(value, Real) and not isinstance(value, Integral) and 0 < float(value) < 1,
        "a proportion strictly between 0 and 1",
        (),
        frozenset({"float"}),
        0,
        1,
    )


widths = Rule(
    lambda value: isinstance(value, tuple | list) and all(integer(1).accepts(width) for width in value),
    "a tuple of integers ≥ 1, such as (128,) or (256, 64), or ()",
)
positive_numbers = Rule(
    lambda value: (
        isinstance(value, list | tuple)
        and len(value) > 0
        and all(isinstance(u, Real) and not isinstance(u, bool) and 0 < float(u) < math.inf for u in value)
    ),
    "a list of positive numbers",
)
device = Rule(
    lambda value: isinstance(value, str) and re.fullmatch(r"cpu|cuda(:\d+)?", value) is not None,
    "'cpu', 'cuda' or 'cuda:<number>'",
    ("cpu", "cuda"),
)
flag = Rule(lambda value: isinstance(value, bool | np.bool_), "True or False", (), frozenset({"bool"}))
none = Rule(lambda value: value is None, "None", (), frozenset({"none"}))
seed = (
    none
    | integer(0, high=10**100)
    | Rule(
        lambda value: isinstance(value, np.random.Generator | np.random.RandomState), "a numpy Generator or RandomState"
    )
)
jobs = none | Rule(
    lambda value: isinstance(value, Integral) and not isinstance(value, bool) and value != 0,
    "a number of threads (negative: -1 is all cores, -2 all but one)",
)


def check(owner: str, values: Mapping[str, Any], rules: Mapping[str, Rule]) -> None:
    """Raise ValueError at the first of ``values``, parameters of what is called ``owner``, that breaks its rule."""
    for name, rule in rules.items():
        value = values[name]
        if not rule.accepts(value):
            raise ValueError(f"{owner}: {name} must be {rule.needs}; got {value!r}. {_advice(name, value, rule)}")


def demand_known(owner: str, given: Collection[str], known: Collection[str]) -> None:
    """Refuse names of parameters that what is called ``owner`` does not have.

    >>> demand_known("PCA", ["solver"], ["n_components", "solver"])
    """
    wrong = [name for name in given if name not in known]
    if wrong:
        close = get_close_matches(wrong[0], known, n=1)
        advice = f"Did you mean {close[0]!r}?" if close else "Check the spelling."
        raise ValueError(f"{owner} takes {', '.join(known)}; got {', '.join(wrong)}. {advice}")


def _advice(name: str, value: Any, rule: Rule) -> str:
    if isinstance(value, str) and (close := get_close_matches(value, rule.options, n=1)):
        return f"Did you mean {close[0]!r}?"
    if isinstance(value, float) and value >= 1 and value.is_integer() and rule.accepts(int(value)):
        return f"Pass {name}={int(value)} for a count."
    if rule.options:
        return f"Pass {name}={rule.options[0]!r}, for example."
    return f"Change {name}."
