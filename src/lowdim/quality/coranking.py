"""How large are the neighbourhoods that are preserved? Full rows of ranks in both spaces, compared at every size.

Formulas are in docs/maths/quality.md.
"""

from typing import Any

from lowdim.compose.coranking import coranks
from lowdim.compose.metric_space import Space, both
from lowdim.data import options
from lowdim.quality.measure import METRIC, SAMPLE, Measure, draw_rows, measuring

_RULES = {"metric": METRIC, "sample": SAMPLE, "random_state": options.seed, "n_jobs": options.jobs}
_PAIRS, _SOME = (
    9_000_000,
    1000,
)  # maximum number of distances sorted (all of 3,000 rows), unless the minimum number of rows has more


def rnx_curve(
    X: Any,
    Y: Any,
    *,
    metric: str = "euclidean",
    sample: int | str | None = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
    return_error: bool = False,
) -> Any:
    """R_NX(K) for K = 1 … n − 2: share of K neighbours kept, corrected for chance; 1 is perfect, 0 a random map.

    Parameters
    ----------
    X, Y, metric, sample, random_state, n_jobs
        As in :func:`lowdim.quality.trustworthiness`; ``"auto"`` uses all rows up to 3,000, and
        a sample of at least 1,000 beyond.
    return_error : bool, default False
        Whether to return the standard errors as well.

    Returns
    -------
    array (n_samples − 2,), or a pair of them
        ``R[K - 1]`` is R_NX(K); with ``return_error`` also its standard error, zeros where all rows were used.

    Examples
    --------
    >>> from lowdim import PCA, data, quality
    >>> X, _ = data.load("iris")
    >>> R = quality.rnx_curve(X, PCA(2).fit_transform(X))
    >>> R.shape, round(float(R[9]), 2)
    ((148,), 0.72)
    """
    rules = _RULES | {"return_error": options.flag}
    given = {"metric": metric, "sample": sample, "random_state": random_state, "n_jobs": n_jobs}
    with measuring("rnx_curve", rules, return_error=return_error, **given) as who:
        curve = Coranking(*both(who, X, Y, metric), sample, random_state)
        return (curve.rnx, curve.error) if return_error else curve.rnx


def rnx_auc(
    X: Any,
    Y: Any,
    *,
    metric: str = "euclidean",
    sample: int | str | None = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Measure:
    """Area under R_NX(K) over the logarithm of K: one number for all neighbourhood sizes; 1 is perfect, 0 random.

    Parameters are those of :func:`rnx_curve`, the result is that of :func:`lowdim.quality.trustworthiness`.

    Examples
    --------
    >>> from lowdim import PCA, data, quality
    >>> X, _ = data.load("iris")
    >>> round(quality.rnx_auc(X, PCA(2).fit_transform(X)), 2)
    0.69
    """
    given = {"metric": metric, "sample": sample, "random_state": random_state, "n_jobs": n_jobs}
    with measuring("rnx_auc", _RULES, **given) as who:
        return Coranking(*both(who, X, Y, metric), sample, random_state).auc


class Coranking:
    """Q_NX(K), the share of the K neighbours that both spaces have in common, for every K, from full rows of ranks."""

    def __init__(self, X: Space, Y: Space, sample: Any, random_state: Any) -> None:
        n = X.n
        self.sample = draw_rows(n, sample, max(_SOME, _PAIRS // n), random_state, "rows of a curve")
        self.rnx, self.error, areas = coranks(X, Y, self.sample)
        self.auc = self.sample.mean(areas)
