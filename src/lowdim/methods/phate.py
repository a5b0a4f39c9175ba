"""PHATE: the map of the potentials of a random walk.

A walk ``P`` between similar rows, whose similarities decay at the distance of each row's own neighbours, is taken ``t``
steps. Distances between rows of ``−log Pᵗ`` are kept by metric multidimensional scaling: branches and transitions stay
continuous, noise is averaged out by the walk (Moon and others 2019).
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.compose.potential_map import LONGEST, Walk, entropies, knee, landmarks, potentials, walk_of
from lowdim.compose.stress_starts import metric_map
from lowdim.data import options
from lowdim.data.precomputed import demand_distances, first_equal
from lowdim.data.sizes import count_neighbors
from lowdim.methods.base import METRIC_RULES
from lowdim.methods.embedding import MetricReducer
from lowdim.persist import fields
from lowdim.relate.alpha_decay import decaying, decaying_from
from lowdim.relate.equal_rows import find_equal
from lowdim.work import memory
from lowdim.work.blockwise import float_dtype
from lowdim.work.random import seed_of
from lowdim.work.rows import take
from lowdim.work.user_warnings import warn

_USUAL = 5  # neighbours for "auto"
_MODES = 80  # numbers per row while landmarks are chosen


class PHATE(MetricReducer):
    """PHATE: a map of the potentials of a random walk, for branches and gradual transitions.

    Parameters
    ----------
    n_components : int
        Number of dimensions of the embedding.
    n_neighbors : int or "auto"
        The neighbour at whose distance the similarity of a row decays; ``"auto"`` is 5, or all other rows where there
        are fewer.
    decay : float
        How sharply: the similarity at distance d is ``exp(−(d/ε)^decay)``, with ε the distance of that neighbour.
    t : int or "auto"
        Steps of the walk. ``"auto"``: the knee of its von Neumann entropy over 1 to 100 steps.
    gamma : float in [-1, 1]
        Kind of the potential: 1 is the logarithm of the probabilities, 0 their square root, −1 the probabilities.
    landmarks : int or None
        Groups of rows that many rows walk through; None, or as many as there are rows: all rows.
    metric : str or callable
        Distance between rows: "euclidean", "cosine", "correlation", "mahalanobis", "manhattan", "chebyshev",
        "minkowski", "hamming", "jaccard", or a function of two rows. For "precomputed", ``X`` holds all distances;
        ``transform`` takes those of new rows to the training rows.
    metric_params : dict or None
        ``{"p": 3}`` of Minkowski's distance, ``{"VI": V}`` of Mahalanobis', by default the inverse covariance.
    random_state : int, Generator, RandomState or None
        Seed of the landmarks.
    n_jobs : int or None
        Number of threads, BLAS included; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Positions of the training rows. Equal rows are fitted once and share a position.
    n_neighbors_ : int
        Number of neighbours used.
    t_ : int
        Steps of the walk.
    entropy_ : array (100,)
        Von Neumann entropy of the walk after 1, 2, … steps.
    landmark_positions_ : array (n_landmarks, n_components)
        Positions of the landmarks: of the rows fitted if all are.
    n_landmarks_ : int
        Number of landmarks.

    Examples
    --------
    >>> import lowdim
    >>> import numpy as np
    >>> X, branch = lowdim.data.load("tree", n_samples=600)
    >>> model = lowdim.PHATE(random_state=0).fit(X)
    >>> model.embedding_.shape
    (600, 2)
    """

    n_neighbors: Any
    landmarks: int | None
    n_neighbors_: int

    _rules = {
        "n_components": options.integer(1),
        "n_neighbors": options.integer(1) | options.one_of("auto"),
        "decay": options.real(0),
        "t": options.integer(1) | options.one_of("auto"),
        "gamma": options.real(-1, 1, closed="both"),
        "landmarks": options.integer(2) | options.none,
        **METRIC_RULES,
        "random_state": options.seed,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | str = "auto",
        decay: float = 40.0,
        t: int | str = "auto",
        gamma: float = 1.0,
        landmarks: int | None = 2000,
        metric: Any = "euclidean",
        metric_params: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.decay = decay
        self.t = t
        self.gamma = gamma
        self.landmarks = landmarks
        self.metric = metric
        self.metric_params = metric_params
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _state(self) -> dict[str, fields.Field]:
        n = "d" if self._given else "n"
        return {
            **super()._state(),
            "n_neighbors_": fields.count(low=1, most=n),
            "t_": fields.count(low=1),
            "entropy_": fields.array(LONGEST),
            "landmark_positions_": fields.array("l", "k"),
            "n_landmarks_": fields.count("l"),
            "_widths": fields.array("m", low=0),
            "_groups": fields.indices("m", below="l"),
        }

    def _learn(self, X: Any, y: Any) -> None:
        X = self._demand_possible(X)
        n, seed = X.shape[0], seed_of(self.random_state)
        Z, metric = self._searched(X)
        first = first_equal(X, self._name) if self._given else find_equal(self._rows, self._rows)
        kept = np.flatnonzero(first == np.arange(n))  # the others share the position of the row they equal
        self._fitted = None if len(kept) == n else kept
        if len(kept) < n:
            Z = Z[kept][:, kept] if self._given else take(Z, kept)
        self.n_neighbors_ = max(1, min(self.n_neighbors_, len(kept) - 1))
        if len(kept) == 1:
            Y = self._a_point(n)
        else:
            V, self._widths = decaying(Z, self.n_neighbors_, float(self.decay), metric)
            few = self.landmarks is not None and self.landmarks < len(kept)
            groups = landmarks(V, int(self.landmarks or 0), seed) if few else None
            self._groups = np.arange(len(kept)) if groups is None else groups
            Y = self._scaled(walk_of(V, groups), seed)
        self._complete(Y.astype(float_dtype(X.dtype)), X if self._given else self._rows, first)

    def _demand_possible(self, X: Any) -> Any:
        """Validated rows or distances; refuses parameters that do not suit them, before any work."""
        if self._given and sp.issparse(X):
            raise TypeError(
                "PHATE: the distances between all pairs of rows are needed; got a sparse graph, which holds some. Pass "
                "an array, or use DiffusionMap."
            )
        X = self._take(X, reset=True, sparse=not self._given, minimum=2)
        if self._given:
            demand_distances(X, self._name)
        n = X.shape[0]
        self.n_neighbors_ = count_neighbors(self._name, self.n_neighbors, min(_USUAL, n - 1), n)
        self._demand_components(
            min(n, self.landmarks or n) - 1, "rows or landmarks", "raise landmarks, or pass more rows"
        )
        self._ask_memory(*X.shape)
        return X

    def _scaled(self, walk: Walk, seed: int) -> NDArray[np.float64]:
        """Positions of the rows fitted; sets those of the landmarks."""
        self.entropy_ = entropies(walk)
        self.t_ = knee(self.entropy_) + 1 if self.t == "auto" else int(self.t)
        U = potentials(walk, self.t_, float(self.gamma))
        Y = metric_map(U, "euclidean", int(self.n_components), seed, self._name)
        self.landmark_positions_, self.n_landmarks_ = Y, len(Y)
        return Y if walk.towards is None else walk.towards @ Y

    def _a_point(self, n: int) -> NDArray[np.float64]:
        """The map of rows that are all equal."""
        warn(f"PHATE: rows must differ; got {n:,} equal ones. The map is one point.")
        self.entropy_, self.t_, self.n_landmarks_ = np.zeros(LONGEST), 1, 1
        self._widths, self._groups = np.ones(1), np.zeros(1, np.int64)
        self.landmark_positions_ = np.zeros((1, int(self.n_components)))
        return self.landmark_positions_

    def _place(self, Q: Any) -> NDArray:
        if self._given:
            Z, Q = np.zeros((len(self._widths), 0)), Q if self._fitted is None else Q[:, self._fitted]
        else:
            Z, Q = self._learnt_from(self._flat(self._rows)[0]), self._flat(Q)[0]
        metric = self._metric if self._whitening is None else "euclidean"
        S = decaying_from(Z, self._widths, Q, min(self.n_neighbors_, len(self._widths)), float(self.decay), metric)
        total = np.asarray(S.sum(axis=1)).reshape(-1, 1)
        return (S @ self.landmark_positions_[self._groups]) / total

    def _ask_memory(self, n: int, d: int) -> None:
        m = min(n, self.landmarks or n)
        near = min(n - 1, 2 * count_neighbors(self._name, self.n_neighbors, _USUAL, max(n, _USUAL + 1)))
        needed = 44.0 * m * m + n * (60.0 * near + (24.0 * _MODES if m < n else 0.0))
        what = f"PHATE: the walk between {m:,} " + ("landmarks" if m < n else "rows")
        memory.require(needed, what, "Lower landmarks, or pass fewer rows.")
