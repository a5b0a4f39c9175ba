"""All measures of one map at once; shared quantities are computed once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.compose.metric_space import both
from lowdim.data import options
from lowdim.data.descriptions import described
from lowdim.quality.coranking import Coranking
from lowdim.quality.distance_scores import Pairs, reconstruction_error
from lowdim.quality.label_scores import knn_accuracy, neighbor_hit, silhouette
from lowdim.quality.measure import METRIC, NEIGHBORS, SAMPLE, TEXTS, Measure, labels_of, measuring
from lowdim.quality.neighborhood_scores import Distortion, Neighbourhoods

_RULES = {
    "n_neighbors": options.integer(1),
    "metric": METRIC,
    "sample": SAMPLE,
    "pairs": SAMPLE,
    "random_state": options.seed,
    "n_jobs": options.jobs,
}
_VOTES, _FOLDS = 5, 5  # of the accuracy of neighbours


class Report(dict[str, Measure]):
    """Measures by name, with the distortion of each row and the R_NX curve.

    ``distortion`` is that of each of ``rows``; ``rnx`` is R_NX(K) for K = 1 … n − 2 and ``rnx_error`` its
    standard error. ``rows`` are the indices of the sampled rows, None for all.
    """

    def __init__(
        self,
        measures: dict[str, Measure],
        distortion: Distortion,
        rows: NDArray[np.intp] | None,
        curve: Coranking,
    ) -> None:
        super().__init__(measures)
        self.distortion, self.rows = distortion, rows
        self.rnx, self.rnx_error = curve.rnx, curve.error

    def __str__(self) -> str:
        return "\n".join(f"{name:20} {_line(value)}" for name, value in self.items())

    def _repr_html_(self) -> str:
        rows = (
            f"<tr><th style='text-align:left'>{name}</th><td>{_line(value)}</td></tr>" for name, value in self.items()
        )
        return f"<table>{''.join(rows)}</table>"


def _line(value: Measure) -> str:
    text = f"{float(value):7.4f}"
    text += f" ± {value.error:.4f}" if value.error else ""
    return text + (f" (sample of {value.sampled:,})" if value.sampled else "")


@described(TEXTS)
def report(
    X: Any,
    Y: Any,
    y: Any = None,
    *,
    X_back: Any = None,
    n_neighbors: int = NEIGHBORS,
    metric: str = "euclidean",
    sample: int | str | None = "auto",
    pairs: int | str | None = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Report:
    """All measures of a map: neighbourhoods, distances, and labels where they are given.

    Parameters
    ----------
    {X}
    {Y}
    y : of shape (n_samples,), default None
        Labels, for the accuracy of neighbours (5 votes, 5 folds, fewer where ``n_neighbors`` or the largest class is
        less), their hits and the silhouette, all of the map.
    X_back : array of the shape of X, default None
        Reconstructed rows, from ``inverse_transform``, for the reconstruction error.
    n_neighbors : int, default 5
        Neighbours of each row; fewer than half of the rows.
    {metric}
    sample : None, int or "auto", default "auto"
        Rows to use: all, this many, or the default of each measure.
    pairs : None, int or "auto", default "auto"
        The same for pairs of rows, in measures of distances.
    random_state : int, Generator, RandomState or None, default 0
        Seed of samples and folds.
    n_jobs : int, default None
        Number of threads; None uses all cores.

    Returns
    -------
    Report
        A dict of measures by name; each is a float with ``error`` and ``sampled``. Its attributes ``distortion`` and
        ``rnx`` hold values per row and per neighbourhood size.

    Examples
    --------
    >>> from lowdim import PCA, data, quality
    >>> X, y = data.load("iris")
    >>> found = quality.report(X, PCA(2).fit_transform(X), y)
    >>> round(found["trustworthiness"], 3), found["trustworthiness"].sampled
    (0.979, None)
    >>> found.distortion.false_neighbors.shape
    (150,)
    """
    drawing = {"sample": sample, "random_state": random_state}
    with measuring(
        "report", _RULES, n_neighbors=n_neighbors, metric=metric, n_jobs=n_jobs, pairs=pairs, **drawing
    ) as who:
        spaces = both(who, X, Y, metric)
        near = Neighbourhoods(who, *spaces, n_neighbors, **drawing)
        labelled = {}
        if y is not None:  # before the long computations, so that wrong labels are reported early
            largest = int(labels_of(who, y, spaces[1].X).counts.max())
            labelled = _labelled(Y, y, largest, int(n_neighbors), drawing)
        back = {} if X_back is None else {"reconstruction_error": reconstruction_error(X, X_back)}
        curve = Coranking(*spaces, **drawing)
        found = Distortion(near.false_neighbors(), near.missing_neighbors())
        recall = near.recall()
        measures = {
            "trustworthiness": near.sample.mean(1 - found.false_neighbors),
            "continuity": near.sample.mean(1 - found.missing_neighbors),
            "neighborhood_recall": near.sample.mean(recall),
            "lcmc": near.sample.mean(recall - near.k / (near.n - 1)),
            "rnx_auc": curve.auc,
            **Pairs(who, *spaces, pairs, random_state).all(),
            **back,
            **labelled,
        }
        return Report(measures, found, near.sample.rows, curve)


def _labelled(Y: Any, y: Any, largest: int, k: int, drawing: dict[str, Any]) -> dict[str, Measure]:
    """Measures with labels; accuracy uses no more folds and votes than the rows allow."""
    width = silhouette(Y, y, **drawing)  # first, since it reports labels that no two rows share
    seed = drawing["random_state"]
    return {
        "knn_accuracy": knn_accuracy(Y, y, min(_VOTES, k), cv=min(_FOLDS, largest), random_state=seed),
        "neighbor_hit": neighbor_hit(Y, y, k, **drawing),
        "silhouette": width,
    }
