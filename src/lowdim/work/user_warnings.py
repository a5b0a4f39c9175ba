"""Warnings that point to the user's line, not to one of ours."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_collected: ContextVar[list[str] | None] = ContextVar("lowdim_warnings", default=None)


class ScaleWarning(UserWarning):
    """Features differ so much in scale that a few of them dominate the result."""


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the caller's line, however many frames of ours and scikit-learn's lie between."""
    collected = _collected.get()
    if collected is not None:
        collected.append(text)
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in ("lowdim", "sklearn"):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


@contextmanager
def collecting() -> Iterator[list[str]]:
    """Collect our warnings of this thread instead of raising them; ``warnings`` itself is not thread-specific.

    >>> with collecting() as told:
    ...     warn("check the data")
    >>> told
    ['check the data']
    """
    told: list[str] = []
    token = _collected.set(told)
    try:
        yield told
    finally:
        _collected.reset(token)
