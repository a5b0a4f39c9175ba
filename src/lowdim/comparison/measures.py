"""Measures of every embedding: names, a one-sentence explanation of each, and whether more is better."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lowdim import quality
from lowdim.quality.measure import NEIGHBORS

_FOLDS = 5
_MANY, _SOME = 10_000, 500  # beyond so many rows, so many are sampled: a curve costs n log n for each
_PAIRS = 100_000  # of pairs whose distances are used


@dataclass(frozen=True)
class Kind:
    """A measure by its name in :mod:`lowdim.quality`, with its explanation."""

    name: str
    title: str
    question: str  # the heading that it is listed under
    sentence: str
    high: bool = True  # whether more is better


NEAR, FAR, CLASSES = "neighbourhoods", "distances", "classes"
KINDS = (
    Kind(
        "rnx_auc",
        "R_NX area",
        NEAR,
        "Share of neighbours kept, averaged over all neighbourhood sizes with more weight on small ones, and corrected "
        "for chance: 1 is a perfect map, 0 a random one.",
    ),
    Kind(
        "trustworthiness",
        "trustworthiness",
        NEAR,
        "Whether neighbours on the map are neighbours in the data: 1 if all are; false neighbours count by how far "
        "away they are in the data.",
    ),
    Kind(
        "continuity",
        "continuity",
        NEAR,
        "Whether neighbours in the data are still neighbours on the map: 1 if all are; missing neighbours count by how "
        "far away they are on the map.",
    ),
    Kind(
        "neighborhood_recall",
        "neighbours kept",
        NEAR,
        "Share of the nearest neighbours in the data that are among the nearest on the map.",
    ),
    Kind(
        "lcmc",
        "LCMC",
        NEAR,
        "Local continuity meta-criterion: neighbours kept, minus the share expected by chance.",
    ),
    Kind(
        "shepard_correlation",
        "distance correlation",
        FAR,
        "Rank correlation between distances in the data and on the map: 1 if far stays far and near stays near.",
    ),
    Kind(
        "stress_normalised",
        "stress",
        FAR,
        "Relative difference between distances on the map and in the data, after the best scaling of the map: 0 is "
        "exact.",
        high=False,
    ),
    Kind(
        "stress_kruskal",
        "Kruskal's stress",
        FAR,
        "The same against the best monotone function of the distances, so that only their order counts.",
        high=False,
    ),
    Kind(
        "stress_sammon",
        "Sammon's stress",
        FAR,
        "The same with each squared error divided by the distance, so that errors in small distances have more weight.",
        high=False,
    ),
    Kind(
        "residual_variance",
        "residual variance",
        FAR,
        "Share of the variance of the distances that is not explained linearly by those on the map: 0 is exact.",
        high=False,
    ),
    Kind(
        "knn_accuracy",
        "nearest-neighbour accuracy",
        CLASSES,
        "Cross-validated accuracy of a nearest-neighbour classifier on the map; of a method that learns from labels, "
        "for rows that it was not fitted on.",
    ),
    Kind(
        "neighbor_hit",
        "neighbours of the same class",
        CLASSES,
        "Share of the nearest neighbours on the map that have the row's own class.",
    ),
    Kind(
        "silhouette",
        "silhouette",
        CLASSES,
        "How much closer a row is to its own class than to the nearest other class, from −1 to 1.",
    ),
)
BY_NAME = {kind.name: kind for kind in KINDS}


@dataclass(frozen=True)
class Found:
    """Measures of one embedding."""

    values: dict[str, float]
    errors: dict[str, float]  # standard errors; 0 where all rows were used
    sampled: int | None  # rows sampled for neighbourhoods, None for all
    pairs: int | None  # pairs sampled for distances, None for all
    rows: np.ndarray | None  # rows sampled, None for all
    distortion: np.ndarray  # how much each of them is misplaced, from 0 to 1
    curve: np.ndarray  # R_NX for neighbourhoods of 1, 2, …
    held_out: bool = False  # whether labels were scored on rows that the method was not fitted on

    def with_labels(self, values: dict[str, float], errors: dict[str, float]) -> "Found":
        """These measures, and scores by labels on held-out rows."""
        return replace(self, values=self.values | values, errors=self.errors | errors, held_out=True)


def can_score(labels: Any) -> bool:
    """Whether some class has a row for every fold."""
    return bool(np.unique(labels, return_counts=True)[1].max() >= _FOLDS)


def chance_levels(codes: np.ndarray) -> dict[str, float]:
    """What each score by labels is on a map that has nothing to do with them.

    >>> chance_levels(np.array([0, 0, 0, 1]))
    {'knn_accuracy': 0.75, 'neighbor_hit': 0.625, 'silhouette': 0.0}
    """
    shares = np.bincount(codes) / len(codes)
    return {"knn_accuracy": float(shares.max()), "neighbor_hit": float((shares**2).sum()), "silhouette": 0.0}


def measure(X: Any, Y: Any, labels: Any, *, random_state: int) -> Found:
    """Measure the embedding ``Y`` of ``X``; ``labels`` name classes, or are None.

    Labels are not measured if no class has a row for every fold.
    """
    n = X.shape[0]
    if labels is not None and not can_score(labels):
        labels = None
    k, sample = min(NEIGHBORS, (n - 1) // 2), "auto" if n <= _MANY else _SOME
    found = quality.report(X, Y, labels, n_neighbors=k, sample=sample, pairs=_PAIRS, random_state=random_state)
    values = {name: float(value) for name, value in found.items()}
    errors = {name: float(value.error) for name, value in found.items()}
    misplaced = np.maximum(found.distortion.false_neighbors, found.distortion.missing_neighbors)
    rows, pairs = found["trustworthiness"].sampled, found["shepard_correlation"].sampled
    return Found(values, errors, rows, pairs, found.rows, misplaced, found.rnx)


def intrinsic_dimension(X: Any, random_state: int) -> dict[str, float]:
    """Estimates of the intrinsic dimension of the rows, by name; those that fail are left out."""
    n = X.shape[0]
    kinds = {"two_nn": "two nearest neighbours", "mle": "maximum likelihood"}
    if n > _MANY:
        del kinds["mle"]  # each costs a search
    estimates = {}
    for kind, title in kinds.items():
        with suppress(ValueError):  # too few distinct rows
            k, sample = min(20, n - 1), "auto" if n <= _MANY else _SOME
            found = quality.intrinsic_dimension(X, kind, n_neighbors=k, sample=sample, random_state=random_state)
            value = float(found)
            if np.isfinite(value):
                estimates[title] = value
    return estimates


def best(kind: Kind, values: Mapping[str, float]) -> str | None:
    """Name of the method with the best value, None if there is none."""
    known = {name: value for name, value in values.items() if np.isfinite(value)}
    return None if not known else (max if kind.high else min)(known, key=known.__getitem__)
