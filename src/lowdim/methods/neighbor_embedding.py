"""Base class of SNE, t-SNE, UMAP and PaCMAP: neighbours, initial layout, descent, positions of new rows.

A subclass computes the input of the loss from the neighbours in ``_relations``, and defines the loss in ``_loss``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowdim.compose import layout
from lowdim.data import options
from lowdim.data.precomputed import demand_distances, find_zero
from lowdim.methods.base import METRIC_RULES, Reducer, applying, fitting
from lowdim.persist import fields
from lowdim.relate.equal_rows import all_differ, find_equal, merge_equal
from lowdim.relate.neighbors import Neighbors, demand_singles, nearest
from lowdim.relate.trust import Spacings, spacings
from lowdim.relate.trust import trust as share_as_loose
from lowdim.solve.descent import MOST_DIMENSIONS, Descended, Loss, Reached, descend, place
from lowdim.work import memory
from lowdim.work.backend_arrays import from_numpy, moved_to, to_numpy
from lowdim.work.blockwise import float_dtype
from lowdim.work.random import seed_of
from lowdim.work.rows import cast, in_form_of, own, put, searchable, take

RULES = {
    "n_components": options.integer(1),
    "init": options.one_of("pca", "spectral", "random")
    | options.Rule(lambda value: not isinstance(value, str) and hasattr(value, "__len__"), "an array"),
    **METRIC_RULES,
    "neighbor_search": options.one_of("auto", "exact", "approximate"),
    "callback": options.none | options.Rule(callable, "a function (iteration, loss, embedding)"),
    "callback_every": options.integer(1),
    "warm_start": options.flag,
    "random_state": options.seed,
    "n_jobs": options.jobs,
    "verbose": options.integer(0),
}


class NeighborEmbedding(Reducer, ABC):
    """An embedding computed from the nearest neighbours of rows."""

    _rules = RULES
    _sparse = True
    _scale_matters = True
    _stages: ClassVar[tuple[str, str]] = ("graph", "loss")  # names in ``timings_`` of what a subclass does itself
    n_components: int
    n_neighbors: Any  # for methods that report it
    init: Any
    metric: str
    neighbor_search: str
    callback: Callable[[int, float, NDArray], Any] | None
    callback_every: int
    warm_start: bool
    random_state: Any
    embedding_: NDArray
    timings_: dict[str, float]
    n_iter_: int
    loss_curve_: NDArray
    loss_iterations_: NDArray

    @abstractmethod
    def _demand_parameters(self, X: Any, y: Any) -> None:
        """Refuse parameters that do not suit the rows, before any work, and store what follows from them."""

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
        return self._X

    def _new_rows(self, X: Any) -> Any:
        """Rows to search among, for new rows."""
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    @fitting
    def fit(self, X: Any, y: Any = None) -> Any:
        """Compute the embedding of ``X``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data, dense or sparse; for ``metric="precomputed"`` the distances (n_samples, n_samples).
        y : array (n_samples,), optional
            Labels of the rows, for methods that use them.

        Returns
        -------
        self
            This object.
        """
        given, X = X, self._take(X, reset=True, sparse=True, minimum=2)
        n, before = X.shape[0], self._demand_possible(X)
        self._demand_parameters(X, y)
        with memory.beside(X):
            self._ask_memory(*X.shape)
        seed, dtype, self.timings_ = seed_of(self.random_state), float_dtype(X.dtype), {}
        with self._timed("neighbors"):
            X = searchable(X, dtype)
            Z = self._learn_rows(X, seed)
            near = nearest(Z, self._near_each(n), None, self._metric, self.neighbor_search, seed)
        with self._timed(self._stages[0]):
            relations = self._relations(Z, near, y, seed)
            apart = self._metric == "euclidean" and Z is X and all_differ(near.distances, near.how)
            self.neighbors_, self.neighbors_recall_ = near.how, near.recall
            self._spacings, self._loosenesses = spacings(near.indices, near.distances)
            del near
        with self._timed("start"):
            first = None if self.metric == "precomputed" or apart else find_equal(X, X)
            Y = before if before is not None else self._layout(Z, relations, seed)
            Y = Y if first is None else take(Y, first)
        loss = self._loss(n, seed, again=before is not None)
        with self._timed("descent"):
            found = self._descend(relations, Y, loss, given, dtype)
            Y = found.embedding if first is None else merge_equal(found.embedding, first)
        with self._timed(self._stages[1]):
            reached = loss.at(relations, Y)
        self._keep_loss(reached)
        self._keep_trace(found, reached.value, again=before is not None)
        self.embedding_ = cast(Y, dtype)
        self._X = own(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray:
        """Compute the embedding and return it.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            As in ``fit``.
        y : array (n_samples,), optional
            As in ``fit``.

        Returns
        -------
        array (n_samples, n_components)
            A copy of ``embedding_``.
        """
        return own(self.fit(X, y).embedding_)

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
        X = self._taken(X)
        fitted, positions = moved_to(self._X, X), moved_to(self.embedding_, X)
        known = find_zero(X, self._name) if self.metric == "precomputed" else find_equal(fitted, X)
        Y = take(positions, known)  # rows that equal no training row are placed below
        new = np.flatnonzero(to_numpy(known) < 0)
        if len(new):
            near = self._near(take(X, new))
            loss = self._loss(len(positions), 0, again=True)
            Y = put(Y, new, place(near.indices, self._weights(near), positions, loss))
        return cast(Y, float_dtype(X.dtype))

    @applying
    def trust(self, X: Any) -> NDArray:
        """Trust in the positions of the rows of ``X`` in the map.

        A map has a position for every row, even for one unlike all training rows. The mean distance of a row to its
        nearest training rows is compared with those of these rows to their own neighbours; its trust is the share of
        training rows for which that ratio is as large or larger. Below 0.01, say, a row lies farther from its
        neighbours than 99 % of the training rows do: its position means little.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            As in ``transform``.

        Returns
        -------
        array (n_samples,)
            From 0, farther than any training row, to 1.
        """
        if not hasattr(self, "_spacings"):
            raise ValueError(f"{self._name}: trust needs spacings, which a model from an old file lacks. Fit it again.")
        X = self._taken(X)
        if self.metric == "precomputed":
            find_zero(X, self._name)  # refuses values that are not distances
        near = self._near(X)
        known = moved_to(Spacings(self._spacings, self._loosenesses), X)
        return share_as_loose(known, near.indices, near.distances)

    def _taken(self, X: Any) -> Any:
        """New rows in the form that the search takes."""
        X = self._take(X, reset=False, sparse=True)
        X = searchable(X, float_dtype(X.dtype))
        return X if self.metric == "precomputed" else in_form_of(X, moved_to(self._X, X))

    def _near(self, X: Any) -> Neighbors:
        """Neighbours of new rows among those fitted."""
        rows = moved_to(self._fitted_rows(), X)
        return nearest(
            rows, self._near_each(len(self.embedding_)), self._new_rows(X), self._metric, self.neighbor_search
        )

    def _demand_possible(self, X: Any) -> NDArray | None:
        """Initial map; refuses invalid parameters and data, before any work."""
        n, k, name = X.shape[0], int(self.n_components), self._name
        if k > MOST_DIMENSIONS:
            raise ValueError(
                f"{name}: n_components must be at most {MOST_DIMENSIONS}; got {k}. Lower it: maps usually have 1 to 3 "
                "dimensions. PCA allows more."
            )
        if self.metric == "precomputed":
            demand_distances(X, name)
            if isinstance(self.init, str) and self.init == "pca":
                raise ValueError(
                    f"{name}: init='pca' needs rows of features; got metric='precomputed'. Pass init='spectral'."
                )
        demand_singles(X, self._metric)
        before = getattr(self, "embedding_", None) if self.warm_start else None
        if before is not None and tuple(before.shape) != (n, k):
            raise ValueError(
                f"{name}: warm_start needs data of the shape of the previous fit, {before.shape[0]} rows and "
                f"{before.shape[1]} components; got {n} and {k}. Pass warm_start=False to start again."
            )
        if before is None and not isinstance(self.init, str):
            layout.given(self.init, (n, k), name)
        return None if before is None else moved_to(before, X)

    def _ask_each(self, n: int, near: int, each: float, what: str, instead: str, beside: float = 0.0) -> None:
        """Require memory for n rows of ``near`` neighbours: ``each`` bytes per neighbour, and ``beside`` per row."""
        memory.require(
            n * (each * near + beside + 64.0 * int(self.n_components) + 100.0),
            f"{self._name}: {what} of {n:,} rows to {near} neighbours each",
            instead,
        )

    def _layout(self, X: Any, relations: Any, seed: int) -> NDArray:
        n, k = X.shape[0], int(self.n_components)
        if not isinstance(self.init, str):
            return from_numpy(layout.given(self.init, (n, k), self._name), X)
        if self.init == "random":
            return from_numpy(layout.by_chance(n, k, seed), X)
        if self.init == "pca":
            return layout.by_pca(X, k, seed)
        return layout.by_spectrum(self._graph_of(relations), k, seed)

    def _descend(self, relations: Any, Y: NDArray, loss: Loss, given: Any, dtype: np.dtype) -> Descended:
        def report(done: int, value: float, Y: NDArray) -> bool:
            if self.callback is None:
                return False
            said = self.callback(done, value, moved_to(cast(Y, dtype), given))
            return isinstance(said, bool | np.bool_) and bool(said)  # a comparison of arrays gives an array

        return descend(
            relations, Y, loss, iterations=self._iterations(len(Y)), every=int(self.callback_every), report=report
        )

    def _keep_trace(self, found: Descended, reached: float, *, again: bool) -> None:
        """Store the loss during the descent and at the end; a warm start extends the trace."""
        start = self.n_iter_ if again else 0
        marks = [start + mark for mark in found.marks if mark < found.iterations]
        losses = [*found.losses[: len(marks)], reached]
        marks.append(start + found.iterations)
        old = (self.loss_iterations_, self.loss_curve_) if again else ([], [])
        self.loss_iterations_ = np.concatenate([old[0], marks]).astype(np.int64)
        self.loss_curve_ = np.concatenate([old[1], losses])
        self.n_iter_ = start + found.iterations

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        start = perf_counter()
        yield
        self.timings_[name] = perf_counter() - start

    def _params_for_file(self) -> dict[str, Any]:
        return super()._params_for_file() | {"callback": None}  # functions are not stored in files

    def _state(self) -> dict[str, fields.Field]:
        n = "d" if self.metric == "precomputed" else "n"
        return {
            "embedding_": fields.array(n, "k"),
            "_X": fields.rows(n, "d"),
            "loss_curve_": fields.array("t"),
            "loss_iterations_": fields.array("t", kind="i", low=0),
            "timings_": fields.mapping(fields.number(0)),
            "n_iter_": fields.count(),
            "neighbors_": fields.text(),
            "neighbors_recall_": fields.nothing | fields.number(0, 1),
            "_spacings": fields.optional(fields.array(n, low=0)),  # files of format 1 lack both
            "_loosenesses": fields.optional(fields.array(n, low=0)),
        }
