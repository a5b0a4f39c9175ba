"""Is density preserved? Local radii of rows in the data and in a map; formulas are in docs/maths/quality.md."""

from typing import Any

import numpy as np

from lowdim.compose.metric_space import both
from lowdim.data import options
from lowdim.data.descriptions import described
from lowdim.quality.measure import METRIC, TEXTS, Measure, demand_neighbors, measuring
from lowdim.relate.radii import rows_radii

_NEIGHBORS = 15  # as UMAP has
_RULES = {"n_neighbors": options.integer(2), "metric": METRIC, "n_jobs": options.jobs}


@described(TEXTS)
def density_preservation(
    X: Any, Y: Any, *, n_neighbors: int = _NEIGHBORS, metric: str = "euclidean", n_jobs: int | None = None
) -> Measure:
    """Correlation of the logarithms of local radii in the data and in the map; 1 if spread groups are spread there.

    The squared radius of a row is the mean of the squared distances to its neighbours, weighted by their memberships
    in the fuzzy graph of UMAP (Narayan, Berger and Cho 2021).

    Parameters
    ----------
    {X}
    {Y}
    n_neighbors : int, default 15
        Neighbours of each row, itself included.
    {metric}
    n_jobs : int, default None
        Number of threads; None uses all cores.

    Returns
    -------
    Measure
        A float from −1 to 1, of all rows; 0 where all radii are equal.

    Examples
    --------
    >>> from lowdim import UMAP, data, quality
    >>> X, y = data.load("digits")
    >>> plain, dense = (UMAP(densmap=on, random_state=0).fit_transform(X) for on in (False, True))
    >>> quality.density_preservation(X, dense) > quality.density_preservation(X, plain) + 0.3
    True
    """
    with measuring("density_preservation", _RULES, n_neighbors=n_neighbors, metric=metric, n_jobs=n_jobs) as who:
        spaces = both(who, X, Y, metric)
        demand_neighbors(who, int(n_neighbors), spaces[0].n + 1, spaces[0].n + 1, "the number of rows plus one")
        # Rows of length 1, which stand for cosine distances, have the same neighbours; their radii are twice as large.
        radii = [rows_radii(one.X, int(n_neighbors), _metric(one.metric)) for one in spaces]
        spread = [float(r.std()) for r in radii]
        if min(spread) <= 1e-12:
            return Measure(0.0)
        r, s = ((one - one.mean()) / size for one, size in zip(radii, spread, strict=True))
        return Measure(float(np.clip((r * s).mean(), -1, 1)))


def _metric(metric: str) -> str:
    return "euclidean" if metric == "cosine" else metric
