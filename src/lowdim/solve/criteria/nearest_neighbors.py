"""Nearest neighbours: squared distances of each fold are stored, and updated natively when features join or leave."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.solve.criteria.criterion import CandidateScores, Doubles, Split
from lowdim.solve.criteria.least_squares import METRICS
from lowdim.work import memory, thread_limit

_FEW = 8  # neighbours up to which votes are counted by comparing pairs
_EXACT = 2**24  # whole numbers up to here are exact in float32


class Neighbours:
    """Scores of k nearest neighbours, Euclidean: accuracy of the vote for labels, or a metric of the mean of numbers.

    ``y`` holds classes 0 … C − 1 for ``metric="accuracy"``, else numbers. Ties in distance go to the
    first point.
    """

    def __init__(
        self, X: NDArray, y: NDArray, splits: list[Split], k: int, metric: str, *, by_distance: bool = False
    ) -> None:
        self.k, self.metric, self.by_distance = k, metric, by_distance
        whole = X.dtype.kind in "biu" or bool(np.all(np.floor(X) == X))
        reach = np.ptp(X, axis=0).astype(np.float64) if X.dtype != bool else np.ones(X.shape[1])
        small = np.square(reach).sum() < _EXACT and X.max() < _EXACT and X.min() > -_EXACT
        dtype = np.float32 if whole and small else np.float64
        size = np.dtype(dtype).itemsize
        memory.require(
            sum(size * (len(a) * len(b) + (len(a) + len(b)) * X.shape[1]) for a, b in splits),
            f"SequentialFeatureSelector: distances between the rows of {len(splits)} folds",
            "Use fewer rows, fewer folds, or another estimator.",
        )
        self.folds = [_Fold(X[a], y[a], X[b], y[b], dtype) for a, b in splits]

    def score(self, selected: Sequence[int]) -> CandidateScores:
        """Scores of one set."""
        return self.around(selected[:-1], [[selected[-1]]], True)

    def around(self, selected: Sequence[int], units: Sequence[Sequence[int]], joining: bool) -> CandidateScores:
        """Scores of the sets one unit away."""
        members = np.concatenate([np.asarray(unit, np.int32) for unit in units])
        offsets = np.cumsum([0, *map(len, units)], dtype=np.int32)
        columns = []
        for fold in self.folds:
            if len(fold.y) < self.k:
                return CandidateScores(np.full((len(units), len(self.folds)), np.nan), {})
            fold.reach(selected)
            index, distance = _native.nearest_with(
                fold.D, fold.queries, fold.points, members, offsets,
                k=self.k, joining=joining, n_threads=thread_limit.current(),
            )  # fmt: skip
            if self.by_distance and not joining and distance.dtype == np.float64:
                distance = fold.measured(index, selected, units)  # a small difference has lost its digits
            columns.append(self._scores(fold, index, distance))
        return CandidateScores(np.column_stack(columns), {})

    def _scores(self, fold: "_Fold", index: NDArray, distance: NDArray) -> Doubles:
        """Score (units,) of one fold from the neighbours of its test rows (units, q, k)."""
        weights = _closeness(distance) if self.by_distance else None
        near = fold.y.take(index)
        if self.metric != "accuracy":
            mean = near.mean(axis=2) if weights is None else (near * weights).sum(axis=2) / weights.sum(axis=2)
            metric: Callable[[Doubles, Doubles], Doubles] = METRICS[self.metric]
            return metric((fold.targets - mean).T, fold.targets)
        units, q, _ = index.shape
        n_classes = int(max(fold.y.max(), fold.targets.max())) + 1
        if weights is None and self.k <= _FEW:
            return np.mean(_vote(near, n_classes) == fold.targets, axis=1)
        place = near.reshape(units * q, -1) * (units * q) + np.arange(units * q)[:, None]
        cast = None if weights is None else weights.ravel()
        votes = np.bincount(place.ravel(), cast, n_classes * units * q).reshape(n_classes, units, q)
        return np.mean(votes.argmax(axis=0) == fold.targets, axis=1)


def _vote(near: NDArray, n_classes: int) -> NDArray:
    """Class (units, q) that most of the neighbours (units, q, k) have, the lowest on ties.

    Each neighbour counts those of its own class; k² comparisons of whole arrays are fewer than C counters per query.
    """
    dtype = np.min_scalar_type(-(near.shape[2] + 1) * n_classes)
    each = np.ascontiguousarray(np.moveaxis(near, 2, 0), dtype)
    best = np.full(each.shape[1:], -1, dtype)
    for mine in each:
        rank = dtype.type(n_classes - 1) - mine
        for other in each:
            rank += (mine == other).view(np.int8) * dtype.type(n_classes)
        np.maximum(best, rank, out=best)
    return n_classes - 1 - best % dtype.type(n_classes)


def _closeness(distance: NDArray) -> Doubles:
    """Weights 1/distance; where some distances are 0, only those neighbours count."""
    root = np.sqrt(distance.astype(np.float64))
    zero = root == 0
    with np.errstate(divide="ignore"):
        weights: Any = 1.0 / root
    return np.where(zero.any(axis=-1, keepdims=True), zero.astype(np.float64), weights)


class _Fold:
    """Features of the training and test rows as rows, and the squared distances over the features chosen so far."""

    def __init__(self, X: NDArray, y: NDArray, Xt: NDArray, yt: NDArray, dtype: Any) -> None:
        self.points = np.ascontiguousarray(X.T, dtype)
        self.queries = np.ascontiguousarray(Xt.T, dtype)
        self.y, self.targets = y, yt
        self.D = np.zeros((len(Xt), len(X)), dtype)
        self.selected: list[int] = []

    def measured(self, index: NDArray, selected: Sequence[int], units: Sequence[Sequence[int]]) -> Doubles:
        """Squared distances of neighbours (units, q, k) over ``selected`` without each unit."""
        out = np.zeros(index.shape)
        for f in selected:
            stays = [u for u, unit in enumerate(units) if f not in unit]
            out[stays] += np.square(self.queries[f][:, None] - self.points[f][index[stays]])
        return out

    def reach(self, selected: Sequence[int]) -> None:
        """Update the distances to ``selected``; where features leave, integers are subtracted and floats recomputed."""
        gone = set(self.selected) - set(selected)
        if gone and self.D.dtype == np.float64:
            self.D[:], self.selected, gone = 0.0, [], set()
        for f in [*gone, *(f for f in selected if f not in self.selected)]:
            _native.move_distances(
                self.D, self.queries[f], self.points[f], joining=f not in gone, n_threads=thread_limit.current()
            )
        self.selected = list(selected)
