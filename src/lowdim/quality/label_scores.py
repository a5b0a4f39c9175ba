"""Are classes separated? Neighbours with the same label, votes of neighbours, and distances between classes."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.compose.metric_space import Space, affordable, rows_of
from lowdim.data import options
from lowdim.data.descriptions import described
from lowdim.data.labels import Labels
from lowdim.quality.measure import (
    METRIC,
    NEIGHBORS,
    SAMPLE,
    TEXTS,
    Measure,
    demand_neighbors,
    draw_rows,
    labels_of,
    measuring,
)
from lowdim.relate import neighbors
from lowdim.work.random import seed_of

_RULES = {"metric": METRIC, "n_jobs": options.jobs}
_DRAWING = {"sample": SAMPLE, "random_state": options.seed}
_WHOLE_SUMS = 5e11  # differences of features up to which the silhouette uses all rows: 125,000 of a map
_SEEDS = 2**32  # scikit-learn's folds accept none larger


@described(TEXTS)
def neighbor_hit(
    Y: Any,
    y: Any,
    n_neighbors: int = NEIGHBORS,
    *,
    metric: str = "euclidean",
    sample: int | str | None = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Measure:
    """Share of the neighbours of a row that have its label, averaged over rows.

    Parameters
    ----------
    Y : array, DataFrame or CSR matrix of shape (n_samples, n_components)
        The map (or the data, to compare with).
    y : of shape (n_samples,)
        Labels.
    n_neighbors : int, default 5
        Neighbours of each row, fewer than there are rows.
    metric : {"euclidean", "cosine", "manhattan", "precomputed"}, default "euclidean"
        Distance in ``Y``.
    {rows}
    n_jobs : int, default None
        Number of threads; None uses all cores.

    Returns
    -------
    {sampled_rows}

    Examples
    --------
    >>> from lowdim import PCA, data, quality
    >>> X, y = data.load("iris")
    >>> round(quality.neighbor_hit(PCA(2).fit_transform(X), y), 3)
    0.951
    """
    given = {"metric": metric, "sample": sample, "random_state": random_state, "n_jobs": n_jobs}
    rules = _RULES | _DRAWING | {"n_neighbors": options.integer(1)}
    with measuring("neighbor_hit", rules, n_neighbors=n_neighbors, **given) as who:
        space, found = _labelled(who, Y, y, metric)
        demand_neighbors(who, n_neighbors, space.n, space.n, "the number of rows")
        rows = draw_rows(space.n, sample, affordable(space), random_state, "rows of a measure")
        near = space.nearest(int(n_neighbors), rows)
        return rows.mean((found.codes[near] == found.codes[rows.where, None]).mean(axis=1))


def knn_accuracy(
    Y: Any,
    y: Any,
    n_neighbors: int = 5,
    *,
    cv: int = 5,
    metric: str = "euclidean",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Measure:
    """Cross-validated accuracy of a k-nearest-neighbour classifier.

    Parameters
    ----------
    Y, y, metric, n_jobs
        As in :func:`neighbor_hit`.
    n_neighbors : int, default 5
        Number of neighbours; ties go to the first label in sorted order.
    cv : int, default 5
        Number of stratified folds.
    random_state : int, Generator, RandomState or None, default 0
        Seed of the shuffling of rows into folds.

    Returns
    -------
    Measure
        A float; its ``error`` is the standard error over the folds.

    Examples
    --------
    >>> from lowdim import PCA, data, quality
    >>> X, y = data.load("iris")
    >>> round(float(quality.knn_accuracy(PCA(2).fit_transform(X), y)), 2)
    0.96
    """
    rules = _RULES | {"n_neighbors": options.integer(1), "cv": options.integer(2), "random_state": options.seed}
    given = {"n_neighbors": n_neighbors, "cv": cv, "metric": metric, "random_state": random_state, "n_jobs": n_jobs}
    with measuring("knn_accuracy", rules, **given) as who:
        space, found = _labelled(who, Y, y, metric)
        if cv > found.counts.max():
            raise ValueError(
                f"knn_accuracy: cv must be at most the number of rows of the largest class ({found.counts.max()}); got "
                f"{cv}. Lower it or pass more rows."
            )
        from sklearn.model_selection import StratifiedKFold  # slow to import

        folds = StratifiedKFold(int(cv), shuffle=True, random_state=seed_of(random_state) % _SEEDS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a class smaller than cv is absent from some folds
            splits = list(folds.split(np.zeros(space.n), found.codes))
        fewest = min(len(train) for train, _ in splits)
        demand_neighbors(who, n_neighbors, space.n, fewest + 1, "the training rows of a fold, plus one")
        right = [_votes(space, found, train, test, int(n_neighbors)) == found.codes[test] for train, test in splits]
        by_fold = [float(hits.mean()) for hits in right]
        return Measure(float(np.mean(by_fold)), float(np.std(by_fold, ddof=1)) / len(by_fold) ** 0.5)


def silhouette(
    Y: Any,
    y: Any,
    *,
    metric: str = "euclidean",
    sample: int | str | None = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Measure:
    """Mean over rows of (b − a)/max(a, b), with the mean distances a to the same class and b to the nearest other.

    Parameters and result are those of :func:`neighbor_hit`. From −1 to 1; a class of one row counts 0.

    Examples
    --------
    >>> from lowdim import PCA, data, quality
    >>> X, y = data.load("iris")
    >>> round(quality.silhouette(PCA(2).fit_transform(X), y), 3)
    0.534
    """
    given = {"metric": metric, "sample": sample, "random_state": random_state, "n_jobs": n_jobs}
    with measuring("silhouette", _RULES | _DRAWING, **given) as who:
        space, found = _labelled(who, Y, y, metric)
        if len(found.classes) == space.n:
            raise ValueError(
                f"silhouette: fewer classes than rows are needed; got {space.n:,} classes for {space.n:,} rows. Pass "
                "labels with several rows each."
            )
        rows = draw_rows(space.n, sample, affordable(space, _WHOLE_SUMS), random_state, "rows of a measure")
        totals = space.class_sums(rows, found.codes, found.counts)
        return rows.mean(_widths(totals, found.codes[rows.where], found.counts))


def _widths(totals: NDArray[np.float64], own: NDArray[np.int32], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Silhouettes from the sums of distances to each class (m, C), which are overwritten."""
    here = np.arange(len(totals))
    size = counts[own]
    within = totals[here, own] / np.maximum(size - 1, 1)
    means = np.divide(totals, counts, out=totals)
    means[here, own] = np.inf
    other = means.min(axis=1)
    larger = np.maximum(within, other)
    apart = np.divide(other - within, larger, out=np.zeros(len(totals)), where=larger > 0)
    return np.where(size > 1, apart, 0.0)


def _labelled(who: str, Y: Any, y: Any, metric: str) -> tuple[Space, Labels]:
    Y = rows_of(who, Y, "Y")
    found = labels_of(who, y, Y)
    return Space(who, Y, metric), found


def _votes(space: Space, found: Labels, train: NDArray[np.intp], test: NDArray[np.intp], k: int) -> NDArray[np.intp]:
    """Majority class of the ``k`` nearest of ``train``, for each of ``test``."""
    metric = "euclidean" if space.metric == "cosine" else space.metric
    if metric == "precomputed":
        near = neighbors.nearest(
            space.X[np.ix_(train, train)], k, queries=space.X[np.ix_(test, train)], metric=metric, how="exact"
        )
    else:
        near = neighbors.nearest(space.X[train], k, queries=space.X[test], metric=metric, how="exact")
    votes = np.zeros((len(test), len(found.classes)), np.int32)
    np.add.at(votes, (np.arange(len(test))[:, None], found.codes[train][near.indices]), 1)
    return votes.argmax(axis=1)
