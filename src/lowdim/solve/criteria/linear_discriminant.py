"""Linear discriminant classifiers: the scores of all sets one unit away from one factorisation per fold.

The rule is ``argmax_c δ_c`` with ``δ_c(x) = xᵀ S⁻¹ m_c − ½ m_cᵀ S⁻¹ m_c + log π_c`` about the overall mean. A feature
that joins adds one whitened coordinate ``v`` of ``x`` and ``μ_c`` of the means: ``δ_c + v μ_c − ½ μ_c²``; one that
leaves subtracts the same for its direction orthogonal to the others. Where features depend on each other,
the rule whitens inside the range of ``S``, as scikit-learn's does.
"""

from collections.abc import Sequence

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from lowdim.solve.criteria.criterion import CandidateScores, Doubles, Split
from lowdim.solve.criteria.factor import Factor, triangle
from lowdim.solve.criteria.refit import changed
from lowdim.work import thread_limit

_LEAST = 1e-8  # scikit-learn's rule by singular values leaves out what is below 1e-4 of a feature's length


class Discriminant:
    """Accuracies of the linear discriminant rule; ``unbiased`` divides ``S`` by n − C, otherwise by n.

    With ``spectral`` the rule whitens inside the range of ``S``; without it, sets of dependent features score NaN.
    """

    def __init__(self, X: NDArray, y: NDArray, splits: list[Split], *, unbiased: bool, spectral: bool) -> None:
        codes = np.unique(y, return_inverse=True)[1]
        self.folds = [_Fold(X[a], codes[a], X[b], codes[b], unbiased, spectral) for a, b in splits]

    def score(self, selected: Sequence[int]) -> CandidateScores:
        """Scores of one set."""
        return CandidateScores(np.array([[fold.at(selected).accuracy() for fold in self.folds]]), {})

    def around(self, selected: Sequence[int], units: Sequence[Sequence[int]], joining: bool) -> CandidateScores:
        """Scores of the sets one unit away."""
        if any(len(unit) > 1 for unit in units):
            sets = [changed(selected, unit, joining) for unit in units]
            return CandidateScores(np.array([[_State(f, s).accuracy() for f in self.folds] for s in sets]), {})
        features = np.array([unit[0] for unit in units])
        scores = np.column_stack([fold.at(selected).around(features, joining) for fold in self.folds])
        for u, i in np.argwhere(np.isnan(scores)).tolist():  # dependent features: from the spectrum
            scores[u, i] = _State(self.folds[i], changed(selected, units[u], joining)).accuracy()
        return CandidateScores(scores, {})


class _Fold:
    """Scatter within classes of the training rows, class means and test rows, about the overall training mean."""

    def __init__(self, X: NDArray, codes: NDArray, Xt: NDArray, yt: NDArray, unbiased: bool, spectral: bool) -> None:
        X = X.astype(np.float64)
        present, codes, counts = np.unique(codes, return_inverse=True, return_counts=True)
        means = np.stack([X[codes == c].mean(axis=0) for c in range(len(present))])
        centred = X - means[codes]
        size = np.abs(X).max(axis=0)
        self.R = triangle(centred / np.sqrt(max(len(X) - unbiased * len(present), 1)))  # RᵀR = S
        # Constant within classes: the rule by singular values ignores such a feature, the others score NaN.
        self.spectral = spectral
        self.spread = centred.std(axis=0)
        self.still = (np.square(self.R).sum(axis=0) <= np.square(1e-13 * size)) & spectral
        mean = counts @ means / len(X)
        self.M, self.X = means - mean, Xt - mean
        self.log_priors = np.log(counts / len(X))
        self.y = np.searchsorted(present, yt)
        self.y[~np.isin(yt, present)] = -1
        self.state = _State(self, [])

    def at(self, selected: Sequence[int]) -> "_State":
        """State for ``selected``: the last one, grown where that is enough."""
        new = [f for f in selected if f not in self.state.selected]
        if len(self.state.selected) + len(new) != len(selected):
            self.state = _State(self, selected)
        else:
            for f in new:
                self.state.join(f)
            if not self.state.factor.sound:
                self.state = _State(self, selected)
        return self.state


class _State:
    """One set of features on one fold: its factor, whitened test rows ``V`` and means ``M``, and the rule's values."""

    def __init__(self, fold: _Fold, selected: Sequence[int]) -> None:
        self.fold, self.selected = fold, list(selected)
        self.spectrum: Doubles | None = None
        self.factor = Factor(fold.R, _LEAST, [f for f in selected if not fold.still[f]])
        self.V, self.M = np.zeros((len(fold.X), 0)), np.zeros((len(fold.M), 0))
        if self.factor.order and (self.factor.sound or fold.spectral):
            whiten = self.factor.whiten if self.factor.sound else self._whiten_inside_range
            self.V, self.M = whiten(fold.X), whiten(fold.M)
        self.values = self.V @ self.M.T - 0.5 * np.square(self.M).sum(axis=1) + fold.log_priors

    def join(self, f: int) -> None:
        self.selected.append(f)
        if self.fold.still[f]:
            return
        u, root = self.factor.join(f)
        if self.factor.sound:
            v, mu = (self.fold.X[:, f] - self.V @ u) / root, (self.fold.M[:, f] - self.M @ u) / root
            self.V, self.M = np.column_stack([self.V, v]), np.column_stack([self.M, mu])
            self.values = self.values + np.outer(v, mu) - 0.5 * np.square(mu)

    def _whiten_inside_range(self, A: Doubles) -> Doubles:
        """Rows whitened inside the range of ``S`` scaled to unit diagonal, as in the rule by singular values."""
        order = self.factor.order
        if self.spectrum is None:
            R = self.fold.R[:, order] / self.fold.spread[order]
            with thread_limit.alone():
                values, vectors = sl.eigh(R.T @ R, check_finite=False)
            inside = values > _LEAST
            self.spectrum = vectors[:, inside] / np.sqrt(values[inside]) / self.fold.spread[order][:, None]
        return A[:, order] @ self.spectrum

    def accuracy(self) -> float:
        if not self.factor.order or not (self.factor.sound or self.fold.spectral):
            return np.nan
        return float(np.mean(self.values.argmax(axis=1) == self.fold.y))

    def around(self, features: NDArray[np.intp], joining: bool) -> Doubles:
        """Accuracy (c,) after each feature has joined or left; NaN where it cannot be computed."""
        scores = np.full(len(features), np.nan)
        if not self.factor.sound:
            return scores
        still = self.fold.still[features]
        scores[still] = self.accuracy()
        moving = np.flatnonzero(~still)
        f = features[moving]
        if joining:
            good = self.factor.independent(f)
            U, root = self.factor.U[:, f], np.sqrt(np.where(good, self.factor.left[f], 1.0))
            V, M = (self.fold.X[:, f] - self.V @ U) / root, (self.fold.M[:, f] - self.M @ U) / root
        else:
            H, good = self.factor.apart(f)
            good &= len(self.factor.order) > 1
            V, M = self.V @ H, self.M @ H
        sign = 1.0 if joining else -1.0
        best, rule = np.full(V.shape, -np.inf), np.zeros(V.shape, np.intp)
        for c in range(len(M)):
            value = self.values[:, [c]] + sign * (V * M[c] - 0.5 * np.square(M[c]))
            higher = value > best
            best[higher], rule[higher] = value[higher], c
        scores[moving] = np.where(good, np.mean(rule == self.fold.y[:, None], axis=0), np.nan)
        return scores
