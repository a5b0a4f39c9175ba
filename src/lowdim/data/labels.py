"""Validation of labels: classes, codes and priors, checked once before any work starts."""

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from lowdim.data.options import Rule
from lowdim.data.validation import absent, one_a_row, row_of
from lowdim.work.dispatch import operation


class Labels(NamedTuple):
    """Distinct labels in order (C,), the class 0 … C − 1 of each row (n,), and the number of rows of each (C,)."""

    classes: NDArray[Any]
    codes: NDArray[np.int32]
    counts: NDArray[np.int64]


@operation(on=2, any_backend=True)
def labels(name: str, y: Any, X: Any, *, several: bool = True, of: str = "X") -> Labels:
    """Validated labels of the rows of ``X`` (named ``of`` in errors); ``several`` demands at least two classes."""
    n = X.shape[0]
    if y is None:
        raise ValueError(
            f"{name} requires y to be passed, but the target y is None. Pass the labels of the rows: fit(X, y)."
        )
    y = one_a_row(name, y, n, "y", "label", of)
    y = checked(name, y)
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    if several:
        demand_several(name, classes, n)
    return Labels(classes, codes.astype(np.int32), counts)


def checked(name: str, y: NDArray[Any], part: Any = None) -> NDArray[Any]:
    """Labels as one column that can be sorted, none missing; ``part`` is as for ``validation.demand_finite``."""
    y = _column(name, y)
    _demand_present(name, y, part)
    y = _of_one_kind(name, y)
    try:
        check_classification_targets(y)
    except ValueError as error:
        raise ValueError(
            f"{name}: y must hold labels, a few distinct values; {error} Bin the values, or use a method that needs "
            "no labels."
        ) from None
    return y


def demand_several(name: str, classes: NDArray[Any], n: int) -> None:
    """Refuse a single class."""
    if len(classes) < 2:
        raise ValueError(
            f"{name}: at least two classes are needed; got 1 class ({classes[:1].tolist()[0]!r}) in {n:,} rows. "
            "Pass rows of another class, or use a method that needs no labels, such as PCA."
        )


@operation(on=1, any_backend=True)
def one_class(name: str, X: Any) -> Labels:  # noqa: ARG001  # other backends count their rows
    """Labels of rows that are all of one class."""
    n = X.shape[0]
    return Labels(np.zeros(1, np.int64), np.zeros(n, np.int32), np.array([n]))


def _column(name: str, y: NDArray[Any]) -> NDArray[Any]:
    """Labels as one column, each of a type that can be a label."""
    if y.size != len(y):
        raise ValueError(f"{name}: y must be a 1d array of labels; got shape {y.shape}. Pass one column of it.")
    if y.dtype.kind in "cV":
        what = "complex numbers" if y.dtype.kind == "c" else f"records of {y.dtype}"
        raise ValueError(f"{name}: y must hold numbers, text or dates as labels; got {what}. Pass one column of it.")
    return column_or_1d(y, warn=True)


def known_labels(name: str, y: Any, n: int, weight: str) -> NDArray[np.int32]:
    """Class 0 … C − 1 of each of n rows and −1 where it is unknown: None, NaN or, among numbers, −1.

    ``weight`` is the parameter that asks for labels.
    """
    if y is None:
        raise ValueError(f"{name}: {weight} needs labels; got y=None. Pass fit(X, y), or {weight}=0.")
    y = _column(name, one_a_row(name, y, n, "y", "label"))
    unknown = np.array([absent(v) for v in y]) if y.dtype.kind == "O" else y != y
    if y.dtype.kind in "iuf":
        unknown = unknown | (y == -1)
        if set(np.unique(y[~unknown]).tolist()) == {1} and unknown.any():
            raise ValueError(
                f"{name}: -1 marks an unknown label; got no label but -1 and 1. Pass 0 and 1 for two classes, or NaN "
                "for what is unknown."
            )
    codes = np.full(n, -1, np.int32)
    if not unknown.all():
        some = y[~unknown]
        codes[~unknown] = labels(name, some, np.empty((len(some), 0)), several=False).codes
    return codes


def _demand_present(name: str, y: NDArray[Any], part: Any = None) -> None:
    missing = np.array([absent(v) for v in y]) if y.dtype.kind == "O" else y != y
    if missing.any() or (y.dtype.kind == "f" and not np.isfinite(y).all()):
        bad = missing if missing.any() else ~np.isfinite(y)
        row = row_of(int(np.argmax(bad)), part)
        raise ValueError(
            f"{name}: y must have a label for every row; got NaN or infinity at {row} "
            f"({int(bad.sum()):,} in {'all' if part is None else 'that block'}). Drop those rows (missing='drop' for a "
            "file), or use a method that needs no labels."
        )


def _of_one_kind(name: str, y: NDArray[Any]) -> NDArray[Any]:
    """Labels that can be sorted; numbers of object dtype become numbers, mixed types are refused."""
    if y.dtype.kind not in "OST":  # T: NumPy's StringDType, which scikit-learn does not support
        return y
    y = y.astype(object)
    kinds = [str if isinstance(v, str) else Real if isinstance(v, Real | np.bool_) else type(v) for v in y]
    other = next((row for row, kind in enumerate(kinds) if kind is not kinds[0]), 0)
    if other:
        raise ValueError(
            f"{name}: y must hold labels of one kind, all numbers or all text; got {y[0]!r} at row 0 and {y[other]!r} "
            f"at row {other}. Convert them, as by [str(label) for label in y]."
        )
    if kinds[0] not in (str, Real):
        raise ValueError(
            f"{name}: y must hold numbers, text or dates as labels; got {kinds[0].__name__} objects such as {y[0]!r}. "
            "Convert them, as by [str(label) for label in y]."
        )
    return y if kinds[0] is str else np.array(y.tolist())


def _are_weights(value: Any) -> bool:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, str) and array.ndim == 1 and len(array) > 0


given_priors = Rule(_are_weights, "a list of one number per class")


def priors(estimator: Any, value: Any, found: Labels) -> NDArray[np.float64]:
    """Prior (C,) of each class: ``"empirical"`` (its share of the rows), ``"uniform"``, or as given."""
    n_classes = len(found.classes)
    if isinstance(value, str):
        return found.counts / found.counts.sum() if value == "empirical" else np.full(n_classes, 1.0 / n_classes)
    given = np.asarray(value, dtype=np.float64)
    name = type(estimator).__name__
    if len(given) != n_classes:
        raise ValueError(
            f"{name}: priors must have one number for each of the {n_classes} classes; got {len(given)}. "
            f"Order them as the sorted labels: {', '.join(map(str, found.classes[:10]))}."
        )
    bad = ~(np.isfinite(given) & (given >= 0))
    if bad.any():
        raise ValueError(
            f"{name}: priors must be finite and 0 or more, never negative; got {given[bad][0]:g} for class "
            f"{found.classes[bad].tolist()[0]!r}. Correct it, or pass 'uniform'."
        )
    if abs(given.sum() - 1.0) > 1e-6:
        raise ValueError(
            f"{name}: priors must add up to 1; got {value!r}, which add up to {given.sum():g}. "
            "Divide them by their sum, or pass 'uniform'."
        )
    return given / given.sum()
