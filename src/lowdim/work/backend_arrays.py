"""Arrays of any backend: conversion to NumPy, and moves between backends and devices."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.work.dispatch import backend_of, operation


@operation
def to_numpy(A: Any) -> NDArray:
    """The array in NumPy, a view if it is in memory already."""
    return np.asarray(A)


@operation(on=1)
def from_numpy(A: NDArray, like: Any) -> Any:  # noqa: ARG001  # it names the backend
    """The NumPy array ``A`` as an array of the kind of ``like``, on its device."""
    return A


@operation
def is_native(A: Any) -> bool:  # noqa: ARG001  # it is NumPy's
    """Whether the NumPy operations can be used for the array, as a view in NumPy if necessary."""
    return True


@operation(on=1)
def to_device_of(A: Any, like: Any) -> Any:  # noqa: ARG001  # it names the device
    """The array ``A``, of the kind of ``like``, on the same device."""
    return A


def moved_to(A: Any, like: Any) -> Any:
    """The array ``A`` as an array of the kind of ``like``, itself if it is one; for a tuple, the arrays in it."""
    if isinstance(A, tuple):
        return _rebuilt(A, [moved_to(item, like) for item in A])
    if not hasattr(A, "shape"):
        return A
    if backend_of(A) is backend_of(like):
        return to_device_of(A, like)
    return from_numpy(to_numpy(A), like)


def all_to_numpy(value: Any) -> Any:
    """``value`` with every array of another backend converted to NumPy, also within tuples and lists."""
    if isinstance(value, tuple):
        return _rebuilt(value, [all_to_numpy(item) for item in value])
    if isinstance(value, list):
        return [all_to_numpy(item) for item in value]
    return value if backend_of(value) is None else to_numpy(value)


def _rebuilt(value: tuple[Any, ...], items: list[Any]) -> Any:
    """A tuple of the same kind with other items."""
    return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
