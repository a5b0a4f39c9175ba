"""Which rows of a map should not be believed: scores of each row, and the rows that fail.

Formulas, and what was measured, are in docs/maths/reliability.md.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.data import options
from lowdim.quality.fitted_map import FittedMap, Interval
from lowdim.quality.measure import measuring
from lowdim.work import progress
from lowdim.work.random import seed_of

if TYPE_CHECKING:
    import polars as pl

_USUAL = 6  # refits for a budget in seconds alone
_RATE = 0.05  # of dubious rows on a faithful map
NO_REFITS: dict[str, Any] = {"stability": None, "error": None, "refit_spread": None}
_ORDINARY = 0.65, 0.9  # standard deviations of log spread up to which it counts whole, and from which not at all
_TORN = 3.5  # times the spread of a row's map neighbours: below that its data neighbours are not far apart

_RULES = {
    "refits": options.none | options.integer(1),
    "seconds": options.none | options.real(0),
    "jump": options.flag,
    "rate": options.real(0, 1),
    "random_state": options.seed,
    "n_jobs": options.jobs,
    "verbose": options.integer(0),
}


class Reliability:
    """How far each row of a map can be believed; returned by :func:`reliability`.

    Attributes
    ----------
    score : array (n_samples,)
        From 0, most to be believed, to 1, least: the share of rows with less evidence against their place.
    dubious : array (m,)
        Row numbers, worst first.
    spread, near_spread, overlap, shared, recall : arrays (n_samples,)
        What the score is made of, and the share of data neighbours kept.
    stability, error : arrays (n_samples,) or None
        Share of map neighbours that stay neighbours over the refits, and its standard error; NaN for rows in none
        (of which ``error`` needs two).
    refit_spread : array (n_samples,) or None
        Spread of the places that the row's map neighbours have in the refits, their geometric mean.
    jump : array (n_samples,) or None
        Largest move of a perturbed row, in widths of the map.
    intervals : dict of str to Interval
        Bootstrap intervals of ``components_`` and ``explained_variance_``, for models that have them and refits.
    refits : int
        Number of refits made.
    rate : float
        Nominal rate of dubious rows among well-placed ones.
    """

    def __init__(
        self,
        parts: dict[str, NDArray[np.float64] | None],
        intervals: dict[str, Interval],
        refits: int,
        rate: float,
    ) -> None:
        self.spread, self.overlap = _known(parts, "spread"), _known(parts, "overlap")
        self.near_spread = _known(parts, "near_spread")
        self.shared, self.recall = _known(parts, "shared"), _known(parts, "recall")
        self.stability, self.error = parts["stability"], parts["error"]
        self.refit_spread, self.jump = parts["refit_spread"], parts["jump"]
        self.intervals, self.refits, self.rate = intervals, refits, rate
        evidence = self._evidence()
        self.score = (_ranks(evidence) - 0.5) / len(evidence)
        worst = np.argsort(-evidence, kind="stable")
        torn = self.spread / np.maximum(_known(parts, "map_spread"), 1e-12 * self.spread.max() or 1.0)
        count = (outlying(self.spread, rate) & outlying(torn, rate) & (torn > _TORN)).sum()
        self.dubious = worst[: int(count)]

    def _evidence(self) -> NDArray[np.float64]:
        """Evidence (n,) against the place of each row: surprisals of its ranks, added."""
        telling = _telling(self.spread)
        less = _surprisal(self.near_spread) + _surprisal(-self.overlap) + _surprisal(-self.shared)
        total = telling * _surprisal(self.spread) + less / 2
        if self.stability is not None and self.refit_spread is not None:
            total += (1 - telling / 2) * _surprisal(-self.stability) + telling * _surprisal(self.refit_spread) / 2
        return total

    @cached_property
    def table(self) -> "pl.DataFrame":
        """All values, one row per row of the data, in their order."""
        import polars as pl

        marked = np.zeros(len(self.score), bool)
        marked[self.dubious] = True
        first = ("score", "spread", "near_spread", "overlap", "shared", "recall")
        names = (*first, "stability", "error", "refit_spread", "jump")
        values = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return pl.DataFrame(values | {"dubious": marked})

    def __repr__(self) -> str:
        share = len(self.dubious) / len(self.score)
        made = f"; {self.refits} refits" if self.refits else ""
        return (
            f"Reliability of {len(self.score):,} rows: {len(self.dubious):,} dubious ({share:.1%}; "
            f"about {self.rate:.0%} or fewer are expected of a map that tears no neighbourhoods){made}"
        )


def reliability(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    refits: int | None = None,
    seconds: float | None = None,
    jump: bool = False,
    rate: float = _RATE,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Reliability:
    """Score how far the place of each row on a map can be believed, and find the dubious ones.

    Four scores compare the neighbours in the data with those on the map, without a refit. Refits of samples are a
    second opinion: what moves from sample to sample is no property of the data.

    Parameters
    ----------
    model : fitted estimator
        A map of the rows: with ``embedding_``, or else with ``transform``. A chain, or scikit-learn's Pipeline, is
        judged by its last step.
    X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        The rows that the model was fitted on, in their order; distances with ``metric="precomputed"``.
    y : array (n_samples,), optional
        Labels, for refits of models that learn from them.
    refits : int, optional
        Number of fits of copies of the model, each on a random 80 % of the rows. None makes none, or 6 if
        ``seconds`` is given.
    seconds : float, optional
        Time after which no further refit is begun; at least one is made. The result then depends on the speed of the
        machine.
    jump : bool, default False
        Whether to move each row by the distance to its fifth neighbour, both ways along three principal axes, and to
        place it again by ``transform``: six times the time of placing all rows.
    rate : float, default 0.05
        Nominal share of dubious rows on a map that tears no neighbourhoods.
    random_state : int, Generator, RandomState or None, default 0
        Seed of samples, refits and projections.
    n_jobs : int, default None
        Number of threads; None uses all cores.
    verbose : int, default 0
        Whether to show progress.

    Returns
    -------
    Reliability
        ``.score``, ``.dubious``, ``.table`` and the values that they are made of.

    Examples
    --------
    >>> import lowdim
    >>> X, _ = lowdim.data.load("iris")
    >>> found = lowdim.quality.reliability(lowdim.TSNE(random_state=0).fit(X), X)
    >>> found.score.shape, found.table.columns[:3]
    ((150,), ['score', 'spread', 'near_spread'])
    """
    given = {"refits": refits, "seconds": seconds, "jump": jump, "rate": rate, "random_state": random_state}
    with measuring("reliability", _RULES, **given, n_jobs=n_jobs, verbose=verbose) as who:
        case = FittedMap(who, model, X, y, seed_of(random_state), jump=jump)
        with progress.showing(verbose, who):
            case.ask_memory()
            parts = case.compared()
            parts["jump"] = case.jumps() if jump else None
            made = 0
            intervals: dict[str, Interval] = {}
            parts |= NO_REFITS
            if refits is not None or seconds is not None:
                made, resampled, intervals = case.resampled(int(refits or _USUAL), seconds)
                parts |= resampled
        return Reliability(parts, intervals, made, float(rate))


class Places(NamedTuple):
    """A map without a model."""

    embedding_: NDArray[np.floating]


def reliability_of_maps(X: Any, maps: Mapping[str, NDArray], random_state: Any) -> dict[str, Reliability]:
    """Reliability of the rows of each of several maps of ``X``, whose neighbours in the data are sought once."""
    found: dict[str, Reliability] = {}
    near = None
    for name, Y in maps.items():
        case = FittedMap("reliability", Places(np.ascontiguousarray(Y)), X, None, seed_of(random_state), jump=False)
        case.ask_memory()
        if near is not None:
            case.near = near
        near = case.near
        found[name] = Reliability(case.compared() | NO_REFITS | {"jump": None}, {}, 0, _RATE)
    return found


def outlying(values: NDArray[np.float64], rate: float) -> NDArray[np.bool_]:
    """Which values (n,) are too large for the distribution of the lower half, at a rate of false alarms.

    Their logarithms are compared with a normal distribution with their median, and the standard deviation that its
    lower half has.

    >>> outlying(np.array([1.0, 1.1, 0.9, 1.0, 1.05, 0.95, 9.0]), 0.01).tolist()
    [False, False, False, False, False, False, True]
    """
    from scipy.stats import norm

    logs = np.log(values + 1e-3 * (np.median(values) or 1.0))
    middle = np.median(logs)
    width = max(middle - np.quantile(logs, norm.cdf(-1)), 1e-9)
    return np.asarray(logs > middle + norm.ppf(1 - rate) * width)


def _telling(spread: NDArray[np.float64]) -> float:
    """Weight of spreads, from 1 to 0: where they differ by much from row to row, most neighbourhoods are torn."""
    low, high = _ORDINARY
    width = float(np.std(np.log(spread + 1e-3 * (np.median(spread) or 1.0))))
    return min(1.0, max(0.0, (high - width) / (high - low)))


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks (n,) from 1, equal values sharing their mean; NaN counts as the median."""
    from scipy.stats import rankdata

    known = np.isfinite(values)
    middle = float(np.median(values[known])) if known.any() else 0.0
    return np.asarray(rankdata(np.where(known, values, middle)))


def _surprisal(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """``−log`` of the share of rows at least as high (n,)."""
    return -np.log1p(-(_ranks(values) - 0.5) / len(values))


def _known(parts: dict[str, NDArray[np.float64] | None], name: str) -> NDArray[np.float64]:
    value = parts[name]
    assert value is not None
    return value
