"""The criterion for any estimator: fit it anew on every set and fold, and score it."""

import warnings
from collections.abc import Sequence
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import UndefinedMetricWarning

from lowdim.solve.criteria.criterion import CandidateScores, Doubles, Split
from lowdim.work import thread_limit
from lowdim.work.progress import stage


class Refit:
    """Scores of ``estimator`` by ``scorer`` over ``splits`` of the rows; a set that fails is reported, not raised."""

    def __init__(self, estimator: Any, X: Any, y: Any, splits: list[Split], scorer: Any) -> None:
        self.task = (estimator, X, y, splits, scorer)

    def score(self, selected: Sequence[int]) -> CandidateScores:
        """Scores of one set."""
        return self._all([list(selected)])

    def around(self, selected: Sequence[int], units: Sequence[Sequence[int]], joining: bool) -> CandidateScores:
        """Scores of the sets one unit away."""
        return self._all([changed(selected, unit, joining) for unit in units])

    def _all(self, sets: list[list[int]]) -> CandidateScores:
        # On a cluster (joblib.parallel_config("dask")) all its workers; here the threads of n_jobs.
        elsewhere = "dask" in type(joblib.parallel.get_active_backend()[0]).__name__.lower()
        parallel = joblib.Parallel(
            n_jobs=-1 if elsewhere else min(thread_limit.current(), len(sets)), return_as="generator"
        )
        scores, failures = np.full((len(sets), len(self.task[3])), np.nan), {}
        with stage("candidates", total=len(sets)) as tick:
            results = parallel(joblib.delayed(_fit_and_score)(*self.task, features) for features in sets)
            for u, (folds, why) in enumerate(results):
                scores[u] = folds
                if why:
                    failures[u] = why
                tick(u + 1)
        return CandidateScores(scores, failures)


def score_without_features(estimator: Any, X: Any, y: Any, splits: list[Split], scorer: Any) -> Doubles:
    """Score on each fold without any feature; −∞ where the scorer does not accept a constant prediction."""
    if y is None:
        return np.full(len(splits), -np.inf)
    if getattr(y, "dtype", None) == np.float32:  # whose squares and sums may overflow
        y = y.astype(np.float64)
    rule = DummyClassifier(strategy="most_frequent") if is_classifier(estimator) else DummyRegressor()
    scores, why = _fit_and_score(rule, X, y, splits, scorer, slice(None))
    return np.full(len(splits), -np.inf) if why else scores


def changed(selected: Sequence[int], unit: Sequence[int], joining: bool) -> list[int]:
    """Features of ``selected`` with ``unit`` or without it, in order.

    >>> changed([3, 1], [2], True), changed([3, 1], [3], False)
    ([1, 2, 3], [1])
    """
    return sorted(set(selected) | set(unit)) if joining else sorted(set(selected) - set(unit))


def _fit_and_score(
    estimator: Any, X: Any, y: Any, splits: list[Split], scorer: Any, features: list[int] | slice
) -> tuple[Doubles, str]:
    """Score of each fold, or NaN and the reason."""
    scores = np.full(len(splits), np.nan)
    Z = X[:, features]
    try:
        with warnings.catch_warnings():
            for kind in (UndefinedMetricWarning, RuntimeWarning):  # the score they refer to is reported below
                warnings.simplefilter("ignore", kind)
            for i, (train, test) in enumerate(splits):
                known = ([], []) if y is None else ([y[train]], [y[test]])
                scores[i] = scorer(clone(estimator).fit(Z[train], *known[0]), Z[test], *known[1])
    except Exception as error:  # a user's estimator may raise anything
        if _constant(Z, splits):
            return np.full(len(splits), np.nan), "it is constant in the training rows of a fold"
        text = str(error).strip().splitlines()
        return np.full(len(splits), np.nan), f"{type(error).__name__}: {text[0] if text else 'no reason given'}"
    if not np.isfinite(scores).all():
        return np.full(len(splits), np.nan), "the score is not a finite number"
    return scores, ""


def _constant(Z: Any, splits: list[Split]) -> bool:
    """Whether no feature varies in the rows that some fold is trained on, which some estimators refuse."""
    return any(np.array_equal(*_limits(Z[train])) for train, _ in splits)


def _limits(Z: Any) -> tuple[Any, Any]:
    low, high = Z.min(axis=0), Z.max(axis=0)
    return (low.toarray(), high.toarray()) if sp.issparse(Z) else (low, high)
