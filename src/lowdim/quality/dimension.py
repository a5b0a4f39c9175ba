"""The intrinsic dimension, estimated from the distances to the nearest neighbours."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.compose.metric_space import Space, rows_of
from lowdim.data import options
from lowdim.quality.measure import METRIC, SAMPLE, Measure, demand_neighbors, draw_rows, measuring
from lowdim.work.user_warnings import warn

_RULES = {
    "kind": options.one_of("two_nn", "mle"),
    "n_neighbors": options.integer(3),
    "metric": METRIC,
    "sample": SAMPLE,
    "random_state": options.seed,
    "n_jobs": options.jobs,
}
_TAIL = 0.1  # share of the largest ratios that are censored: they come from noise and edges
_WORK = 5e11  # products up to which all rows are used
_SOME = 5000


def intrinsic_dimension(
    X: Any,
    kind: str = "two_nn",
    *,
    n_neighbors: int = 20,
    metric: str = "euclidean",
    sample: int | str | None = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Measure:
    """Estimate the dimension of the manifold on which the rows lie.

    Parameters
    ----------
    X : array, DataFrame or CSR matrix of shape (n_samples, n_features)
        The data. Duplicate rows count once.
    kind : {"two_nn", "mle"}, default "two_nn"
        From the ratio of the distances to the second and the first neighbour (Facco et al. 2017), least sensitive to
        density and curvature; or from those to ``n_neighbors`` (Levina and Bickel 2004, averaged as by MacKay and
        Ghahramani), less sensitive to noise.
    n_neighbors : int, default 20
        Neighbours for ``"mle"``.
    metric : {"euclidean", "cosine", "manhattan", "precomputed"}, default "euclidean"
        Distance.
    sample : None, int or "auto", default "auto"
        Rows to use: all, this many, or all unless that takes long. Their neighbours are searched among all rows.
    random_state : int, Generator, RandomState or None, default 0
        Seed of the sample.
    n_jobs : int, default None
        Number of threads; None uses all cores.

    Returns
    -------
    Measure
        A float; its ``error`` is the standard error, including the correlation of neighbouring rows but not the
        bias, ``sampled`` the number of sampled rows, or None for all. Infinite where all neighbours are at the same
        distance, as on a grid.

    Examples
    --------
    >>> import numpy as np
    >>> from lowdim import quality
    >>> rng = np.random.default_rng(0)
    >>> plane = rng.uniform(size=(2000, 2)) @ rng.normal(size=(2, 5))
    >>> round(float(quality.intrinsic_dimension(plane)))
    2
    """
    given = {"metric": metric, "sample": sample, "random_state": random_state, "n_jobs": n_jobs}
    with measuring("intrinsic_dimension", _RULES, kind=kind, n_neighbors=n_neighbors, **given) as who:
        given_rows = rows_of(who, X, "X")
        X = _distinct(given_rows, metric)
        k = 2 if kind == "two_nn" else int(n_neighbors)
        _demand_distinct(X.shape[0], given_rows.shape[0])
        demand_neighbors(who, k, X.shape[0], X.shape[0], "the number of rows")
        space = Space(who, X, metric)
        affordable = space.n if space.n**2 * X.shape[1] <= _WORK else _SOME
        rows = draw_rows(space.n, sample, affordable, random_state, "rows of a measure")
        near = space.nearest(k, rows)
        reached = space.apart(rows, near)
        apart = reached[:, 0] > 0
        reached = reached[apart]
        _demand_distinct(len(reached), len(rows))
        d, shares = _two_nn(reached) if kind == "two_nn" else _mle(reached)
        if d == float("inf"):
            warn(
                "intrinsic_dimension: neighbours at different distances are needed; those of each row are at the same "
                "distance, as on a grid, so that the estimate is infinite. Add a little noise to the rows, or use "
                "kind='mle' with more neighbours."
            )
        error = _error(shares, rows.where[apart], near[apart], space.n)
        return Measure(d, error, None if rows.rows is None else len(rows))


def _distinct(X: Any, metric: str) -> Any:
    """Rows of ``X`` without duplicates; sparse rows and matrices of distances as they are."""
    if metric == "precomputed" or not isinstance(X, np.ndarray):
        return X
    plain = np.ascontiguousarray(X + 0)  # −0 becomes 0
    whole = plain.view(np.dtype((np.void, plain.dtype.itemsize * plain.shape[1]))).ravel()
    _, first = np.unique(whole, return_index=True)
    return X if len(first) == len(X) else X[np.sort(first)]


def _demand_distinct(distinct: int, n: int) -> None:
    if distinct < 3:
        raise ValueError(
            f"intrinsic_dimension: at least 3 distinct rows are needed; got {distinct} among {n:,} rows. Pass more."
        )


def _two_nn(reached: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """ln(r₂/r₁) has the exponential distribution of mean 1/d; the largest are censored.

    The dimension, and what each row adds to its deviation from the true one (to first order, as below).
    """
    logs = np.log(reached[:, 1] / reached[:, 0])
    kept = max(2, int(np.ceil(len(logs) * (1 - _TAIL))))
    largest = np.partition(logs, kept - 1)[kept - 1]
    censored = np.minimum(logs, largest)
    total = float(censored.sum())
    if not total:
        return float("inf"), np.zeros(len(logs))
    d = (kept - 1) / total
    return d, ((logs <= largest) - d * censored) * d / kept


def _mle(reached: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """The mean over rows of the mean of ln(r_k/r_j), j < k, is 1/d."""
    inverse = np.log(reached[:, -1:] / reached[:, :-1]).mean(axis=1)
    mean = float(inverse.mean())
    if not mean:
        return float("inf"), np.zeros(len(inverse))
    return 1 / mean, (mean - inverse) / (len(inverse) * mean**2)


def _error(shares: NDArray[np.float64], rows: NDArray[np.intp], near: NDArray[Any], n: int) -> float:
    """Standard error of the sum of ``shares``, one per row: squares, and products with those of neighbours.

    Rows and their neighbours share distances, so that their shares are correlated; those of rows further apart are not.
    """
    all_shares = np.zeros(n)
    all_shares[rows] = shares
    together = float(shares @ all_shares[near].sum(axis=1))
    return float(shares @ shares + max(together, 0.0)) ** 0.5
