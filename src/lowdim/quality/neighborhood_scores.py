"""Are neighbourhoods preserved? Ranks of neighbours in one space among the distances of the other.

``r_ij`` is the rank of ``j`` among all other rows by distance from ``i`` in X, ``s_ij`` in Y, both from 1; equal
distances are ordered by index. Formulas are in docs/maths/quality.md.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.compose.metric_space import Space, affordable, both
from lowdim.data import options
from lowdim.data.descriptions import described
from lowdim.quality.measure import METRIC, NEIGHBORS, SAMPLE, TEXTS, Measure, demand_neighbors, draw_rows, measuring

_RULES = {
    "n_neighbors": options.integer(1),
    "metric": METRIC,
    "sample": SAMPLE,
    "random_state": options.seed,
    "n_jobs": options.jobs,
}


class Distortion(NamedTuple):
    """Distortion of each row, from 0 (none) to 1 (largest possible).

    ``false_neighbors`` (n,): neighbours in Y that are far in X (intrusions); its mean is 1 − trustworthiness.
    ``missing_neighbors`` (n,): neighbours in X that are far in Y (extrusions); its mean is 1 − continuity.
    """

    false_neighbors: NDArray[np.float64]
    missing_neighbors: NDArray[np.float64]


@described(TEXTS)
def trustworthiness(
    X: Any,
    Y: Any,
    n_neighbors: int = NEIGHBORS,
    *,
    metric: str = "euclidean",
    sample: int | str | None = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Measure:
    """Degree to which neighbours in the map are neighbours in the data: 1 if all are, about 0.5 for a random map.

    Parameters
    ----------
    {X}
    {Y}
    n_neighbors : int, default 5
        Neighbours of each row; fewer than half of the rows.
    {metric}
    {rows}
    n_jobs : int, default None
        Number of threads; None uses all cores. Results do not depend on it.

    Returns
    -------
    {sampled_rows}

    Examples
    --------
    >>> from lowdim import PCA, data, quality
    >>> X, _ = data.load("iris")
    >>> round(quality.trustworthiness(X, PCA(2).fit_transform(X)), 3)
    0.979
    """
    given = {"metric": metric, "sample": sample, "random_state": random_state, "n_jobs": n_jobs}
    with measuring("trustworthiness", _RULES, n_neighbors=n_neighbors, **given) as who:
        near = Neighbourhoods(who, *both(who, X, Y, metric), n_neighbors, sample, random_state)
        return near.sample.mean(1 - near.false_neighbors())


def continuity(
    X: Any,
    Y: Any,
    n_neighbors: int = NEIGHBORS,
    *,
    metric: str = "euclidean",
    sample: int | str | None = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Measure:
    """Whether neighbours in the data are neighbours in the map: trustworthiness with X and Y exchanged.

    Parameters and result are those of :func:`trustworthiness`.

    Examples
    --------
    >>> from lowdim import PCA, data, quality
    >>> X, _ = data.load("iris")
    >>> round(quality.continuity(X, PCA(2).fit_transform(X)), 3)
    0.99
    """
    given = {"metric": metric, "sample": sample, "random_state": random_state, "n_jobs": n_jobs}
    with measuring("continuity", _RULES, n_neighbors=n_neighbors, **given) as who:
        near = Neighbourhoods(who, *both(who, X, Y, metric), n_neighbors, sample, random_state)
        return near.sample.mean(1 - near.missing_neighbors())


def neighborhood_recall(
    X: Any,
    Y: Any,
    n_neighbors: int = NEIGHBORS,
    *,
    metric: str = "euclidean",
    sample: int | str | None = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Measure:
    """Share of the neighbours in the data that are neighbours in the map; k/(n − 1) for a random map.

    Parameters and result are those of :func:`trustworthiness`; any ``n_neighbors`` below n_samples is allowed.

    Examples
    --------
    >>> import numpy as np
    >>> from lowdim import quality
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> quality.neighborhood_recall(X, -2 * X, n_neighbors=1)
    1.0
    """
    given = {"metric": metric, "sample": sample, "random_state": random_state, "n_jobs": n_jobs}
    with measuring("neighborhood_recall", _RULES, n_neighbors=n_neighbors, **given) as who:
        near = Neighbourhoods(who, *both(who, X, Y, metric), n_neighbors, sample, random_state, overlap=True)
        return near.sample.mean(near.recall())


def lcmc(
    X: Any,
    Y: Any,
    n_neighbors: int = NEIGHBORS,
    *,
    metric: str = "euclidean",
    sample: int | str | None = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Measure:
    """Local continuity meta-criterion: the recall of neighbours minus that of a random map, k/(n − 1).

    Parameters and result are those of :func:`neighborhood_recall`.

    Examples
    --------
    >>> import numpy as np
    >>> from lowdim import quality
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> round(quality.lcmc(X, X, n_neighbors=1), 3)
    0.667
    """
    given = {"metric": metric, "sample": sample, "random_state": random_state, "n_jobs": n_jobs}
    with measuring("lcmc", _RULES, n_neighbors=n_neighbors, **given) as who:
        near = Neighbourhoods(who, *both(who, X, Y, metric), n_neighbors, sample, random_state, overlap=True)
        return near.sample.mean(near.recall() - n_neighbors / (near.n - 1))


def distortion(
    X: Any,
    Y: Any,
    n_neighbors: int = NEIGHBORS,
    *,
    metric: str = "euclidean",
    n_jobs: int | None = None,
) -> Distortion:
    """Distortion of each row: false neighbours in the map, and neighbours that are missing there.

    Parameters
    ----------
    X, Y, n_neighbors, metric, n_jobs
        As in :func:`trustworthiness`; all rows are used.

    Returns
    -------
    Distortion
        ``false_neighbors`` and ``missing_neighbors``, both (n,) from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from lowdim import quality
    >>> X = np.arange(8.0)[:, None]
    >>> Y = X.copy()
    >>> Y[0] = 20.0  # one row moved far from its neighbours
    >>> quality.distortion(X, Y, n_neighbors=1).false_neighbors.round(2)
    array([1.  , 0.17, 0.  , 0.  , 0.  , 0.  , 0.  , 0.  ])
    """
    rules = {name: _RULES[name] for name in ("n_neighbors", "metric", "n_jobs")}
    with measuring("distortion", rules, n_neighbors=n_neighbors, metric=metric, n_jobs=n_jobs) as who:
        near = Neighbourhoods(who, *both(who, X, Y, metric), n_neighbors, None, 0)
        return Distortion(near.false_neighbors(), near.missing_neighbors())


class Neighbourhoods:
    """Neighbours of the same rows in both spaces; each quantity is computed once, on first use."""

    def __init__(
        self,
        who: str,
        X: Space,
        Y: Space,
        n_neighbors: int,
        sample: Any,
        random_state: Any,
        overlap: bool = False,
    ) -> None:
        self.X, self.Y = X, Y
        self.n, self.k = self.X.n, int(n_neighbors)
        if overlap:
            demand_neighbors(who, self.k, self.n, self.n, "the number of rows")
        else:
            demand_neighbors(who, self.k, self.n, self.n / 2, "half of the rows")
        self.sample = draw_rows(self.n, sample, affordable(self.X), random_state, "rows of a measure")
        self._found: dict[str, NDArray[np.int32]] = {}

    def _near(self, space: str) -> NDArray[np.int32]:
        if space not in self._found:
            self._found[space] = getattr(self, space).nearest(self.k, self.sample)
        return self._found[space]

    def _excess(self, there: str, here: str) -> NDArray[np.float64]:
        """For each row Σ max(0, rank − k) over its neighbours ``here``, ranked ``there``, as a share of the maximum."""
        ranks = getattr(self, there).ranks(self.sample, self._near(here))
        beyond = np.maximum(ranks.astype(np.int64) - self.k, 0).sum(axis=1)
        return 2 * beyond / (self.k * (2 * self.n - 3 * self.k - 1))

    def false_neighbors(self) -> NDArray[np.float64]:
        """Neighbours in Y that X ranks beyond k, by how far (m,)."""
        return self._excess("X", "Y")

    def missing_neighbors(self) -> NDArray[np.float64]:
        """Neighbours in X that Y ranks beyond k, by how far (m,)."""
        return self._excess("Y", "X")

    def recall(self) -> NDArray[np.float64]:
        """Share of common neighbours (m,)."""
        first = np.arange(len(self.sample))[:, None] * np.int64(self.n)
        kept, all_ = ((first + self._near(space)).ravel() for space in "XY")
        return np.isin(kept, all_, assume_unique=True).reshape(-1, self.k).mean(axis=1)
