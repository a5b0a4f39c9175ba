"""Callbacks of a fit: while one runs, the object that is being fitted cannot be fitted again."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_calling: ContextVar[tuple[int, ...]] = ContextVar("lowdim_calling", default=())


@contextmanager
def calling_back(model: Any) -> Iterator[None]:
    """Inside, a callback of the fit of ``model`` runs."""
    token = _calling.set((*_calling.get(), id(model)))
    try:
        yield
    finally:
        _calling.reset(token)


def demand_no_callback(model: Any) -> None:
    """Refuse a fit of an object from the callback of its own fit, which would overwrite it.

    >>> with calling_back("this"):
    ...     demand_no_callback("that")
    """
    if id(model) in _calling.get():
        raise RuntimeError(
            f"{type(model).__name__}: an object that is being fitted cannot be fitted again; got a fit from its own "
            "callback. Fit another object there, such as sklearn.base.clone(model)."
        )
