"""Which perplexity or number of neighbours: maps by several, compared on all rows, and their stability on samples."""

import warnings
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.compose.coranking import coranks
from lowdim.compose.metric_space import SampledRows, Space
from lowdim.relate.neighbor_places import common_share
from lowdim.relate.neighbors import nearest
from lowdim.relate.null_rows import exceedance, neighbor_distance, permuted_columns
from lowdim.work.backend_arrays import to_numpy
from lowdim.work.blockwise import float_dtype
from lowdim.work.progress import stage
from lowdim.work.random import stream
from lowdim.work.rows import searchable, take

if TYPE_CHECKING:
    import polars as pl

WORD = "choose"  # value of a parameter that is to be chosen
_VALUES = {  # at most six, which are as many fits
    "perplexity": (5, 10, 20, 30, 50, 100),
    "n_neighbors": (5, 8, 12, 15, 30, 60),
}
_FEWEST = 50  # rows
_MEASURED = 1000  # rows whose neighbourhoods are measured
_SAMPLE = 1000  # rows of the samples for stability
_SHARED = 0.5  # of the rows of both samples
_NEAREST = 15
_DRAWS = 19  # of permuted columns
_AS_GOOD = 0.01  # relative difference of areas that does not count
_DOUBT = 0.05


@dataclass(frozen=True, eq=False)
class Choice:
    """A value of a parameter, and why; returned by :func:`lowdim.choose`. Its text is the reason.

    Attributes
    ----------
    parameter, value : str, number
        What was chosen.
    reason : str
        Why, in words, with a warning if the data look like noise.
    table : polars DataFrame
        One row per value tried; of principal components, one per component.
    noise : float
        p-value of the test that neighbours are no closer than with columns shuffled independently; NaN if there is no
        such test for the metric.
    seconds, fits : float, int
        What it cost: fits of all rows; those of samples come on top, and are in the seconds.
    model : estimator
        The method with that value, fitted to all rows.
    """

    parameter: str
    value: Any
    reason: str
    columns: dict[str, list[Any]] = field(repr=False)
    noise: float
    seconds: float
    fits: int
    model: Any

    @property
    def table(self) -> "pl.DataFrame":
        """What was measured for each value."""
        import polars as pl

        return pl.DataFrame(self.columns)

    def __str__(self) -> str:
        return f"{self.parameter} = {self.value}: {self.reason}"


def to_choose(model: Any) -> str | None:
    """The parameter of an estimator that is to be chosen."""
    given = {name: getattr(model, name, None) for name in _VALUES}
    return next((name for name, value in given.items() if isinstance(value, str) and value == WORD), None)


def choose_value(model: Any, parameter: str, X: Any, y: Any, seed: int) -> Choice:
    """Fit copies of the unfitted ``model`` with several values of a parameter, and choose one.

    Of the values whose area under R_NX is within 1 % of the largest, the one whose map changes least from sample to
    sample is chosen; of equals, the smallest.
    """
    begun = perf_counter()
    n = int(X.shape[0])
    if n < _FEWEST:
        raise ValueError(
            f"{type(model).__name__}: {parameter}='choose' needs at least {_FEWEST} rows; got {n}. Pass 'auto'."
        )
    if getattr(model, "metric", None) == "precomputed":
        raise ValueError(
            f"{type(model).__name__}: {parameter}='choose' needs rows of features; got metric='precomputed'. Pass a "
            "number."
        )
    values = [value for value in _VALUES[parameter] if value < (n - 1) / 3]
    rng = stream(seed, "choose")
    measured = SampledRows(n, None if n <= _MEASURED else np.sort(rng.choice(n, _MEASURED, replace=False)))
    pair = _two_samples(rng, n)
    areas: list[float] = []
    steady: list[float] = []
    copies: dict[int, Any] = {}  # those that can still be chosen: each holds the rows
    residuals: list[float] = []
    with stage("values", total=len(values)) as tick, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the chosen fit is judged, not each that was tried
        space = Space("choose", X, _named_metric(model))
        for i, value in enumerate(values):
            copy = _copy(model, parameter, value, seed)
            copy.fit(X, y)
            Y = Space("choose", _map(copy.embedding_))
            areas.append(float(coranks(space, Y, measured).areas.mean()))
            steady.append(_stability(model, parameter, value, X, y, pair, seed))
            copies[i] = copy
            if hasattr(copy, "residual_variance_"):
                residuals.append(float(copy.residual_variance_[-1]))
            copies = {a: one for a, one in copies.items() if not _dominated(a, areas, steady)}
            tick(i + 1)
        noise = _noise(X, model, seed)
    best = max(areas)
    good = [i for i, area in enumerate(areas) if area >= best - _AS_GOOD * abs(best)]
    chosen = max(good, key=lambda i: (steady[i], -values[i]))
    reason = _reason(values, areas, steady, good, chosen)
    if noise >= _DOUBT:
        reason += (
            " The data have no more neighbourhood structure than with columns shuffled independently "
            f"(p = {noise:.2f}): no value is right for noise."
        )
    columns: dict[str, list[Any]] = {parameter: values, "rnx_auc": areas, "stability": steady}
    if residuals:
        columns["residual_variance"] = residuals
    return Choice(
        parameter, values[chosen], reason, columns, noise, perf_counter() - begun, len(values), copies[chosen]
    )


def _dominated(a: int, areas: list[float], steady: list[float]) -> bool:
    """Whether some other value is chosen before value ``a`` in any case."""
    others = (b for b in range(len(areas)) if b != a)
    return any(areas[b] >= areas[a] and (steady[b] > steady[a] or (steady[b] == steady[a] and b < a)) for b in others)


def adopt(model: Any, X: Any, y: Any, seed: int) -> None:
    """Choose the open parameter of an estimator, and take over what its best copy learnt."""
    name = to_choose(model)
    assert name is not None
    choice = choose_value(model, name, X, y, seed)
    params = set(model._get_param_names())
    model.__dict__.update({key: value for key, value in vars(choice.model).items() if key not in params})


def _reason(values: list[Any], areas: list[float], steady: list[float], good: list[int], chosen: int) -> str:
    top = int(np.argmax(areas))
    text = f"the area under R_NX is largest at {values[top]} ({areas[top]:.3f})"
    if len(good) > 1:
        text += (
            f"; {_listed([values[i] for i in good])} are within 1 % of it, and of these {values[chosen]} changes least "
            f"between samples ({steady[chosen]:.0%} of the neighbours stay)"
        )
    elif len(values) > 1:
        text += ", and no other value comes within 1 % of it"
    return text + "."


def _listed(values: list[Any]) -> str:
    return f"{', '.join(map(str, values[:-1]))} and {values[-1]}"


def _copy(model: Any, parameter: str, value: Any, seed: int) -> Any:
    from sklearn.base import clone

    copy = clone(model).set_params(**{parameter: value})
    quiet = {"verbose": 0, "callback": None, "random_state": seed}
    known = copy.get_params(deep=False)
    return copy.set_params(**{name: one for name, one in quiet.items() if name in known})


def _two_samples(rng: np.random.Generator, n: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Rows of two samples, the rows common to both first, and how many these are."""
    size = min(_SAMPLE, 2 * n // 3)
    common = int(_SHARED * size)
    order = rng.permutation(n)[: 2 * size - common]
    return order[:common], order[:size], np.concatenate([order[:common], order[size:]])


def _stability(
    model: Any, parameter: str, value: Any, X: Any, y: Any, pair: tuple[NDArray[np.intp], ...], seed: int
) -> float:
    """Share of neighbours that the rows common to two samples keep from one map to the other."""
    common, *samples = pair
    maps = []
    for r, rows in enumerate(samples):
        if value >= (len(rows) - 1) / 2:
            return 0.0
        own = None if y is None else np.asarray(y)[rows]
        copy = _copy(model, parameter, value, seed + r).fit(take(X, rows), own)
        maps.append(_map(copy.embedding_)[: len(common)])
    k = min(_NEAREST, len(common) - 1)
    return float(common_share(*(nearest(Y, k, how="exact").indices for Y in maps)).mean())


def _map(Y: Any) -> NDArray[np.float64]:
    return np.ascontiguousarray(to_numpy(Y), dtype=np.float64)


def _named_metric(model: Any) -> str:
    metric = getattr(model, "metric", "euclidean")
    return metric if metric in ("euclidean", "cosine", "manhattan") else "euclidean"


def _noise(X: Any, model: Any, seed: int) -> float:
    """P-value of neighbours being as close as with permuted columns."""
    rng = stream(seed, "rows of a null")
    n = int(X.shape[0])
    rows = X if n <= _MEASURED else take(X, np.sort(rng.choice(n, _MEASURED, replace=False)))
    if X.shape[1] < 2:
        return float("nan")
    rows = rows if hasattr(rows, "tocsr") else to_numpy(rows)
    drawn = [rows, *(permuted_columns(rows, stream(seed, "null permuted", j)) for j in range(_DRAWS))]
    metric = getattr(model, "_metric", "euclidean")
    found = [
        neighbor_distance(nearest(searchable(one, float_dtype(one.dtype)), _NEAREST, None, metric, "exact").distances)
        for one in drawn
    ]
    return exceedance(found[0], np.array(found[1:]), lower=True)
