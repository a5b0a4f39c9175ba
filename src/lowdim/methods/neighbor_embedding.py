"""Base class of SNE, t-SNE, UMAP and PaCMAP: neighbours, initial layout, descent, positions of new rows.

A subclass computes the input of the loss from the neighbours in ``_relations``, and defines the loss in ``_loss``.
Such an input may be given instead of computed, with or without rows.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from time import perf_counter
from typing import Any, ClassVar, Self
from typing import cast as cast_to

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.compose import layout
from lowdim.data import options
from lowdim.data.precomputed import demand_distances, find_zero, first_equal, least_stored
from lowdim.methods import anchoring
from lowdim.methods.anchoring import Anchored, Drawn, Given, maps_of, started
from lowdim.methods.base import METRIC_RULES, Call, applying
from lowdim.methods.callbacks import calling_back
from lowdim.methods.embedding import EmbeddingReducer
from lowdim.methods.neighbor_jacobian import neighbor_jacobian
from lowdim.persist import fields
from lowdim.relate.affinities import with_nearest
from lowdim.relate.equal_rows import all_differ, find_equal, merge_equal
from lowdim.relate.neighbors import Neighbors, demand_singles, nearest
from lowdim.relate.trust import NEAREST, Familiar, familiar
from lowdim.relate.trust import trust as trusted
from lowdim.solve.descent import MOST_DIMENSIONS, Descended, Loss, Reached, descend, place
from lowdim.work import memory
from lowdim.work.backend_arrays import from_numpy, is_native, moved_to, to_numpy
from lowdim.work.blockwise import float_dtype
from lowdim.work.random import seed_of
from lowdim.work.rows import cast, in_form_of, own, searchable, take
from lowdim.work.user_warnings import warn

RULES = {
    "n_components": options.integer(1),
    "init": options.one_of("pca", "spectral", "random")
    | options.Rule(lambda value: not isinstance(value, str) and hasattr(value, "__len__"), "an array"),
    **METRIC_RULES,
    **anchoring.RULES,
    "neighbor_search": options.one_of("auto", "exact", "approximate"),
    "callback": options.none | options.Rule(callable, "a function (iteration, loss, embedding)"),
    "callback_every": options.integer(1),
    "warm_start": options.flag,
    "random_state": options.seed,
    "n_jobs": options.jobs,
    "verbose": options.integer(0),
}


def _with_optional_rows(method: Call) -> Call:
    @wraps(method)
    def call(self: Any, X: Any = None, *args: Any, **kwargs: Any) -> Any:
        return method(self, X, *args, **kwargs)

    return cast_to(Call, call)


class NeighborEmbedding(Anchored, EmbeddingReducer, ABC):
    """An embedding computed from the nearest neighbours of rows.

    ``_rows`` is None for a map of relations that were given without rows.
    """

    _rules = RULES
    _stages: ClassVar[tuple[str, str]] = ("graph", "loss")  # names in ``timings_`` of what a subclass does itself
    n_neighbors: Any  # for methods that report it
    init: Any
    metric: str
    neighbor_search: str
    callback: Callable[[int, float, NDArray], Any] | None
    callback_every: int
    warm_start: bool
    random_state: Any
    timings_: dict[str, float]
    _held: int | None = None  # neighbours that a graph of distances stores for each row
    n_iter_: int
    loss_curve_: NDArray
    loss_iterations_: NDArray

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Let ``fit_transform`` be called without X, which scikit-learn's wrapper of outputs demands."""
        super().__init_subclass__(**kwargs)
        if "fit_transform" in vars(cls):
            cls.fit_transform = _with_optional_rows(cls.fit_transform)  # type: ignore[method-assign]

    @abstractmethod
    def _demand_parameters(self, n: int, y: Any, *, native: bool) -> None:
        """Refuse parameters that do not suit n rows, before any work, and store what follows from them."""

    @abstractmethod
    def _near_each(self, n: int) -> int:
        """Number of neighbours of each of n rows that are used."""

    @abstractmethod
    def _relations(self, X: Any, near: Neighbors, y: Any, seed: int) -> Any:
        """Input of the loss, computed from the neighbours."""

    @abstractmethod
    def _weights(self, near: Neighbors) -> NDArray[np.float32]:
        """Weights (m, near) of the neighbours of new rows."""

    @abstractmethod
    def _loss(self, n: int, seed: int, *, again: bool) -> Loss:
        """Loss of a map of n rows; ``again`` if the descent continues from an earlier one."""

    @abstractmethod
    def _iterations(self, n: int) -> int:
        """Iterations of the descent."""

    @abstractmethod
    def _keep_loss(self, reached: Reached) -> None:
        """Store the loss reached."""

    def _graph_of(self, relations: Any) -> Any:
        """Sparse symmetric rows for ``init="spectral"``."""
        return relations

    def _learn_rows(self, X: Any, seed: int) -> Any:
        """Rows among which the neighbours of ``X`` are searched."""
        return X

    def _fitted_rows(self) -> Any:
        """Rows to search among, for the rows seen in ``fit``."""
        return self._rows

    def _new_rows(self, X: Any) -> Any:
        """Rows to search among, for new rows."""
        return X

    def _learn(self, X: Any, y: Any, relations: Any = None, shared: Any = None, drawn: Drawn | None = None) -> Any:
        given, (X, n, before) = X, self._demand_possible(X, y, relations)
        seed, dtype, self.timings_ = seed_of(self.random_state), self._dtype_for(X, relations), {}
        drawn = drawn or self._drawn(Given(X, given, n, int(self.n_components), shared, maps_of(self, X, seed)))
        relations, Z, first, close = self._relate(X, y, seed, relations)
        with self._timed("start"):
            drawn = drawn and drawn.of_equal(None if first is None else to_numpy(first))
            Y, again, drawn = started(
                before, drawn, lambda: self._layout(Z, n, relations, seed), lambda: self._graph_of(relations), seed
            )
        loss = self._loss(n, seed, again=again)
        with self._timed("descent"):
            like = relations[0] if given is None else given
            found = self._descend(relations, Y, first, loss, lambda Y: moved_to(cast(Y, dtype), like), drawn)
        with self._timed(self._stages[1]):
            reached = loss.at(relations, found.embedding)
        self._keep_descent(found, reached, close, again=before is not None)
        self._rows, self._fitted, Y = None if X is None else own(X), None, cast(found.embedding, dtype)
        self.embedding_ = Y if drawn is None else drawn.held(Y)
        return relations

    def _keep_descent(self, found: Descended, reached: Reached, close: tuple[Any, Any] | None, *, again: bool) -> None:
        """Store the loss, its trace, which a warm start extends, and what ``trust`` needs."""
        self._keep_loss(reached)
        self._forget(("_held",))  # of the graph given, which the model does not keep
        old = (self.n_iter_, self.loss_iterations_, self.loss_curve_) if again else (0, [], [])
        self.n_iter_, self.loss_iterations_, self.loss_curve_ = found.trace(reached.value, *old)
        if close is not None:
            self._spacings, self._loosenesses, self._spreads, self._worse = familiar(*close, found.embedding)

    def _learn_anchored(self, X: Any, drawn: Drawn) -> None:
        self._learn(X, None, drawn=drawn)

    def _demand_extendable(self) -> None:
        self._demand_rows("extend")

    def _learn_from(self, X: Any, y: Any, relations: Any, shared: Any = None) -> Self:
        """Fit the rows, or the relations given, or both."""
        if X is None and relations is None:
            raise ValueError(f"{self._name}: fit needs rows; got X=None. Pass X, of shape (n_samples, n_features).")
        self._learn(X, y, relations, shared)
        return self

    def _relate(
        self, X: Any, y: Any, seed: int, relations: Any
    ) -> tuple[Any, Any, NDArray | None, tuple[Any, Any] | None]:
        """Input of the loss, the rows searched, the first row that equals each (None: all differ), and the closest
        neighbours, by which ``trust`` judges new rows.
        """
        if X is None:
            self.neighbor_search_, self.neighbor_recall_ = "given", None
            self._forget(("n_features_in_", "feature_names_in_", "_spacings", "_loosenesses", "_spreads", "_worse"))
            return self._given_relations(relations, None, y), None, None, None
        with self._timed("neighbors"):
            Z = self._learn_rows(X, seed)
            near = nearest(Z, self._near_each(X.shape[0]), None, self._metric, self.neighbor_search, seed)
        with self._timed(self._stages[0]):
            if relations is None:
                relations = self._relations(Z, near, y, seed)
            else:
                relations = moved_to(self._given_relations(relations, near, y), X)
            differ = self._metric == "euclidean" and Z is X and all_differ(near.distances, near.how)
            self.neighbor_search_, self.neighbor_recall_ = near.how, near.recall
            close = own(near.indices[:, :NEAREST]), own(near.distances[:, :NEAREST])
        with self._timed("start"):
            first = None if differ else self._first_equal(X)
        return relations, Z, first, close

    def _first_equal(self, X: Any) -> NDArray | None:
        """First row that equals each; None if given distances show that all differ."""
        if self.metric != "precomputed":
            return find_equal(X, X)
        first = first_equal(X, self._name)
        return None if (first == np.arange(len(first))).all() else from_numpy(first, X)

    def _given_relations(self, relations: Any, near: Neighbors | None, y: Any) -> Any:
        """Input of the loss that the caller of ``fit`` has computed, for methods that take one; None: without rows."""
        return relations

    def _forget(self, names: Iterable[str]) -> None:
        """Drop attributes of an earlier fit that this one does not set."""
        for name in names:
            self.__dict__.pop(name, None)

    def _place(self, Q: Any) -> NDArray:
        return self._among(self._near(Q), moved_to(self.embedding_, Q))

    def _among(self, near: Neighbors, positions: Any) -> NDArray:
        """Positions of new rows with these neighbours."""
        weights = with_nearest(self._weights(near), near.distances)
        return place(near.indices, weights, positions, self._loss(len(positions), 0, again=True))

    def _jacobian(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        self._demand_rows("explain")
        return neighbor_jacobian(self, *self._known(X))

    def _weight_slopes(
        self, lengths: NDArray[np.float64], slopes: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Weights of a row's neighbours, and their slopes (near, d); None where they do not change smoothly."""
        return None

    def _known(self, X: Any) -> tuple[Any, NDArray]:
        X = self._in_form(X)
        known = find_zero(X, self._name) if self.metric == "precomputed" else find_equal(moved_to(self._rows, X), X)
        return X, known

    @applying
    def transform(self, X: Any) -> NDArray:
        """Positions of the rows of ``X`` in the map, which is left unchanged.

        A row that equals a training row gets its position. Any other is placed among its neighbours, where its own
        loss is smallest, independently of the other new rows.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``; for ``metric="precomputed"`` the distances to the training rows.

        Returns
        -------
        array (n_samples, n_components)
            The positions.
        """
        self._demand_rows("transform")
        return self._positions_of(X)

    @applying
    def trust(self, X: Any) -> NDArray:
        """Trust in the positions of the rows of ``X`` in the map.

        A map has a position for every row, even for one unlike all training rows. Two things speak against it: the
        row is farther from its nearest training rows than these are from their own (a row outside the data), or these
        rows are spread over the map (a row between parts that the map puts apart). Trust is the share of training rows
        that fare as badly or worse: among rows like the training rows, 5 % have a trust of about 0.05 or less.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            As in ``transform``.

        Returns
        -------
        array (n_samples,)
            From 0, worse than any training row, to 1.
        """
        self._demand_rows("trust")
        if not hasattr(self, "_worse"):
            raise ValueError(f"{self._name}: trust needs spacings, which a model from an old file lacks. Fit it again.")
        X = self._in_form(self._take(X, reset=False, sparse=True))
        if self.metric == "precomputed":
            find_zero(X, self._name)  # refuses values that are not distances
        near = self._near(X)
        known = moved_to(Familiar(self._spacings, self._loosenesses, self._spreads, self._worse), X)
        return trusted(known, near.indices, near.distances, moved_to(self.embedding_, X))

    def _demand_rows(self, what: str) -> None:
        """Refuse what needs training rows if the map was fitted without."""
        if self._rows is None:
            raise ValueError(
                f"{self._name}: {what} compares rows with those of fit, which had none. Fit again with X beside the "
                "relations given."
            )

    def _in_form(self, X: Any) -> Any:
        """New rows in the form that the search takes."""
        X = searchable(X, float_dtype(X.dtype))
        return X if self.metric == "precomputed" else in_form_of(X, moved_to(self._rows, X))

    def _near(self, X: Any) -> Neighbors:
        """Neighbours of new rows among those fitted."""
        rows = moved_to(self._fitted_rows(), X)
        return nearest(
            rows, self._near_each(len(self.embedding_)), self._new_rows(X), self._metric, self.neighbor_search
        )

    def _demand_possible(self, X: Any, y: Any, relations: Any, *, more: bool = False) -> tuple[Any, int, Any]:
        """Rows as the search takes them, their number, and the map of a warm start; refuses what cannot be fitted."""
        X = None if X is None else self._take(X, reset=True, sparse=True, minimum=2)
        n, k, name = self._count(X, relations), int(self.n_components), self._name
        if k > MOST_DIMENSIONS:
            raise ValueError(
                f"{name}: n_components must be at most {MOST_DIMENSIONS}; got {k}. Lower it: maps usually have 1 to 3 "
                "dimensions. PCA allows more."
            )
        if X is not None:
            self._demand_distances(X)
        before = getattr(self, "embedding_", None) if self.warm_start else None
        if before is not None and tuple(before.shape) != (n, k):
            raise ValueError(
                f"{name}: warm_start needs data of the shape of the previous fit, {before.shape[0]} rows and "
                f"{before.shape[1]} components; got {n} and {k}. Pass warm_start=False to start again."
            )
        if not (isinstance(self.init, str) or more or before is not None):
            layout.given(self.init, (n, k), name)
        self._demand_parameters(n, y, native=X is None or is_native(X))
        if X is None:
            return None, n, before
        with memory.beside(X):
            self._ask_memory(*X.shape)
        return searchable(X, float_dtype(X.dtype)), n, None if before is None else moved_to(before, X)

    def _demand_distances(self, X: Any) -> None:
        """Refuse distances that cannot be fitted."""
        self._held = None
        if self.metric == "precomputed":
            demand_distances(X, self._name)
            self._held = least_stored(X) if sp.issparse(X) else None
            if isinstance(self.init, str) and self.init == "pca" and self._held is None:
                raise ValueError(
                    f"{self._name}: init='pca' needs rows of features; got metric='precomputed'. Pass init='spectral'."
                )
        demand_singles(X, self._metric)

    def _those_held(self, wanted: int, what: str) -> int:
        """``wanted`` neighbours of each row, or with a note those that a graph of distances holds."""
        if self._held is None or self._held >= wanted:
            return wanted
        warn(f"{self._name}: {what} need {wanted} neighbours a row; the graph holds {self._held}. Those are used.")
        return self._held

    def _count(self, X: Any, relations: Any) -> int:
        """Number of rows; relations given for another number are refused."""
        n = int(X.shape[0]) if relations is None else len(relations[0]) - 1
        if X is not None and X.shape[0] != n:
            raise ValueError(
                f"{self._name}: X and the relations given must be of the same rows; got {X.shape[0]:,} and {n:,}. "
                "Pass both of all rows."
            )
        return n

    def _dtype_for(self, X: Any, relations: Any) -> np.dtype:
        return float_dtype((relations[2] if X is None else X).dtype)

    def _ask_each(self, n: int, near: int, each: float, what: str, instead: str, beside: float = 0.0) -> None:
        """Require memory for n rows of ``near`` neighbours: ``each`` bytes per neighbour, and ``beside`` per row."""
        memory.require(
            n * (each * near + beside + 64.0 * int(self.n_components) + 100.0),
            f"{self._name}: {what} of {n:,} rows to {near} neighbours each",
            instead,
        )

    def _layout(self, X: Any, n: int, relations: Any, seed: int) -> NDArray:
        k, like = int(self.n_components), relations[0] if X is None else X
        if not isinstance(self.init, str):
            return from_numpy(layout.given(self.init, (n, k), self._name), like)
        if self.init == "random":
            return from_numpy(layout.by_chance(n, k, seed), like)
        if self.init == "pca" and X is not None and self.metric != "precomputed":
            return layout.by_pca(X, k, seed)
        # Means of rows tell how far apart groups of them are; they are unknown where only distances are.
        points = None if self.metric == "precomputed" else X
        return layout.by_spectrum(self._graph_of(relations), k, seed, points, unit=self.metric == "cosine")

    def _descend(
        self, relations: Any, Y: NDArray, first: NDArray | None, loss: Loss, shown: Any, drawn: Drawn | None
    ) -> Descended:
        """Descent from the layout ``Y``; the callback gets ``shown(Y)``, rows with the same ``first`` one position."""

        def report(done: int, value: float, Y: NDArray) -> bool:
            if self.callback is None:
                return False
            with calling_back(self):
                said = self.callback(done, value, shown(Y))
            return isinstance(said, bool | np.bool_) and bool(said)  # a comparison of arrays gives an array

        Y = Y if first is None else take(Y, first)
        iterations, anchors = self._iterations(len(Y)), None
        if drawn is not None:
            Y, anchors = drawn.held(own(Y)), drawn.for_descent(loss.anchor_unit(relations), Y)
            iterations = drawn.iterations(iterations)
        found = descend(
            relations, Y, loss, iterations=iterations, every=int(self.callback_every), report=report, anchors=anchors
        )
        Y = found.embedding if first is None else merge_equal(found.embedding, first)
        return found._replace(embedding=Y if drawn is None else drawn.held(Y))

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        start = perf_counter()
        yield
        self.timings_[name] = perf_counter() - start

    def _params_for_file(self) -> dict[str, Any]:
        return super()._params_for_file() | {"callback": None}  # functions are not stored in files

    def _state(self) -> dict[str, fields.Field]:
        n, absent = "d" if self._given else "n", fields.nothing
        without = getattr(self, "_rows", self) is None
        return {
            **super()._state(),
            **({"n_features_in_": fields.optional(absent)} if without else {}),
            "_rows": absent if without else fields.rows(n, "d"),
            "loss_curve_": fields.array("t"),
            "loss_iterations_": fields.array("t", kind="i", low=0),
            "timings_": fields.mapping(fields.number(0)),
            "n_iter_": fields.count(),
            "neighbor_search_": fields.text(),
            "neighbor_recall_": fields.nothing | fields.number(0, 1),
            "_spacings": fields.optional(fields.array(n, low=0)),  # files of format 1 lack both
            "_loosenesses": fields.optional(fields.array(n, low=0)),
            "_spreads": fields.optional(fields.array(n, low=0)),  # files written before 0.2 lack both
            "_worse": fields.optional(fields.array(n, low=0)),
        }

    @classmethod
    def _fitted_from_file(cls, fitted: dict[str, Any], version: int) -> dict[str, Any]:
        return super()._fitted_from_file({"_fitted": None} | fitted, version)
