"""What SNE and t-SNE share: neighbours, affinities, a first layout, the descent, and places for new points."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.compose import layout
from lowdim.data import gate, options
from lowdim.data.distances import demand_distances, demand_new_distances
from lowdim.methods.base import Reducer, applying, fitting
from lowdim.relate.affinities import Affinities, affinities, likelihoods, neighbors_for
from lowdim.relate.equal_rows import find_equal
from lowdim.relate.neighbors import METRICS, demand_singles, nearest
from lowdim.solve import descent
from lowdim.solve.descent import Descended, Falloff
from lowdim.work import memory
from lowdim.work.blocks import float_dtype
from lowdim.work.random import seed_of

_PERPLEXITY = 30.0
_perplexities = options.Rule(
    lambda value: (
        isinstance(value, list | tuple)
        and len(value) > 0
        and all(isinstance(u, Real) and not isinstance(u, bool) and 0 < float(u) < np.inf for u in value)
    ),
    "a list of positive numbers",
)
RULES = {
    "n_components": options.whole(1),
    "perplexity": options.one_of("auto") | options.real(0) | _perplexities,
    "sigma": options.none | options.real(0),
    "exaggeration": options.real(1, closed="left"),
    "exaggeration_iter": options.whole(0),
    "learning_rate": options.one_of("auto") | options.real(0),
    "n_iter": options.whole(1),
    "init": options.one_of("pca", "spectral", "random")
    | options.Rule(lambda value: not isinstance(value, str) and hasattr(value, "__len__"), "an array"),
    "repulsion": options.one_of(*descent.REPULSIONS),
    "angle": options.real(0, 1, closed="both"),
    "metric": options.one_of(*METRICS),
    "neighbors": options.one_of("auto", "exact", "approximate"),
    "callback": options.none | options.Rule(callable, "a function (iteration, loss, embedding)"),
    "callback_every": options.whole(1),
    "warm_start": options.flag,
    "random_state": options.seed,
    "n_jobs": options.jobs,
    "verbose": options.whole(0),
}


class NeighborEmbedding(Reducer, ABC):
    """A map that minimises ``KL(P‖Q)``; a subclass says how likeness falls off in the map."""

    _rules = RULES
    _sparse = True
    embedding_: NDArray
    timings_: dict[str, float]
    n_iter_: int
    loss_trace_: NDArray
    loss_iterations_: NDArray

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: Any = "auto",
        sigma: float | None = None,
        exaggeration: float = 12,
        exaggeration_iter: int = 250,
        learning_rate: float | str = "auto",
        n_iter: int = 750,
        init: Any = "pca",
        repulsion: str = "auto",
        angle: float = 0.5,
        metric: str = "euclidean",
        neighbors: str = "auto",
        callback: Callable[[int, float, NDArray], Any] | None = None,
        callback_every: int = 50,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.sigma = sigma
        self.exaggeration = exaggeration
        self.exaggeration_iter = exaggeration_iter
        self.learning_rate = learning_rate
        self.n_iter = n_iter
        self.init = init
        self.repulsion = repulsion
        self.angle = angle
        self.metric = metric
        self.neighbors = neighbors
        self.callback = callback
        self.callback_every = callback_every
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @abstractmethod
    def _falloff(self) -> Falloff:
        """How likeness falls off with distance in the map."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.sparse = self.metric != "precomputed"
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    @fitting
    def fit(self, X: Any, y: Any = None) -> Any:
        """Make the map of the rows of ``X``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data, dense or sparse; for ``metric="precomputed"`` the distances (n_samples, n_samples).
        y : ignored
            For pipelines.

        Returns
        -------
        SNE or TSNE
            This object.
        """
        X = gate.rows(self, X, reset=True, sparse=self.metric != "precomputed", minimum=2)
        perplexities, how, before = self._demand_possible(X)
        seed, dtype, falloff, self.timings_ = seed_of(self.random_state), float_dtype(X.dtype), self._falloff(), {}
        X = _as_searched(X)
        with self._timed("neighbors"):
            near = nearest(X, neighbors_for(max(perplexities), X.shape[0]), None, self.metric, self.neighbors, seed)
        with self._timed("affinities"):
            p, reached = likelihoods(near.distances, perplexities, self.sigma)
            P = affinities(near.indices, p)
            self.neighbors_, self.neighbors_recall_ = near.how, near.recall
            del near, p
        with self._timed("start"):
            first = np.arange(X.shape[0]) if self.metric == "precomputed" else find_equal(X, X)
            Y = (before if before is not None else self._layout(X, P, seed))[first]
        with self._timed("descent"):
            found = self._descend(P, Y, falloff, how, again=before is not None, dtype=dtype)
            Y = _joined(found.embedding, first)  # equal rows have one place
        with self._timed("divergence"):
            reached_kl = descent.divergence(P, Y, falloff)
        self.kl_divergence_, self.kl_normalizer_ = reached_kl.value, reached_kl.how
        self.point_losses_ = reached_kl.points
        self._keep_trace(found, before is not None)
        self.perplexity_ = float(reached.mean()) if self.sigma is not None else self._given(perplexities)
        self.repulsion_ = how
        self.embedding_ = Y.astype(dtype)
        self._X, self._perplexities = _own(X), perplexities
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray:
        """Make the map and return it.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            As in ``fit``.
        y : ignored
            For pipelines.

        Returns
        -------
        array (n_samples, n_components)
            A copy of ``embedding_``.
        """
        return self.fit(X, y).embedding_.copy()

    @applying
    def transform(self, X: Any) -> NDArray:
        """Places of the rows of ``X`` in the map, which stays as it is.

        A row that equals a training row gets its place. Any other starts at the weighted median of its neighbours and
        is moved down the gradient of its own divergence; the rows do not see each other.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Data with the features seen in ``fit``; for ``metric="precomputed"`` the distances to the training rows.

        Returns
        -------
        array (n_samples, n_components)
            The places.
        """
        X = gate.rows(self, X, reset=False, sparse=self.metric != "precomputed")
        dtype, X = float_dtype(X.dtype), _as_searched(X)
        if self.metric == "precomputed":
            first = X.argmin(axis=1)
            least = X[np.arange(len(X)), first]
            demand_new_distances(least, type(self).__name__)
            known = np.where(least == 0, first, -1)
        else:
            if sp.issparse(X) != sp.issparse(self._X):
                X = _as_searched(X.toarray() if sp.issparse(X) else sp.csr_array(X))
            known = find_equal(self._X, X)
        Y = self.embedding_[known]  # those not known are placed below
        new = np.flatnonzero(known < 0)
        if len(new):
            k = neighbors_for(max(self._perplexities), len(self.embedding_))
            near = nearest(self._X, k, X[new], self.metric, self.neighbors)
            p, _ = likelihoods(near.distances, self._perplexities, self.sigma)
            Y[new] = descent.place(near.indices, p, self.embedding_, self._falloff())
        return Y.astype(dtype, copy=False)

    def _demand_possible(self, X: Any) -> tuple[list[float], str, NDArray | None]:
        """Perplexities, the way to repel and the map to go on from; refuses what cannot be, before any work."""
        n, name = X.shape[0], type(self).__name__
        k = int(self.n_components)
        if k > descent.MOST_DIMENSIONS:
            raise ValueError(
                f"{name}: n_components must be at most {descent.MOST_DIMENSIONS}; got {k}. Lower it: maps have 1 to 3 "
                "dimensions as a rule. PCA goes higher."
            )
        how = self.repulsion if self.repulsion != "auto" else descent.choose(n, k)
        if k > descent.FAST.get(how, k):
            raise ValueError(
                f"{name}: repulsion={how!r} needs n_components of at most {descent.FAST[how]}; got {k}. "
                "Use repulsion='auto'."
            )
        if self.metric == "precomputed":
            demand_distances(X, name)
            if isinstance(self.init, str) and self.init == "pca":
                raise ValueError(
                    f"{name}: init='pca' needs rows of features; got metric='precomputed'. Pass init='spectral'."
                )
        demand_singles(X, self.metric)
        given = self.perplexity
        if given == "auto" or self.sigma is not None:
            given = max(1.0, min(_PERPLEXITY, (n - 1) / 3))
        perplexities = [float(u) for u in (given if isinstance(given, list | tuple) else [given])]
        if max(perplexities) > n - 1 or min(perplexities) < 1:
            raise ValueError(
                f"{name}: perplexity must be between 1 and n_samples - 1 = {n - 1}; got {self.perplexity}. "
                "Pass 'auto', or more rows."
            )
        near = neighbors_for(max(perplexities), n)
        memory.require(
            n * (52.0 * near + 64.0 * k + 100.0),
            f"{name}: the affinities of {n:,} rows to {near} neighbours each",
            "Lower perplexity, or fit a sample and transform the rest.",
        )
        before = getattr(self, "embedding_", None) if self.warm_start else None
        if before is not None and before.shape != (n, k):
            raise ValueError(
                f"{name}: warm_start needs data of the shape fitted before, {before.shape[0]} rows and "
                f"{before.shape[1]} components; got {n} and {k}. Pass warm_start=False to start anew."
            )
        if before is None and not isinstance(self.init, str):
            layout.given(self.init, (n, k), name)
        return perplexities, how, before

    def _layout(self, X: Any, P: Affinities, seed: int) -> NDArray:
        shape = (X.shape[0], int(self.n_components))
        if not isinstance(self.init, str):
            return layout.given(self.init, shape, type(self).__name__)
        if self.init == "random":
            return layout.by_chance(*shape, seed)
        return layout.by_pca(X, shape[1], seed) if self.init == "pca" else layout.by_spectrum(P, shape[1], seed)

    def _descend(self, P: Affinities, Y: NDArray, falloff: Falloff, how: str, *, again: bool, dtype: Any) -> Descended:
        def report(done: int, loss: float, Y: NDArray) -> bool:
            said = self.callback(done, loss, Y.astype(dtype)) if self.callback is not None else False
            return isinstance(said, bool | np.bool_) and bool(said)  # also what a comparison of arrays gives

        return descent.descend(
            P,
            Y,
            falloff,
            repulsion=how,
            angle=float(self.angle),
            iterations=int(self.n_iter),
            exaggerated=0 if again else min(int(self.exaggeration_iter), int(self.n_iter)),
            exaggeration=float(self.exaggeration),
            rate=None if self.learning_rate == "auto" else float(self.learning_rate),
            every=int(self.callback_every),
            report=report,
        )

    def _keep_trace(self, found: Descended, again: bool) -> None:
        """Note the divergence on the way and at the end; a warm start adds to what there was."""
        start = self.n_iter_ if again else 0
        marks = [start + mark for mark in found.marks if mark < found.iterations]
        losses = [*found.losses[: len(marks)], self.kl_divergence_]
        marks.append(start + found.iterations)
        old = (self.loss_iterations_, self.loss_trace_) if again else ([], [])
        self.loss_iterations_ = np.concatenate([old[0], marks]).astype(np.int64)
        self.loss_trace_ = np.concatenate([old[1], losses])
        self.n_iter_ = start + found.iterations

    def _given(self, perplexities: list[float]) -> float | list[float]:
        return perplexities if isinstance(self.perplexity, list | tuple) else perplexities[0]

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        start = perf_counter()
        yield
        self.timings_[name] = perf_counter() - start

    def _params_for_file(self) -> dict[str, Any]:
        return super()._params_for_file() | {"callback": None}  # functions stay with the program

    def _check_state(self) -> None:
        rows = self.n_features_in_ if self.metric == "precomputed" else np.shape(self._X)[0]
        if np.ndim(self.embedding_) != 2 or len(self.embedding_) != rows or len(self._perplexities) == 0:
            raise ValueError(f"embedding_ {np.shape(self.embedding_)} and the {rows} rows it belongs to do not fit")


def _joined(Y: NDArray[np.float32], first: NDArray[np.int64]) -> NDArray[np.float32]:
    """Map in which equal rows stand at the mean of their places."""
    if np.array_equal(first, np.arange(len(first))):
        return Y
    counts = np.bincount(first, minlength=len(first))
    sums = np.stack([np.bincount(first, weights=column, minlength=len(first)) for column in Y.T], axis=1)
    return np.ascontiguousarray((sums[first] / counts[first][:, None]).astype(np.float32))


def _as_searched(X: Any) -> Any:
    """Rows as the neighbour search takes them: floats in C order, or CSR."""
    dtype = float_dtype(X.dtype)
    return sp.csr_array(X, dtype=dtype) if sp.issparse(X) else np.ascontiguousarray(X, dtype=dtype)


def _own(X: Any) -> Any:
    return X.copy()  # what happens to X later must not change the model
