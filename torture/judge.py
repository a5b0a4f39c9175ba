"""What a call may do: give a finite result, or raise one of a few exceptions in lowdim's own words."""

import linecache
import re
import traceback
import warnings
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning, NotFittedError

ALLOWED = (ValueError, TypeError, MemoryError, FileNotFoundError, ImportError)
UNKNOWN = ("class_distance_", "history_")  # documented to hold NaN


class Failure(Exception):  # noqa: N818  # the name of what was found, not of an error in here
    """What a case found: a word for the table, and the details."""

    def __init__(self, word: str, details: str) -> None:
        super().__init__(f"{word}: {details}")
        self.word, self.details = word, details


class Refused(Exception):  # noqa: N818
    """The call was refused as it should be."""


def judged(call: Callable[[], Any], allowed: tuple[type[BaseException], ...] = ALLOWED) -> Any:
    """Result of ``call``; raises Refused for a proper refusal, Failure for anything it may not do."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            result = call()
        except Exception as error:
            _demand_own_words(error, allowed)
            _demand_own_warnings(told)
            raise Refused(f"{type(error).__name__}: {error}") from None
    _demand_own_warnings(told)
    return result


def demand_finite(result: Any, where: str) -> None:
    """Fail unless all numbers in a result (arrays, tuples, matrices) are finite."""
    for array in _arrays(result):
        if array.dtype.kind in "fc" and not np.isfinite(array).all():
            raise Failure("not finite", f"{where} of shape {array.shape}")


def demand_finite_state(model: Any) -> None:
    """Fail unless the public attributes of a fitted model are finite."""
    for name, value in vars(model).items():
        if name.endswith("_") and name not in UNKNOWN:
            demand_finite(value, name)


def _arrays(value: Any) -> Iterator[np.ndarray]:
    if sp.issparse(value):
        yield value.data
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _arrays(part)
    elif isinstance(value, np.ndarray | np.generic | float):
        yield np.asarray(value)
    elif hasattr(value, "to_numpy"):
        yield value.to_numpy()


def _demand_own_words(error: Exception, allowed: tuple[type[BaseException], ...]) -> None:
    if isinstance(error, NotFittedError):
        return
    frame = _innermost(error.__traceback__)
    line = linecache.getline(frame.filename, frame.lineno or 0).strip()
    native = "_native." in line and "incompatible function arguments" not in str(error) and str(error).endswith(".")
    ours = "/lowdim/" in frame.filename and (line.startswith("raise") or native)
    if isinstance(error, allowed) and ours:
        return
    lines = traceback.format_exception(error)
    raise Failure("foreign exception", "".join(lines[-6:]))


def _innermost(found: TracebackType | None) -> traceback.FrameSummary:
    return traceback.extract_tb(found)[-1]


def _demand_own_warnings(told: list[warnings.WarningMessage]) -> None:
    for warning in told:
        ours = warning.category.__module__.startswith("lowdim") or re.match(r"[\w ]+: ", str(warning.message))
        if not ours and warning.category not in (UserWarning, DataConversionWarning):
            raise Failure(
                "escaped warning",
                f"{warning.category.__name__} at {warning.filename}:{warning.lineno}: {warning.message}",
            )
