"""Which criterion an estimator allows: an exact one without refits where there is one, refits for all others."""

from collections.abc import Sequence
from functools import cache
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from lowdim.solve.criteria.criterion import CandidateScores, Criterion, Split
from lowdim.solve.criteria.least_squares import METRICS, LeastSquares
from lowdim.solve.criteria.linear_discriminant import Discriminant
from lowdim.solve.criteria.nearest_neighbors import Neighbours
from lowdim.solve.criteria.refit import Refit, changed


def criterion_for(estimator: Any, X: Any, y: Any, splits: list[Split], scoring: Any, scorer: Any) -> Criterion:
    """Criterion that scores ``estimator`` as refits would, as fast as it can."""
    plain = Refit(estimator, X, y, splits, scorer)
    quick = None if sp.issparse(X) or y is None or y.ndim != 1 else _quick(estimator, X, y, splits, scoring)
    return plain if quick is None else Completed(quick, plain)


class Completed:
    """A fast criterion whose NaN scores are replaced by refits."""

    def __init__(self, quick: Criterion, plain: Criterion) -> None:
        self.quick, self.plain = quick, plain

    def score(self, selected: Sequence[int]) -> CandidateScores:
        """Scores of one set."""
        outcome = self.quick.score(selected)
        return outcome if np.isfinite(outcome.scores).all() else self.plain.score(selected)

    def around(self, selected: Sequence[int], units: Sequence[Sequence[int]], joining: bool) -> CandidateScores:
        """Scores of the sets one unit away."""
        scores, failures = self.quick.around(selected, units, joining)
        for u in np.flatnonzero(~np.isfinite(scores).all(axis=1)).tolist():
            one = self.plain.score(changed(selected, units[u], joining))
            scores[u] = one.scores[0]
            failures |= dict.fromkeys([u] if one.failures else [], one.failures.get(0, ""))
        return CandidateScores(scores, failures)


def _quick(estimator: Any, X: Any, y: Any, splits: list[Split], scoring: Any) -> Criterion | None:
    kind = type(estimator)  # a subclass may do anything
    if not (scoring is None or isinstance(scoring, str)):
        return None
    labelled = kind in (LinearDiscriminantAnalysis, KNeighborsClassifier)
    metric = scoring or ("accuracy" if labelled else "r2")
    if labelled != (metric == "accuracy") or not (labelled or (metric in METRICS and _spread(y, splits))):
        return None
    e = estimator
    if kind is LinearRegression and not e.positive:
        return LeastSquares(X, y, splits, metric, intercept=e.fit_intercept, ridge=0.0)
    if kind is Ridge and not e.positive and isinstance(e.alpha, Real) and e.solver in ("auto", "svd", "cholesky"):
        return LeastSquares(X, y, splits, metric, intercept=e.fit_intercept, ridge=float(e.alpha))
    plain_rule = kind is LinearDiscriminantAnalysis and e.shrinkage is e.priors is e.covariance_estimator is None
    if plain_rule and e.tol == 1e-4 and e.solver in ("svd", "lsqr", "eigen"):  # the tolerance that Discriminant has
        spectral = e.solver == "svd"
        return Discriminant(X, y, splits, unbiased=spectral and _divides_by_freedom(), spectral=spectral)
    neighbours = kind in (KNeighborsClassifier, KNeighborsRegressor) and isinstance(e.n_neighbors, Integral)
    if neighbours and e.weights in ("uniform", "distance") and _euclidean(e):
        values = np.unique(y, return_inverse=True)[1] if labelled else y.astype(np.float64)
        return Neighbours(X, values, splits, int(e.n_neighbors), metric, by_distance=e.weights == "distance")
    return None


@cache
def _divides_by_freedom() -> bool:
    """Whether scikit-learn's svd solver divides the scatter by n − C, as older versions do, or by n."""
    fitted = LinearDiscriminantAnalysis().fit([[0.0], [2.0], [5.0], [7.0]], [0, 0, 1, 1])  # scatter 4, means 5 apart
    return bool(fitted.coef_[0, 0] < 4.0)


def _euclidean(neighbours: Any) -> bool:
    plain = neighbours.metric == "minkowski" and neighbours.p == 2 and not neighbours.metric_params
    return plain or neighbours.metric in ("euclidean", "l2")


def _spread(y: Any, splits: list[Split]) -> bool:
    """Whether the targets are numbers that vary in every test set, as r² needs them to."""
    return y.dtype.kind in "biuf" and all(len(test) > 1 and np.ptp(y[test]) > 0 for _, test in splits)
