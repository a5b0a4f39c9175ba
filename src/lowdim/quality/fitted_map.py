"""A fitted model, its rows and their places: where neighbours lie, perturbed rows, and refits of samples."""

import warnings
from collections.abc import Iterator
from functools import cached_property
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.compose.metric_space import demand_same_length, rows_of
from lowdim.relate.neighbor_places import common_share, region_overlap, spreads
from lowdim.relate.neighbors import nearest
from lowdim.work import memory
from lowdim.work.backend_arrays import from_numpy, moved_to, to_numpy
from lowdim.work.blockwise import float_dtype
from lowdim.work.dispatch import backend_of, is_distributed
from lowdim.work.progress import stage
from lowdim.work.random import stream
from lowdim.work.rows import in_form_of, searchable, take

FEWEST = 50  # rows
NEAREST = 15  # neighbours
_FEW = 5  # nearest map neighbours whose data neighbours are compared
_DIRECTIONS = 128  # random directions of the region overlap
_TOGETHER = 1e-4  # widths of a map: neighbours nearer than this are together
_KEPT = 0.8  # share of the rows in each refit
_CHECKED = 20  # rows whose position must be that of the map
_AXES = 3  # principal axes along which rows are moved
_INTERVAL = 0.95  # of bootstrap intervals


class Interval(NamedTuple):
    """Bootstrap interval of an attribute of a model: its value, and the ends, arrays of its shape."""

    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


class FittedMap:
    """A fitted model, its rows and their places."""

    def __init__(self, who: str, model: Any, X: Any, y: Any, seed: int, *, jump: bool) -> None:
        if is_distributed(X):
            raise TypeError(f"{who}: rows in memory are needed; got a Dask collection. Pass a sample that fits.")
        if hasattr(model, "steps") and hasattr(model, "named_steps"):
            X = X if len(model.steps) == 1 else model[:-1].transform(X)
            model = model.steps[-1][1]
        if hasattr(model, "as_linear"):  # it takes a table
            X, model = model.as_linear(X)
        if not hasattr(model, "embedding_") and not hasattr(model, "transform"):
            raise TypeError(
                f"{who}: a fitted model with embedding_ or transform is needed; got a {type(model).__name__}. Pass an "
                "estimator, as in reliability(TSNE().fit(X), X)."
            )
        if not hasattr(model, "embedding_"):
            _demand_fitted(who, model)
        self.who, self.model, self.y, self.seed = who, model, y, seed
        self.X = rows_of(who, X, "X", minimum=FEWEST)
        self.n, self.k = int(self.X.shape[0]), NEAREST
        if y is not None and len(y) != self.n:
            raise ValueError(
                f"{who}: y must have one label for each of the {self.n:,} rows; got {len(y):,}. Pass those of X."
            )
        self.given = getattr(model, "metric", None) == "precomputed"
        if jump and (self.given or not hasattr(model, "transform")):
            raise ValueError(f"{who}: jump=True needs rows of features and a model with transform. Pass jump=False.")
        # A map keeps its rows; any other model places them.
        self.kept = getattr(model, "embedding_", None)
        self.Y = self._places()
        self.width = _width(self.Y)

    def _places(self) -> Any:
        if self.kept is None:
            return moved_to(self._placed(self.X), self.X)
        demand_same_length(self.who, self.kept, self.X, ("the map of the model", "X"))
        Y = moved_to(self.kept, self.X)
        if hasattr(self.model, "transform") and not self.given:
            some = np.unique(np.linspace(0, self.n - 1, _CHECKED).astype(int))
            there, here = (to_numpy(A).astype(np.float64) for A in (self._placed(take(self.X, some)), Y))
            scale = float(here.std()) or 1.0
            if not np.allclose(there, here[some], rtol=0, atol=1e-3 * scale):
                raise ValueError(
                    f"{self.who}: X must be the rows that the {type(self.model).__name__} was fitted on, in their "
                    "order; some have another place. Pass these rows, or use trust(X) for new ones."
                )
        return Y

    def _placed(self, X: Any) -> Any:
        """Places of rows by the model; those of a DataFrame have lost their names."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            return self.model.transform(X)

    def ask_memory(self) -> None:
        """Require memory for neighbours, regions and, by the model's own estimate, for a refit."""
        each = 8.0 * self.k * 6 + 4.0 * _DIRECTIONS * 6
        memory.require(self.n * each, f"{self.who}: {self.n:,} rows", "Pass a sample of the rows.", self.X)

    def _near(self, X: Any, *, places: bool = False) -> Any:
        """Neighbours (n, 15) of rows, or of places on the map."""
        metric = "euclidean" if places else getattr(self.model, "_metric", "euclidean")
        X = searchable(X, np.float64 if places and backend_of(X) is None else float_dtype(X.dtype))
        return nearest(X, self.k, None, metric, "auto", self.seed).indices

    @cached_property
    def near(self) -> Any:
        """Neighbours (n, 15) in the data."""
        return self._near(self.X)

    @cached_property
    def there(self) -> Any:
        """Neighbours (n, 15) on the map."""
        return self._near(self.Y, places=True)

    def compared(self) -> dict[str, Any]:
        """Scores that need no refit."""
        directions = stream(self.seed, "regions").standard_normal((self.n, _DIRECTIONS), dtype=np.float32)
        few = [common_share(self.near, take(self.near, self.there[:, j])) for j in range(_FEW)]
        found = {
            "spread": spreads(self.Y, self.near) / self.width,
            "near_spread": spreads(self.Y, self.near[:, :_FEW]) / self.width,
            "map_spread": spreads(self.Y, self.there) / self.width,
            "overlap": region_overlap(self.near, self.there, from_numpy(directions, self.near)),
            "shared": sum(few[1:], few[0]) / _FEW,
            "recall": common_share(self.near, self.there),
        }
        return {name: to_numpy(value).astype(np.float64) for name, value in found.items()}

    def jumps(self) -> NDArray[np.float64]:
        """Largest move (n,) of a row that is moved in the data by the distance to its fifth neighbour, and placed."""
        X = to_numpy(in_form_of(self.X, np.empty((1, 1)))).astype(np.float64)
        centred = X - X.mean(axis=0)
        axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :_AXES].T if X.shape[1] <= self.n else _wide(centred)
        fifth = to_numpy(take(self.near, np.arange(self.n)))[:, 4]
        reach = np.sqrt(((X - X[fifth]) ** 2).sum(axis=1))[:, None]
        Y, most = to_numpy(self.Y).astype(np.float64), np.zeros(self.n)
        with stage("jumps", total=2 * len(axes)) as tick:
            for i, step in enumerate(sign * axis for axis in axes for sign in (1, -1)):
                moved = in_form_of((X + reach * step).astype(float_dtype(self.X.dtype)), self.X)
                Z = to_numpy(self._placed(moved_to(moved, self.X))).astype(np.float64)
                most = np.maximum(most, np.sqrt(((Z - Y) ** 2).sum(axis=1)))
                tick(i + 1)
        return most / self.width

    def resampled(self, refits: int, seconds: float | None) -> tuple[int, dict[str, Any], dict[str, Interval]]:
        """Number of refits made, stability of each row, spread of its map neighbours, and bootstrap intervals."""
        total, squares, logs = np.zeros(self.n), np.zeros(self.n), np.zeros(self.n)
        count, seen = np.zeros(self.n, int), np.zeros(self.n, int)
        drawn: dict[str, list[NDArray]] = {}
        end = None if seconds is None else perf_counter() + seconds
        made = 0
        with stage("refits", total=refits) as tick:
            for made, (rows, copy, Z) in enumerate(self._refits(refits), start=1):
                here, there = (self._near(A, places=True) for A in (take(self.Y, rows), take(Z, rows)))
                kept = to_numpy(common_share(here, there))
                total[rows] += kept
                squares[rows] += kept**2
                count[rows] += 1
                apart = to_numpy(spreads(Z, self.there)) / _width(take(Z, rows))
                known = np.isfinite(apart)
                logs[known] += np.log(apart[known] + _TOGETHER)
                seen[known] += 1
                for name in ("components_", "explained_variance_"):
                    if hasattr(copy, name) and np.shape(getattr(copy, name)) == np.shape(getattr(self.model, name)):
                        drawn.setdefault(name, []).append(to_numpy(getattr(copy, name)).astype(np.float64))
                tick(made)
                if end is not None and perf_counter() > end:
                    break
        with np.errstate(invalid="ignore", divide="ignore"):
            stability = total / count
            error = np.sqrt(np.maximum(squares / count - stability**2, 0) / (count - 1.0))
            error[count < 2] = np.nan
            found = {"stability": stability, "error": error, "refit_spread": np.exp(logs / seen)}
        value = {name: to_numpy(getattr(self.model, name)).astype(np.float64) for name in drawn}
        return made, found, {name: _interval(value[name], copies) for name, copies in drawn.items()}

    def _refits(self, refits: int) -> Iterator[tuple[NDArray[np.intp], Any, Any]]:
        """Rows of each sample, the copy fitted on them, and the places of all rows, NaN where it has none.

        Models with components are fitted on bootstrap samples, of as many rows as there are.
        """
        from sklearn.base import clone

        whole = self.kept is None and hasattr(self.model, "components_")
        for r in range(refits):
            rng = stream(self.seed, "refit", r)
            drawn = (
                rng.integers(self.n, size=self.n)
                if whole
                else np.sort(rng.choice(self.n, int(_KEPT * self.n), replace=False))
            )
            copy = clone(self.model)
            known = copy.get_params(deep=False)
            changed = {"random_state": int(rng.integers(2**31)), "verbose": 0, "callback": None, "warm_start": False}
            copy.set_params(**{name: value for name, value in changed.items() if name in known})
            if hasattr(known.get("init"), "__len__") and not isinstance(known["init"], str):
                copy.set_params(init=take(known["init"], drawn))
            X = take(self.X, drawn)
            copy.fit(X[:, drawn] if self.given else X, None if self.y is None else np.asarray(self.y)[drawn])
            if self.kept is None:
                yield np.unique(drawn), copy, moved_to(copy.transform(self.X), self.X)
                continue
            full = np.full((self.n, int(self.Y.shape[1])), np.nan)
            full[drawn] = to_numpy(copy.embedding_)
            yield drawn, copy, from_numpy(full, self.near)


def _interval(value: NDArray[np.float64], copies: list[NDArray[np.float64]]) -> Interval:
    """Quantiles over the copies, each component with the sign of the model's own."""
    drawn = np.array(copies)
    if value.ndim == 2:
        drawn *= np.where((drawn * value).sum(axis=2, keepdims=True) < 0, -1, 1)
    low, high = np.quantile(drawn, [(1 - _INTERVAL) / 2, (1 + _INTERVAL) / 2], axis=0)
    return Interval(value, low, high)


def _width(Y: Any) -> float:
    """Root mean square distance of places from their centre."""
    places = to_numpy(Y).astype(np.float64)
    return float(np.sqrt(((places - places.mean(axis=0)) ** 2).sum(axis=1).mean())) or 1.0


def _wide(centred: NDArray[np.float64]) -> NDArray[np.float64]:
    """Principal axes (3, d) of few rows with many columns."""
    _, vectors = np.linalg.eigh(centred @ centred.T)
    axes = (centred.T @ vectors[:, ::-1][:, :_AXES]).T
    return np.asarray(axes / np.maximum(np.linalg.norm(axes, axis=1, keepdims=True), 1e-300))


def _demand_fitted(who: str, model: Any) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except (NotFittedError, TypeError):
        raise ValueError(
            f"{who}: a fitted model is needed; this {type(model).__name__} is not. Call fit(X) first."
        ) from None
