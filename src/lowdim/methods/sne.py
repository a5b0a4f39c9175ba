"""Stochastic neighbour embedding: maps in which rows keep their neighbours.

Rows have affinities ``P`` from their distances (:mod:`lowdim.relate.affinities`), points of the map
``Q_ij = f(‖y_i − y_j‖²) / Σ_{a≠b} f(‖y_a − y_b‖²)``, and the map minimises ``KL(P‖Q) = Σ p_ij log(p_ij / q_ij)``: with
Gauss's ``f = e^−s`` (Hinton and Roweis 2002, in the symmetric form) or Student's ``f = 1/(1 + s)`` (van der Maaten and
Hinton 2008).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data import gate, options
from lowdim.methods import layout
from lowdim.methods.base import Reducer, applying, fitting
from lowdim.relate.affinities import Affinities, affinities, likelihoods, neighbors_for
from lowdim.relate.duplicates import first_equal, match
from lowdim.relate.neighbors import METRICS, nearest
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
        and all(isinstance(u, Real) and not isinstance(u, bool) and 1 <= u < np.inf for u in value)
    ),
    "a list of numbers ≥ 1",
)
_RULES = {
    "n_components": options.whole(1),
    "perplexity": options.one_of("auto") | options.real(1, closed="left") | _perplexities,
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


class _NeighborEmbedding(Reducer):
    """What both methods share: everything but the falloff."""

    _sparse = True
    n_components: int
    perplexity: Any
    sigma: float | None
    exaggeration: float
    exaggeration_iter: int
    learning_rate: float | str
    n_iter: int
    init: Any
    repulsion: str
    angle: float
    metric: str
    neighbors: str
    callback: Callable[[int, float, NDArray], Any] | None
    callback_every: int
    warm_start: bool
    random_state: Any
    embedding_: NDArray

    def _falloff(self) -> Falloff:
        raise NotImplementedError

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
            first = np.arange(X.shape[0]) if self.metric == "precomputed" else first_equal(X)
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
            known = np.where((X == 0).any(axis=1), np.argmax(X == 0, axis=1), -1)
        else:
            if sp.issparse(X) != sp.issparse(self._X):
                X = _as_searched(X.toarray() if sp.issparse(X) else sp.csr_array(X))
            known = match(self._X, X)
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
            _demand_distances(X, name)
            if isinstance(self.init, str) and self.init == "pca":
                raise ValueError(
                    f"{name}: init='pca' needs rows of features; got metric='precomputed'. Pass init='spectral'."
                )
        given = self.perplexity
        if given == "auto" or self.sigma is not None:
            given = max(1.0, min(_PERPLEXITY, (n - 1) / 3))
        perplexities = [float(u) for u in (given if isinstance(given, list | tuple) else [given])]
        if max(perplexities) > n - 1:
            raise ValueError(
                f"{name}: perplexity must be at most n_samples - 1 = {n - 1}; got {max(perplexities):g}. Lower it, pass "
                "'auto', or pass more rows."
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
            return self.callback is not None and self.callback(done, loss, Y.astype(dtype)) is True

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
        marks = [start + mark for mark in found.marks if mark < found.iterations] + [start + found.iterations]
        losses = found.losses[: len(marks) - 1] + [self.kl_divergence_]
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


class TSNE(_NeighborEmbedding):
    """t-distributed stochastic neighbour embedding: maps of clusters, with new points placed.

    Parameters
    ----------
    n_components : int
        Dimensions of the map: 1, 2 and 3 are fast, more (up to 64) take all pairs.
    perplexity : "auto", number or list of numbers
        How many neighbours a row is to have, smoothly. "auto" is 30, or (n - 1)/3 where that is less. Affinities of
        several are averaged, for structure at several scales. Three times as many nearest neighbours are looked at.
    sigma : float or None
        One width of the Gaussian for all rows, instead of a perplexity, over the nearest 90 neighbours.
    exaggeration : float
        Factor on the affinities in the first iterations, which lets clusters find their place.
    exaggeration_iter : int
        How many iterations of ``n_iter`` are exaggerated.
    learning_rate : "auto" or float
        "auto" is n_samples / exaggeration, phase by phase.
    n_iter : int
        Iterations in all; fewer where 50 of them lower the divergence by less than a 100,000th.
    init : {"pca", "spectral", "random"} or array (n_samples, n_components)
        First layout, brought to a standard deviation of 1e-4: principal components, eigenvectors of the affinities,
        chance, or the given one.
    repulsion : {"auto", "exact", "barnes_hut", "interpolation"}
        All pairs; a tree (up to 3 dimensions); or a grid and Fourier transforms (1 or 2). "auto" chooses by the number
        of rows and dimensions, and ``repulsion_`` says which.
    angle : float in [0, 1]
        For the tree: cells seen under a smaller angle count as one point; 0 is exact.
    dof : float
        Degrees of freedom ν of Student's falloff ``(1 + s/ν)^(−(ν + 1)/2)``. Below 1 clusters come apart into finer
        ones; large values approach SNE.
    metric : {"euclidean", "cosine", "manhattan", "mahalanobis", "precomputed"}
        Distance between rows. For "precomputed", ``X`` holds the distances and ``init`` cannot be "pca".
    neighbors : {"auto", "exact", "approximate"}
        How nearest neighbours are found.
    callback : callable or None
        ``callback(iteration, loss, embedding)``; returning True stops the descent.
    callback_every : int
        Iterations between calls of ``callback`` and entries of ``loss_trace_``.
    warm_start : bool
        Go on from the map fitted before, without exaggeration, for ``n_iter`` more iterations.
    random_state : int, Generator, RandomState or None
        Seed of ``init="random"`` and of approximate neighbours.
    n_jobs : int or None
        Threads; None is all cores this process may use. The map has the same bits for any number.
    verbose : int
        1 shows the stages with the divergence and the time left.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        The map, about its mean. Equal rows have one place.
    perplexity_ : float or list
        Perplexity used; with ``sigma`` the mean that came of it.
    kl_divergence_ : float
        ``KL(P‖Q)`` of the map, with ``Q`` normalised over all pairs.
    kl_normalizer_ : str
        How that sum over all pairs was computed, and what it leaves uncertain.
    point_losses_ : array (n_samples,)
        What each row adds to ``kl_divergence_``: large where its neighbours are torn apart.
    loss_trace_, loss_iterations_ : arrays
        The divergence on the way, without exaggeration, and the iterations it belongs to.
    timings_ : dict
        Seconds by stage.
    n_iter_ : int
        Iterations done.
    repulsion_ : str
        Way to repel that ran.
    neighbors_ : str
        Search that ran.
    neighbors_recall_ : float or None
        Share of true neighbours that an approximate search found, measured on a sample.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> tsne = lowdim.TSNE(n_iter=300, random_state=0).fit(X)
    >>> tsne.embedding_.shape, tsne.transform(X[:5]).shape
    ((150, 2), (5, 2))
    """

    _rules = _RULES | {"dof": options.real(0)}

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
        dof: float = 1.0,
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
        self.dof = dof
        self.metric = metric
        self.neighbors = neighbors
        self.callback = callback
        self.callback_every = callback_every
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _falloff(self) -> Falloff:
        return Falloff("student", float(self.dof))


class SNE(_NeighborEmbedding):
    """Stochastic neighbour embedding with Gauss's falloff, in its symmetric form; it crowds what t-SNE spreads.

    Parameters
    ----------
    n_components : int
        Dimensions of the map: 1, 2 and 3 are fast, more (up to 64) take all pairs.
    perplexity : "auto", number or list of numbers
        How many neighbours a row is to have, smoothly. "auto" is 30, or (n - 1)/3 where that is less. Affinities of
        several are averaged, for structure at several scales. Three times as many nearest neighbours are looked at.
    sigma : float or None
        One width of the Gaussian for all rows, instead of a perplexity, over the nearest 90 neighbours.
    exaggeration : float
        Factor on the affinities in the first iterations, which lets clusters find their place.
    exaggeration_iter : int
        How many iterations of ``n_iter`` are exaggerated.
    learning_rate : "auto" or float
        "auto" is n_samples / exaggeration, phase by phase.
    n_iter : int
        Iterations in all; fewer where 50 of them lower the divergence by less than a 100,000th.
    init : {"pca", "spectral", "random"} or array (n_samples, n_components)
        First layout, brought to a standard deviation of 1e-4: principal components, eigenvectors of the affinities,
        chance, or the given one.
    repulsion : {"auto", "exact", "barnes_hut", "interpolation"}
        All pairs; a tree (up to 3 dimensions); or a grid and Fourier transforms (1 or 2). "auto" chooses by the number
        of rows and dimensions, and ``repulsion_`` says which.
    angle : float in [0, 1]
        For the tree: cells seen under a smaller angle count as one point; 0 is exact.
    metric : {"euclidean", "cosine", "manhattan", "mahalanobis", "precomputed"}
        Distance between rows. For "precomputed", ``X`` holds the distances and ``init`` cannot be "pca".
    neighbors : {"auto", "exact", "approximate"}
        How nearest neighbours are found.
    callback : callable or None
        ``callback(iteration, loss, embedding)``; returning True stops the descent.
    callback_every : int
        Iterations between calls of ``callback`` and entries of ``loss_trace_``.
    warm_start : bool
        Go on from the map fitted before, without exaggeration, for ``n_iter`` more iterations.
    random_state : int, Generator, RandomState or None
        Seed of ``init="random"`` and of approximate neighbours.
    n_jobs : int or None
        Threads; None is all cores this process may use. The map has the same bits for any number.
    verbose : int
        1 shows the stages with the divergence and the time left.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        The map, about its mean. Equal rows have one place.
    perplexity_ : float or list
        Perplexity used; with ``sigma`` the mean that came of it.
    kl_divergence_ : float
        ``KL(P‖Q)`` of the map, with ``Q`` normalised over all pairs.
    kl_normalizer_ : str
        How that sum over all pairs was computed, and what it leaves uncertain.
    point_losses_ : array (n_samples,)
        What each row adds to ``kl_divergence_``: large where its neighbours are torn apart.
    loss_trace_, loss_iterations_ : arrays
        The divergence on the way, without exaggeration, and the iterations it belongs to.
    timings_ : dict
        Seconds by stage.
    n_iter_ : int
        Iterations done.
    repulsion_ : str
        Way to repel that ran.
    neighbors_ : str
        Search that ran.
    neighbors_recall_ : float or None
        Share of true neighbours that an approximate search found, measured on a sample.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("iris")
    >>> lowdim.SNE(n_iter=300, random_state=0).fit_transform(X).shape
    (150, 2)
    """

    _rules = _RULES

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

    def _falloff(self) -> Falloff:
        return Falloff("gauss")


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
    if sp.issparse(X):
        X = sp.csr_array(X, dtype=dtype)
        X.sum_duplicates()
        return X
    return np.ascontiguousarray(X, dtype=dtype)


def _own(X: Any) -> Any:
    return X.copy()  # what happens to X later must not change the model


def _demand_distances(X: NDArray, name: str) -> None:
    if X.shape[0] != X.shape[1] or (X < 0).any() or not np.allclose(X, X.T):
        raise ValueError(
            f"{name}: metric='precomputed' needs symmetric distances of 0 or more, of shape (n_samples, n_samples); got "
            f"shape {X.shape}{'' if X.shape[0] != X.shape[1] else ' with other values'}. Pass pairwise distances."
        )
