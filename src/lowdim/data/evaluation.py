"""Inputs of an evaluation: folds, scorer and targets, checked before any work starts."""

from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from lowdim.data.validation import one_a_row
from lowdim.work.archive_errors import shortened


def splits_of(cv: Any, estimator: Any, X: Any, y: Any, groups: Any) -> list[tuple[NDArray, NDArray]]:
    """Rows (train, test) of each fold that ``cv`` gives, as positions."""
    n = X.shape[0]
    if groups is not None and (groups := one_a_row("SequentialFeatureSelector", groups, n, "groups", "label")).ndim > 1:
        raise ValueError(
            f"SequentialFeatureSelector: groups must have one label per row; got shape {groups.shape}. Pass one column."
        )
    try:
        splitter = check_cv(cv, y, classifier=is_classifier(estimator))
        splits = [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(X, y, groups)]
    except (TypeError, ValueError) as error:
        advice = (
            "Pass the groups of the rows: fit(X, y, groups=…)."
            if groups is None and "groups" in str(error)
            else "Lower cv or pass more rows."
            if isinstance(cv, Integral)
            else "Pass a number, a splitter that suits the rows, or a list of (train, test) rows."
        )
        why = str(error).rstrip(".")
        raise ValueError(
            f"SequentialFeatureSelector: cv must be able to split the {n} rows; got cv={cv!r}: {why}. {advice}"
        ) from None
    if not splits:
        raise ValueError(
            f"SequentialFeatureSelector: cv must give at least one pair of (train, test) rows; got cv={cv!r}, which "
            "gives none. Pass a number of folds, such as 5."
        )
    return [(_rows_of_fold(a, n, i), _rows_of_fold(b, n, i)) for i, (a, b) in enumerate(splits)]


def _rows_of_fold(rows: NDArray[Any], n: int, fold: int) -> NDArray[np.intp]:
    """Positions of the rows of one half of a fold, which may come as a mask."""
    if rows.dtype == bool and rows.shape == (n,):
        rows = np.flatnonzero(rows)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or not len(rows) or rows.min() < 0 or rows.max() >= n:
        what = f"{rows.dtype} of shape {rows.shape}"
        if rows.size and rows.dtype.kind in "iu":
            what += f" from {rows.min()} to {rows.max()}"
        raise ValueError(
            f"SequentialFeatureSelector: cv must give rows as positions from 0 to {n - 1}, some to train on and "
            f"some to test on; got {what} in fold {fold}. Pass a number of folds, or correct the list."
        )
    return rows.astype(np.intp)


def takes_gaps(estimator: Any) -> bool:
    """Whether the tags of an estimator say that it accepts missing values."""
    return hasattr(estimator, "__sklearn_tags__") and bool(get_tags(estimator).input_tags.allow_nan)


def needs_targets(estimator: Any) -> bool:
    """Whether an estimator learns from targets; None stands for one that does."""
    if not hasattr(estimator, "__sklearn_tags__"):
        return True
    return is_classifier(estimator) or is_regressor(estimator) or bool(get_tags(estimator).target_tags.required)


def demand_scorer(scoring: Any) -> None:
    """Refuse an unknown name of a scorer, suggesting the nearest known one."""
    known = get_scorer_names()
    if isinstance(scoring, str) and scoring not in known:
        close = get_close_matches(scoring, known, n=1)
        advice = f"Did you mean {close[0]!r}?" if close else "sklearn.metrics.get_scorer_names() lists them."
        raise ValueError(
            f"SequentialFeatureSelector: scoring must be the name of a scorer of scikit-learn or a callable; got "
            f"{scoring!r}. {advice}"
        )


def kind_of_targets(y: NDArray[Any]) -> str:
    """Type of the targets in scikit-learn's terms: "binary", "continuous", "multiclass" or the like."""
    try:
        return str(type_of_target(y, raise_unknown=True))
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"SequentialFeatureSelector: y must hold labels or numbers; {shortened(error).rstrip('.')}. Convert it."
        ) from None


def targets_for(estimator: Any, y: NDArray[Any]) -> NDArray[Any]:
    """Targets as the estimator takes them; its own checks run first, since the fast paths bypass them."""
    name = type(estimator).__name__
    if hasattr(estimator, "_parameter_constraints"):
        try:
            estimator._validate_params()
        except ValueError as error:
            raise ValueError(
                f"SequentialFeatureSelector: estimator must have valid parameters; {error} Change it by set_params."
            ) from None
    if is_classifier(estimator):
        try:
            check_classification_targets(y)
        except ValueError as error:
            raise ValueError(
                f"SequentialFeatureSelector: y must hold labels for {name}, a classifier; {error} Bin the values, or "
                "pass a regressor."
            ) from None
    elif is_regressor(estimator) and y.dtype.kind not in "iuf":
        if y.dtype.kind != "b" and not all(isinstance(value, Real) for value in y.ravel()):
            raise ValueError(
                f"SequentialFeatureSelector: y must hold numbers for {name}, a regressor; got {y.dtype} such as "
                f"{y.ravel()[:1].tolist()[0]!r}. Pass numbers, or a classifier."
            )
        return y.astype(np.float64)  # booleans, and numbers of object dtype
    return y
