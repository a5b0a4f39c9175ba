"""What maps are drawn to: a model, an array, or the principal components, given as ``anchors`` of an estimator.

Which rows are shared, with which weight, and where the descent starts is decided here, for all methods.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from lowdim.compose import layout, stress_starts
from lowdim.data import options, validation
from lowdim.data.shared_rows import partners
from lowdim.methods import choosing
from lowdim.methods.base import Reducer, fitting
from lowdim.relate.equal_rows import find_equal
from lowdim.solve.anchors import Anchors, strengths
from lowdim.solve.procrustes import motion
from lowdim.work.backend_arrays import from_numpy, is_native, moved_to, to_numpy
from lowdim.work.rows import in_form_of, put, searchable, stacked

WORDS = ("pca", "mds")  # maps that are computed, at a scale that is fitted
_SHORTER = 3.5  # times, descents in which most rows are pinned
_FEW = 0.1  # share of anchored rows below which the others do not start among them
_many = options.Rule(lambda value: not isinstance(value, str) and hasattr(value, "__len__"), "an array")
RULES = {
    "anchors": options.none
    | options.one_of(*WORDS)
    | options.Rule(
        lambda value: not isinstance(value, str | type) and (hasattr(value, "fit") or hasattr(value, "__len__")),
        "a fitted model or an array (n_rows, n_components)",
    ),
    "anchor_weight": options.real(0, 1, closed="both") | _many,
}


class Given(NamedTuple):
    """Rows and settings that anchors are resolved for: ``pca`` and ``mds`` compute maps (n, k) of the rows."""

    X: Any  # None for relations without rows
    given: Any  # as the caller passed them
    n: int
    k: int
    shared: Any
    maps: dict[str, Callable[[], Any]]


@dataclass(frozen=True, eq=False)
class Drawn:
    """Positions (n, k) that rows are drawn to, which of them have one, and the share λ (n,) of each, 0 without."""

    places: NDArray[np.float64]
    known: NDArray[np.bool_]
    shares: NDArray[np.float64]
    scaled: bool = False

    @property
    def pinned(self) -> NDArray[np.bool_]:
        """Rows that do not move."""
        return self.shares >= 1

    @property
    def leads(self) -> bool:
        """Whether so many rows have a position that the others start among them."""
        return not self.scaled and float(self.known.mean()) >= _FEW

    @property
    def size(self) -> float:
        """Mean squared distance of the anchors from their mean, 1 of those whose scale is fitted."""
        return 1.0 if self.scaled else float(self.places[self.known].var(axis=0).sum()) or 1.0

    def iterations(self, of: int) -> int:
        """Iterations of a descent that has ``of`` without anchors: fewer where most rows are at rest."""
        pinned = float(self.pinned.mean())
        return 0 if pinned == 1 else int(np.ceil(of / _SHORTER)) if pinned > 1 / 2 and not self.scaled else of

    def of_equal(self, first: NDArray | None) -> "Drawn":
        """The same, with rows pinned that equal a pinned row."""
        if first is None or not self.pinned.any():
            return self
        at = np.full(len(self.shares), -1, np.int64)  # the first pinned row of each group
        rows = np.flatnonzero(self.pinned)[::-1]
        at[first[rows]] = rows
        with_them = ~self.pinned & (at[first] >= 0)
        places = self.places.copy()
        places[with_them] = self.places[at[first[with_them]]]
        return replace(self, places=places, known=self.known | with_them, shares=np.where(with_them, 1.0, self.shares))

    def turned(self, Y: NDArray) -> "Drawn":
        """The anchors turned towards the layout ``Y``."""
        return replace(self, places=self.places @ motion(self.places, Y, scaled=False).rotation)

    def moved(self, Y: NDArray) -> NDArray[np.float64]:
        """The layout ``Y`` moved and scaled towards the anchors, with known rows at theirs."""
        known = self.known
        Y = motion(Y[known], self.places[known]).of(Y) if known.sum() > 1 else Y + (self.places - Y)[known].mean(axis=0)
        return np.where(known[:, None], self.places, Y)

    def for_descent(self, unit: float, like: Any) -> Anchors:
        """Anchors of a descent whose loss has this unit, on the backend of ``like``."""
        places = self.places.astype(np.float32)
        weights = strengths(self.shares, unit / self.size)
        return Anchors(from_numpy(places, like), from_numpy(weights, like), self.scaled)

    def held(self, Y: Any) -> Any:
        """The map with pinned rows exactly where they were."""
        rows = np.flatnonzero(self.pinned)
        return put(Y, rows, from_numpy(self.places[rows].astype(str(Y.dtype).removeprefix("torch.")), Y))


class Anchored(Reducer, ABC):
    """A method with ``anchors``: they are kept by clones and in model files, and ``extend`` adds rows to a map."""

    anchors: Any
    anchor_weight: Any
    embedding_: NDArray
    _rows: Any

    def __sklearn_clone__(self) -> Self:
        """Unfitted copy with the same anchors; scikit-learn would copy a model without what it has learnt."""
        params: dict[str, Any] = self.get_params(deep=False)
        kept = {"anchors": params.pop("anchors")}
        return type(self)(**{name: clone(value, safe=False) for name, value in params.items()}, **kept)

    def _params_for_file(self) -> dict[str, Any]:
        params = super()._params_for_file()
        model = params["anchors"]
        if hasattr(model, "fit"):
            if isinstance(model, Anchored):  # its own anchors have done their work
                state = model._state_for_file()
                params["anchors"] = state | {"params": state["params"] | {"anchors": None}}
            else:
                params["anchors"] = positions(model, self._name)
        return params

    @classmethod
    def _params_from_file(cls, params: dict[str, Any]) -> dict[str, Any]:
        from lowdim.methods.loading import revived

        params = super()._params_from_file(params)
        if isinstance(params.get("anchors"), dict):
            params = params | {"anchors": revived(params["anchors"])}
        return params

    def _drawn(self, about: Given) -> Drawn | None:
        """What the rows are drawn to; None without anchors or with a weight of 0."""
        if self.anchors is None:
            if about.shared is not None:
                raise ValueError(
                    f"{self._name}: shared= names rows of the anchors; got anchors=None. Pass a model or an array."
                )
            return None
        scaled = isinstance(self.anchors, str)
        shares = self._shares(about.n)
        if scaled:
            if about.shared is not None:
                raise ValueError(f"{self._name}: anchors={self.anchors!r} has all rows. Leave shared= out.")
            if (shares >= 1).any() and not (shares >= 1).all():
                raise ValueError(
                    f"{self._name}: anchors={self.anchors!r} are scaled to fit the map, so that single rows cannot be "
                    "pinned; got an anchor_weight of 1. Pass less, or the map as an array."
                )
            if not shares.any():
                return None
            places = np.asarray(to_numpy(about.maps[self.anchors]()), np.float64)
            return Drawn(places, np.ones(about.n, bool), shares, not (shares >= 1).all())
        places = positions(self.anchors, self._name)
        if places.shape[1] != about.k:
            raise ValueError(
                f"{self._name}: anchors must have n_components={about.k} columns; got {places.shape[1]}. Pass a map of "
                "as many dimensions, or set n_components."
            )
        other = self._partners(about, len(places))
        known = other >= 0
        shares = np.where(known, shares, 0.0)
        places = np.where(known[:, None], places[other], 0.0)
        return Drawn(places, known, shares) if shares.any() else None

    def _shares(self, n: int) -> NDArray[np.float64]:
        given = np.asarray(self.anchor_weight)
        if given.dtype.kind not in "biuf" or given.shape not in ((), (n,)):
            raise ValueError(
                f"{self._name}: anchor_weight must be a number in [0, 1], or one for each of the {n} rows; got "
                f"{given.dtype} of shape {given.shape}."
            )
        wrong = ~((given >= 0) & (given <= 1))
        if wrong.any():
            raise ValueError(
                f"{self._name}: anchor_weight must lie in [0, 1]; got {np.atleast_1d(given)[np.atleast_1d(wrong)][0]}. "
                "0 ignores anchors, 1 pins rows."
            )
        return np.broadcast_to(given.astype(np.float64), (n,))

    def _partners(self, about: Given, m: int) -> NDArray[np.int64]:
        """For each row the anchor that it shares, −1 for none: as given, or that of an equal row."""
        name, rows = self._name, getattr(self.anchors, "_rows", None)
        if about.shared is not None:
            return partners(about.shared, about.given, about.n, m, name)
        given = getattr(self.anchors, "metric", None) == "precomputed"
        if rows is not None and about.X is not None and not given and rows.shape[1] == about.X.shape[1]:
            A = moved_to(rows, about.X)
            found = to_numpy(find_equal(A, searchable(in_form_of(about.X, A), A.dtype)))
            if (found >= 0).any():
                return found
            if m != about.n:
                raise ValueError(
                    f"{name}: no row of X equals one of the anchors. Pass shared=, which row is which; or leave the "
                    "anchors out."
                )
        if m != about.n:
            raise ValueError(
                f"{name}: anchors of {m} rows and {about.n} rows of X: pass shared=, which of them are the same."
            )
        return np.arange(about.n)

    def extend(self, X: Any) -> Self:
        """Map of the training rows and of new ones: the old rows stay, the new ones are laid out together.

        ``transform`` places each new row by itself among the training rows. Here new rows attract and repel each
        other, too, so that those unlike all others form a group of their own. Only they are searched for neighbours,
        and only they move: the old rows keep their relations to each other. Many rows of more than 128 columns are
        searched approximately unless ``neighbor_search`` is "exact"; see ``neighbor_recall_``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            New rows, with the features seen in ``fit``; for ``metric="precomputed"`` their distances to the training
            rows and to each other, (n_samples, n_training_samples + n_samples).

        Returns
        -------
        estimator
            A new model of all rows, the old ones first. Their positions have the same bits as before, so that its
            ``embedding_`` is not centred. This object is left as it is.
        """
        check_is_fitted(self)
        copy = clone(self)
        if (name := choosing.to_choose(copy)) is not None:  # what was chosen stays
            setattr(copy, name, getattr(self, f"{name}_"))
        copy._extend(X, self)
        return copy

    @fitting
    def _extend(self, X: Any, old: Any) -> None:
        """Fit the rows of ``old`` and the new ones ``X``, with the old ones pinned."""
        seen = {key: value for key, value in vars(old).items() if key in ("n_features_in_", "feature_names_in_")}
        self.__dict__.update(seen)
        old._demand_extendable()
        X = old._with_new_rows(self, X)
        places = np.zeros((X.shape[0], old.embedding_.shape[1]))
        known = np.zeros(X.shape[0], bool)
        before = len(old.embedding_)
        places[:before], known[:before] = to_numpy(old.embedding_), True
        self._learn_more(X, Drawn(places, known, known.astype(np.float64)), old)
        if self.n_features_in_ == seen["n_features_in_"]:  # not so of distances
            self.__dict__.update(seen)

    @fitting
    def _fit_drawn(self, X: Any, drawn: Drawn) -> None:
        """Fit the rows, drawn to given positions instead of ``anchors``."""
        self._learn_anchored(X, drawn)

    @abstractmethod
    def _demand_extendable(self) -> None:
        """Refuse maps that cannot be extended."""

    def _with_new_rows(self, copy: Any, X: Any) -> Any:
        """The training rows and the new ones, which have the same features; distances among all of them."""
        if getattr(self, "metric", None) == "precomputed":
            copy.__dict__.pop("n_features_in_", None)  # which grows
            return with_distances(self._rows, validation.rows(X, self._name, sparse=True), self._name)
        X = copy._take(X, reset=False, sparse=True)
        rows = moved_to(self._rows, X)
        return stacked(rows, searchable(in_form_of(X, rows), rows.dtype))

    def _learn_more(self, X: Any, drawn: Drawn, old: Any) -> None:
        """Fit the rows of ``old`` and new ones below them, with the old ones pinned."""
        self._learn_anchored(X, drawn)

    @abstractmethod
    def _learn_anchored(self, X: Any, drawn: Drawn) -> None:
        """Fit rows that are drawn to positions."""


def started(
    before: Any, drawn: Drawn | None, laid_out: Callable[[], Any], graph: Callable[[], Any], seed: int
) -> tuple[Any, bool, Drawn | None]:
    """Initial map, whether it continues an earlier one, and the anchors turned towards it.

    ``before`` is the map of a warm start; ``laid_out`` computes the layout of a map without anchors, ``graph`` the
    sparse rows by which rows without anchors find their place among the others.
    """
    if before is not None:
        return before, True, drawn
    if drawn is not None and drawn.leads:
        rows = graph()
        places, known = from_numpy(drawn.places, rows[0]), from_numpy(drawn.known, rows[0])
        return layout.continued(rows, places, known, seed), True, drawn
    Y = laid_out()
    if drawn is None:
        return Y, False, None
    if drawn.scaled:
        return Y, False, drawn.turned(to_numpy(Y))
    return from_numpy(drawn.moved(to_numpy(Y)), Y), False, drawn


def maps_of(model: Any, X: Any, seed: int) -> dict[str, Callable[[], Any]]:
    """Maps (n, k) of the rows by which a model's own can be anchored."""
    name, k = type(model).__name__, int(model.n_components)

    def components() -> Any:
        if X is None or model.metric == "precomputed":
            raise ValueError(f"{name}: anchors='pca' needs rows of features; got none. Pass a map as an array.")
        return layout.components(X, k, seed)

    def scaling() -> Any:
        graph = sp.issparse(X) and model.metric == "precomputed"
        if X is None or graph:
            what = "a sparse graph, which holds some distances" if graph else "none"
            raise ValueError(
                f"{name}: anchors='mds' needs rows, or the distances of all pairs; got {what}. Pass a map as an array."
            )
        return stress_starts.metric_map(X if sp.issparse(X) else to_numpy(X), model._metric, k, seed, name)

    return {"pca": components, "mds": scaling}


def with_distances(D: Any, X: Any, name: str) -> Any:
    """Distances among all rows: ``D`` (n, n) among the old ones, ``X`` (m, n + m) of the new ones to all."""
    n, m = D.shape[0], X.shape[0]
    if X.shape[1] != n + m:
        raise ValueError(
            f"{name}: extend needs the distances of {m} new rows to the {n} training rows and to each other, {n + m} "
            f"columns; got {X.shape[1]}. Append those that are missing."
        )
    if not is_native(X) or sp.issparse(X) != sp.issparse(D):
        raise ValueError(f"{name}: distances of new rows must be of the kind that fit was given. Convert them.")
    X = X.astype(D.dtype)
    return stacked(stacked(D, X[:, :n]).T, X).T


def positions(anchors: Any, name: str, called: str = "anchors") -> NDArray[np.float64]:
    """Positions (n, k) of a fitted model or in an array, finite; ``called`` is what the caller names them."""
    if hasattr(anchors, "fit"):
        steps = getattr(anchors, "steps", None)
        model = steps[-1][1] if steps else anchors
        Y = getattr(model, "embedding_", None)
        if Y is None:
            raise ValueError(
                f"{name}: {called} must be a fitted model with an embedding_; got {type(model).__name__} without. "
                "Fit it first, or pass its map as an array."
            )
    else:
        Y = anchors
    try:
        Y = np.asarray(to_numpy(Y))
        if Y.dtype.kind not in "biuf":
            raise TypeError(str(Y.dtype))
        Y = Y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {called} must be numbers; got {type(anchors).__name__} ({error}).") from None
    if Y.ndim != 2 or not np.isfinite(Y).all():
        what = f"an array of shape {Y.shape}" if Y.ndim != 2 else "NaN or infinity in them"
        raise ValueError(
            f"{name}: {called} must be finite positions (n_rows, n_components); got {what}. Leave rows without a "
            "position out, and say by shared= which rows the others are."
        )
    return Y
