"""Least squares and ridge regression: the scores of all sets one unit away from one factorisation per fold.

The training rows, centred (and √α I below them for ridge), are ``Q Lᵀ`` on the set ``S``; test rows become
``V = X_S L⁻ᵀ``, coefficients ``c = L⁻¹ Xᵀy``, residuals ``r = y − V c``. When feature j joins, its coefficient is
``β_j = (b_j − uᵀc)/s_j`` and the residuals ``r − β_j ρ_j``, where ``ρ_j`` is what ``S`` leaves of its test column. When
it leaves, they are ``r + (V h)(hᵀc)`` with ``h`` the unit vector along its part orthogonal to the others.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.solve.criteria.criterion import CandidateScores, Doubles, Split
from lowdim.solve.criteria.factor import Factor, triangle
from lowdim.solve.criteria.refit import changed

_LEAST = 1e-20  # share of a squared length; below it a feature depends on others
# Score of each column of residuals (n, c), given the targets (n,).
METRICS: dict[str, Callable[[Doubles, Doubles], Doubles]] = {
    "r2": lambda r, y: 1.0 - np.square(r).sum(axis=0) / np.square(y - y.mean()).sum(),
    "neg_mean_squared_error": lambda r, _: -np.square(r).mean(axis=0),
    "neg_root_mean_squared_error": lambda r, _: -np.sqrt(np.square(r).mean(axis=0)),
    "neg_mean_absolute_error": lambda r, _: -np.abs(r).mean(axis=0),
}


class LeastSquares:
    """Scores of linear regression with ``ridge`` (0 for plain least squares) by a metric of :data:`METRICS`."""

    def __init__(
        self, X: NDArray, y: NDArray, splits: list[Split], metric: str, *, intercept: bool, ridge: float
    ) -> None:
        self.folds = [_Fold(X[a], y[a], X[b], y[b], intercept, ridge) for a, b in splits]
        self.metric = METRICS[metric]

    def score(self, selected: Sequence[int]) -> CandidateScores:
        """Scores of one set."""
        return CandidateScores(np.array([[self._plain(fold.at(selected)) for fold in self.folds]]), {})

    def around(self, selected: Sequence[int], units: Sequence[Sequence[int]], joining: bool) -> CandidateScores:
        """Scores of the sets one unit away."""
        if any(len(unit) > 1 for unit in units):
            sets = [changed(selected, unit, joining) for unit in units]
            return CandidateScores(np.array([[self._plain(f.fresh(s)) for f in self.folds] for s in sets]), {})
        features = np.array([unit[0] for unit in units])
        scores = np.full((len(units), len(self.folds)), np.nan)
        for i, fold in enumerate(self.folds):
            state = fold.at(selected)
            if not state.factor.sound:
                continue
            residuals, good = (state.joined if joining else state.left)(features)
            scores[:, i] = np.where(good, self.metric(residuals, fold.targets), np.nan)
        return CandidateScores(scores, {})

    def _plain(self, state: "_State") -> float:
        return float(self.metric(state.r[:, None], state.fold.targets)[0]) if state.factor.sound else np.nan


class _Fold:
    """Triangle of the training rows, and the test rows, both about the training mean."""

    def __init__(self, X: NDArray, y: NDArray, Xt: NDArray, yt: NDArray, intercept: bool, ridge: float) -> None:
        X, y = X.astype(np.float64), y.astype(np.float64)
        mean, level = (X.mean(axis=0), y.mean()) if intercept else (np.zeros(X.shape[1]), 0.0)
        X -= mean
        self.b = X.T @ (y - level)
        self.R = triangle(X if ridge == 0 else np.vstack([X, np.sqrt(ridge) * np.eye(X.shape[1])]))
        self.X = Xt - mean
        self.targets = yt.astype(np.float64)
        self.y = self.targets - level
        self.state = _State(self, [])

    def at(self, selected: Sequence[int]) -> "_State":
        """State for ``selected``: the last one, grown where that is enough."""
        new = [f for f in selected if f not in self.state.factor.order]
        if len(self.state.factor.order) + len(new) != len(selected):
            self.state = self.fresh(selected)
        else:
            for f in new:
                self.state.join(f)
        return self.state

    def fresh(self, selected: Sequence[int]) -> "_State":
        return _State(self, selected)


class _State:
    """One set of features on one fold: its factor, whitened test rows ``V``, ``c = L⁻¹ b_S`` and residuals ``r``."""

    def __init__(self, fold: _Fold, selected: Sequence[int]) -> None:
        self.fold, self.factor = fold, Factor(fold.R, _LEAST, selected)
        self.V, self.c = np.zeros((len(fold.X), 0)), np.zeros(0)
        if self.factor.sound and len(selected):
            self.V = self.factor.whiten(fold.X)
            self.c = self.factor.whiten(fold.b[None])[0]
        self.r = fold.y - self.V @ self.c

    def join(self, f: int) -> None:
        u, root = self.factor.join(f)
        if self.factor.sound:
            v = (self.fold.X[:, f] - self.V @ u) / root
            gamma = (self.fold.b[f] - self.c @ u) / root
            self.V, self.c = np.column_stack([self.V, v]), np.append(self.c, gamma)
            self.r = self.r - gamma * v

    def joined(self, features: NDArray[np.intp]) -> tuple[Doubles, Any]:
        """Residuals (n, c) after each feature has joined, and which of them are valid."""
        good = self.factor.independent(features)
        U = self.factor.U[:, features]
        beta = (self.fold.b[features] - self.c @ U) / np.where(good, self.factor.left[features], 1.0)
        return self.r[:, None] - beta * (self.fold.X[:, features] - self.V @ U), good

    def left(self, features: NDArray[np.intp]) -> tuple[Doubles, Any]:
        """Residuals (n, c) after each feature has left."""
        H, good = self.factor.apart(features)
        return self.r[:, None] + (self.V @ H) * (self.c @ H), good
