"""Finite numbers: one cheap test, and one error message."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.work.dispatch import operation

_ADVICE = "Multiply the data by a constant that brings them near 1."


def is_finite(values: NDArray[Any]) -> bool:
    """Whether an array of floats holds no NaN or infinity; by finite sums, without a second array.

    >>> is_finite(np.array([1.0, 2.0])), is_finite(np.array([1.0, np.inf]))
    (True, False)
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())


@operation
def bad_row(values: NDArray[Any]) -> int | None:
    """The first row of an array of floats that holds NaN or infinity; None if all are finite.

    >>> bad_row(np.array([[1.0, 2.0], [np.inf, 0.0]]))
    1
    """
    return None if is_finite(values) else int(np.argwhere(~np.isfinite(values))[0][0])


def refuse_overflow(values: NDArray[Any], what: str) -> None:
    """Refuse results of finite data that overflowed."""
    if not is_finite(values):
        raise ValueError(f"{what} must be finite; values of the data are too large or too small. {_ADVICE}")


@contextmanager
def careful(name: str) -> Iterator[None]:
    """Let arithmetic overflow without a warning, since results are checked; a failure raises an error with advice."""
    try:
        with np.errstate(all="ignore"):
            yield
    except (np.linalg.LinAlgError, ArithmeticError) as error:
        raise ValueError(
            f"{name}: a computation has no result ({error}); values of the data are too large, too small or too far "
            f"apart for it. {_ADVICE}"
        ) from error
