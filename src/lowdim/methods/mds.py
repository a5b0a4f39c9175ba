"""Multidimensional scaling: a map whose distances approximate those of the rows.

Metric: ``min Σ_{i<j} w_ij (δ_ij − ‖y_i − y_j‖)²`` by stress majorisation (de Leeuw 1977). Nonmetric: the same for a
monotone function of the distances, fitted along with the map (Kruskal 1964). Classical: the leading eigenvectors of
``−½ H D² H`` (Torgerson 1952), which are the scores of PCA where distances are Euclidean.
"""

from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.compose import layout
from lowdim.compose.scaling import bytes_to_scale, classical_scaling
from lowdim.compose.stress_starts import classical_start, starts_of_new
from lowdim.data import options
from lowdim.data.descriptions import MAP_TEXTS, described
from lowdim.data.precomputed import demand_known_distances, demand_weights, first_equal
from lowdim.methods import anchoring
from lowdim.methods.anchoring import Anchored, Drawn, Given
from lowdim.methods.base import METRIC_RULES, fitting
from lowdim.methods.embedding import MetricReducer
from lowdim.persist import fields
from lowdim.relate.equal_rows import find_equal
from lowdim.relate.neighbors import demand_singles
from lowdim.relate.pairwise import pairwise
from lowdim.relate.weight_slopes import differentiable, distance_slopes, interpolated
from lowdim.solve import smacof
from lowdim.solve.anchors import Anchors, strengths
from lowdim.solve.sensitivity import of_least_stress
from lowdim.work import memory
from lowdim.work.blockwise import float_dtype
from lowdim.work.random import seed_of, stream
from lowdim.work.rows import dense

_BLOCK = 2**24  # distances of new rows at a time
start_rule = options.one_of("classical", "random") | options.Rule(
    lambda value: isinstance(value, np.ndarray | list), "an array (n_samples, n_components)"
)


@described(
    MAP_TEXTS,
    anchors="""anchors : None, "pca", fitted model or array (n_rows, n_components)
        Positions that rows are drawn to, beside the stress (``kind="metric"``): an earlier map, or principal components
        at the scale that fits best.
    anchor_weight : float in [0, 1] or array (n_samples,)
        Weight λ of the anchors, of all rows or of each: ``(1 − λ) Σ w (δ − d)² / Σ w δ² + λ Σ ‖y − a‖² / Σ ‖a − ā‖²``.
        0 ignores them, 1 pins rows: they do not move.""",
)
class MDS(Anchored, MetricReducer):
    """Multidimensional scaling.

    Parameters
    ----------
    n_components : int
        Number of dimensions of the embedding.
    kind : {"metric", "nonmetric", "classical"}
        What to preserve: the distances; their order, by a monotone function that is fitted along with the map; or the
        inner products.
    metric : str or callable
        Distance between rows: "euclidean", "cosine", "correlation", "mahalanobis", "manhattan", "chebyshev",
        "minkowski", "hamming", "jaccard", or a function of two rows. For "precomputed", ``X`` holds all distances, NaN
        where one is not known (not for ``kind="classical"``); ``transform`` takes those of new rows to the training
        rows.
    metric_params : dict or None
        ``{"p": 3}`` of Minkowski's distance, ``{"VI": V}`` of Mahalanobis', by default the inverse covariance.
    normalized : bool
        Whether ``stress_`` is ``√(Σ w (δ − d)² / Σ w δ²)`` or ``Σ w (δ − d)²``, over pairs; δ are disparities for
        the nonmetric kind.
    init : {"classical", "random"} or array (n_samples, n_components)
        Initial layout.
    n_init : int
        Number of starts; the map of lowest stress is kept. Starts after the first are random.
    max_iter : int
        Maximum number of iterations per start.
    tol : float
        Relative decrease of the stress per iteration below which the optimisation stops.
    {anchors}
    random_state : int, Generator, RandomState or None
        Seed of random starts and of the eigensolver.
    n_jobs : int or None
        Number of threads, BLAS included; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates of the training rows, of mean 0 unless they have ``anchors``.
    stress_ : float
        Stress of the map, see ``normalized``.
    raw_stress_, normalized_stress_ : float
        Stress in either form.
    loss_curve_ : array (n_iter_ + 1,)
        Stress at the start and after each iteration, with the cost of anchors; it never increases.
    n_iter_ : int
        Number of iterations from the start that was kept.
    eigenvalues_ : array (n_components,) or None
        Leading eigenvalues of ``−½ H D² H``, for ``kind="classical"``.

    Examples
    --------
    >>> import lowdim
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> mds = lowdim.MDS(2, random_state=0).fit(X)
    >>> bool(mds.stress_ < 1e-5)  # a plane fits into a plane
    True
    """

    _rules = {
        "n_components": options.integer(1),
        "kind": options.one_of("metric", "nonmetric", "classical"),
        **METRIC_RULES,
        "normalized": options.flag,
        **anchoring.RULES,
        "anchors": options.none
        | options.one_of("pca")
        | options.Rule(
            lambda value: not isinstance(value, str | type) and (hasattr(value, "fit") or hasattr(value, "__len__")),
            "a fitted model or an array (n_rows, n_components)",
        ),
        "init": start_rule,
        "n_init": options.integer(1),
        "max_iter": options.integer(1),
        "tol": options.real(0, closed="left"),
        "random_state": options.seed,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }

    eigenvalues_: NDArray[np.float64] | None
    _dual: NDArray[np.float64] | None
    _offset: NDArray[np.float64] | None

    def __init__(
        self,
        n_components: int = 2,
        *,
        kind: str = "metric",
        metric: Any = "euclidean",
        metric_params: Any = None,
        normalized: bool = True,
        init: Any = "classical",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-6,
        anchors: Any = None,
        anchor_weight: Any = 0.3,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kind = kind
        self.metric = metric
        self.metric_params = metric_params
        self.normalized = normalized
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.anchors = anchors
        self.anchor_weight = anchor_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _state(self) -> dict[str, fields.Field]:
        return {
            **super()._state(),
            "stress_": fields.number(0),
            "raw_stress_": fields.number(0),
            "normalized_stress_": fields.number(0),
            "loss_curve_": fields.array("t", low=0),
            "n_iter_": fields.count(),
            "eigenvalues_": fields.nothing | fields.array("k"),
            "_dual": fields.nothing | fields.array("m", "k"),
            "_offset": fields.nothing | fields.array("k"),
            "_knots": fields.array(2, "q"),
            "_unit": fields.number(5e-324),
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._given
        tags.input_tags.allow_nan = self._given and self.kind != "classical"
        return tags

    @fitting
    @described()
    def fit(self, X: Any, y: Any = None, weights: Any = None, *, shared: Any = None) -> Self:
        """Learn the embedding of ``X``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data, dense or sparse; for ``metric="precomputed"`` all distances (n_samples, n_samples).
        y : ignored
            Present for compatibility with scikit-learn.
        weights : array (n_samples, n_samples), optional
            Weight of each distance, symmetric, 0 or more; not for ``kind="classical"``.
        {shared}

        Returns
        -------
        self
            This object.
        """
        self._scale(X, weights, shared)
        return self

    @fitting
    def fit_transform(self, X: Any, y: Any = None, weights: Any = None, *, shared: Any = None) -> NDArray:
        """Learn the embedding and return it.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            As in ``fit``.
        y : ignored
            Present for compatibility with scikit-learn.
        weights : array (n_samples, n_samples), optional
            As in ``fit``.
        shared : array, pair of arrays or data frame, optional
            As in ``fit``.

        Returns
        -------
        array (n_samples, n_components)
            A copy of ``embedding_``.
        """
        self._scale(X, weights, shared)
        return self.embedding_.copy()

    def _learn(self, X: Any, y: Any) -> None:
        self._scale(X, None, None)

    def _learn_anchored(self, X: Any, drawn: Drawn) -> None:
        self._scale(X, None, None, drawn)

    def _learn_more(self, X: Any, drawn: Drawn, old: Any) -> None:
        self._scale(X, None, None, drawn, more=True)

    def _demand_extendable(self) -> None:
        if self.kind != "metric" or self._given:
            what = f"kind={self.kind!r}" if self.kind != "metric" else "metric='precomputed', which keeps no rows"
            raise ValueError(f"MDS: extend needs kind='metric' and rows; got {what}. Fit all rows, or use transform.")

    def _demand_anchored(self) -> None:
        """Refuse anchors of maps that are not found by majorising the distances themselves."""
        if self.anchors is not None and self.kind != "metric":
            raise ValueError(
                f"MDS: anchors need kind='metric', whose stress is majorised; got {self.kind!r}. Leave them out, or "
                "turn the map by lowdim.procrustes."
            )
        if self.anchors is not None and isinstance(self.anchors, str) and self._given:
            raise ValueError("MDS: anchors='pca' needs rows; got metric='precomputed'. Pass a map as an array.")

    def _scale(self, X: Any, weights: Any, shared: Any, drawn: Drawn | None = None, *, more: bool = False) -> None:
        self._demand_anchored()
        given = X
        if self._given and sp.issparse(X):
            raise TypeError(
                "MDS: the distances between all pairs of rows are needed; got a sparse graph, which holds some. Pass "
                "an array with NaN for those that are not known, or use Isomap."
            )
        X = self._take(X, reset=True, sparse=not self._given, minimum=2, scan=not self._given)
        n, k = X.shape[0], int(self.n_components)
        self._demand_components(n - 1, "n_samples")
        known = demand_known_distances(X, self._name, missing=self.kind != "classical") if self._given else None
        self._ask_memory(*X.shape, weighted=weights is not None or known is not None)
        W = None if weights is None and known is None else demand_weights(weights, known, n, self._name, self.kind)
        seed, dtype = seed_of(self.random_state), float_dtype(X.dtype)
        self._rows = np.empty((0, 0), dtype) if self._given else self._keep_rows(X)
        self._fitted = None
        self._whitening = self._learn_whitening(X)
        if drawn is None:
            maps = {"pca": lambda: layout.components(X, k, seed)}
            drawn = self._drawn(Given(None if self._given else X, given, n, k, shared, maps))
        first = None
        if W is None:
            first = first_equal(X, self._name) if self._given else find_equal(self._rows, self._rows)
        drawn = None if drawn is None else drawn.of_equal(first)
        Z, metric = self._flat(X if self._given else self._rows)
        demand_singles(np.nan_to_num(Z) if known is not None else Z, metric)
        D = pairwise(Z, metric, dtype=np.float32)
        if known is not None:
            np.copyto(D, 0.0, where=~known)
        # In a unit of their own size, squares of distances in float32 neither overflow nor vanish.
        self._unit = float(np.exp2(np.floor(np.log2(float(D.max()) or 1.0))))
        D /= np.float32(self._unit)
        self._knots = np.empty((2, 0))
        self.eigenvalues_, self._dual, self._offset = None, None, None
        Y = self._classical(D, k, seed) if self.kind == "classical" else self._majorised(D, W, k, seed, drawn, more)
        Y = Y if first is None else Y[first]  # equal rows have one position
        self.embedding_ = (Y * self._unit).astype(dtype)
        if drawn is not None:
            drawn.held(self.embedding_)

    def _classical(self, D: NDArray[np.float32], k: int, seed: int) -> NDArray[np.float64]:
        """Classical scaling of ``D``, which is overwritten."""
        np.square(D, out=D)
        found = classical_scaling(D, k, seed)
        self.eigenvalues_, self._dual, self._offset = found.values * self._unit**2, found.dual, found.offset
        np.sqrt(D, out=D)
        result = smacof.majorise(D, found.positions, weights=None, max_iter=0, tol=0.0)
        self._keep_stress(result)
        return found.positions

    def _majorised(
        self, D: NDArray[np.float32], W: Any, k: int, seed: int, drawn: Drawn | None, more: bool
    ) -> NDArray[np.float64]:
        """The map of lowest stress, over all starts; ``more`` rows of a map need no ``init`` of all."""
        anchors = None
        if drawn is not None:
            drawn = replace(drawn, places=drawn.places / self._unit)
            if drawn.scaled:
                drawn = drawn.turned(classical_start(D, W, k, seed))
            anchors = self._anchors(drawn, D, W)
        ranks = smacof.Ranks(D, W) if self.kind == "nonmetric" else None
        init = "classical" if more and not isinstance(self.init, str) else self.init
        given = None if isinstance(init, str) else self._first(D.shape[0], k)
        best: smacof.Majorised | None = None
        for turn in range(int(self.n_init)):
            if turn == 0 and given is not None:
                Y = given
            elif turn == 0 and init == "classical":
                Y = classical_start(D, W, k, seed)
            else:
                Y = stream(seed, "start", turn).standard_normal((len(D), k)) * float(np.sqrt(np.mean(np.square(D)) / 2))
            if drawn is not None and not drawn.scaled:
                Y = drawn.moved(Y)
            found = smacof.majorise(
                D, Y, weights=W, max_iter=int(self.max_iter), tol=float(self.tol), ranks=ranks, anchors=anchors
            )
            if best is None or found.trace[-1] / (found.size or 1.0) < best.trace[-1] / (best.size or 1.0):
                best = found
        assert best is not None
        self._knots = best.knots
        self._keep_stress(best)
        return best.positions

    def _anchors(self, drawn: Drawn, D: NDArray[np.float32], W: Any) -> Anchors:
        """Anchors in the unit of the distances: those of the stress over its size, as of all losses."""
        size = smacof.size_of(D, W)
        if drawn.scaled:  # the map will have the size of the distances
            size = len(D) if W is None else float(W.sum(dtype=np.float64)) / len(D)
        return Anchors(
            drawn.places.astype(np.float32),
            strengths(drawn.shares, size / (1.0 if drawn.scaled else len(D) * drawn.size)),
            drawn.scaled,
        )

    def _first(self, n: int, k: int) -> NDArray[np.float64]:
        if np.iscomplexobj(self.init):
            raise ValueError("MDS: init must be an array of numbers; got complex ones. Pass their real parts.")
        Y = np.asarray(self.init, dtype=np.float64)
        if Y.shape != (n, k) or not np.isfinite(Y).all():
            raise ValueError(
                f"MDS: init must be finite, of shape (n_samples, n_components) = ({n}, {k}); got shape {Y.shape}. Pass "
                "one row for each row of X, or init='classical'."
            )
        return Y / self._unit

    def _keep_stress(self, found: smacof.Majorised) -> None:
        size = found.size or 1.0
        scale = self._unit**2 if self.kind != "nonmetric" else 1.0
        self.raw_stress_ = found.stress * scale
        self.normalized_stress_ = float(np.sqrt(found.stress / size))
        self.stress_ = self.normalized_stress_ if self.normalized else self.raw_stress_
        self.loss_curve_ = np.sqrt(found.trace / size) if self.normalized else found.trace * scale
        self.n_iter_ = len(found.trace) - 1

    def _known(self, X: Any) -> tuple[Any, NDArray]:
        if not self._given:
            return super()._known(X)
        known = demand_known_distances(X, self._name, missing=self.kind != "classical", square=False)
        first = np.argmin(X if known is None else np.where(known, X, np.inf), axis=1)
        return X, np.where(X[np.arange(len(X)), first] == 0, first, -1)

    def _place(self, Q: Any) -> NDArray:
        Z, Q = (None, Q) if self._given else (self._flat(self._rows)[0], self._flat(Q)[0])
        metric = self._metric if self._whitening is None else "euclidean"
        positions, m = self._positions() / self._unit, Q.shape[0]
        Y = np.empty((m, positions.shape[1]))
        step = max(1, _BLOCK // len(positions))
        for start in range(0, m, step):
            some = slice(start, min(m, start + step))
            D = np.array(Q[some], np.float32) if Z is None else pairwise(Z, metric, Q[some], dtype=np.float32)
            D /= np.float32(self._unit)
            Y[some] = self._place_by(D, positions)
        return Y * self._unit

    def _place_by(self, D: NDArray[np.float32], positions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Positions of rows with distances ``D`` (m, n) to the map."""
        if self._dual is not None and self._offset is not None:
            return -0.5 * (np.square(D, dtype=np.float64) @ self._dual) - self._offset
        W = None
        if self._given and np.isnan(D).any():
            W = (~np.isnan(D)).astype(np.float32)
            D = np.nan_to_num(D, copy=False)
        if self._knots.shape[1]:
            D = np.interp(D, *self._knots).astype(np.float32)
        tried = [
            smacof.place(D, positions, first, weights=W, max_iter=int(self.max_iter), tol=float(self.tol))
            for first in starts_of_new(D, W, positions)
        ]
        return np.where((tried[0][1] <= tried[1][1])[:, None], tried[0][0], tried[1][0])

    def _jacobian(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """By implicit differentiation of each row's own stress; by differences if the metric is not differentiable."""
        Q, own = self._known(X)
        metric = self._metric if self._whitening is None else "euclidean"
        if self.kind == "classical" or not differentiable(metric):
            return super()._jacobian(X)
        n, d = self._rows.shape
        memory.require(48.0 * n * d, f"MDS: slopes of {n:,} distances with {d:,} columns", "Reduce by PCA first.")
        Z, flat, Y = dense(self._flat(self._rows)[0]), dense(self._flat(Q)[0]), self._positions() / self._unit
        starts, found = self._place(Q) / self._unit, []
        for row, start, number in zip(flat, starts, own, strict=True):
            others = np.flatnonzero(np.arange(n) != number)
            lengths, rises = (part / self._unit for part in distance_slopes(row, Z[others], metric))
            if self._knots.shape[1]:
                lengths, steepness = interpolated(lengths, *self._knots)
                rises *= steepness[:, None]
            found.append(of_least_stress(lengths, rises, Y[others], start))
        slopes = np.stack([one.slopes for one in found]) * self._unit
        slopes = slopes if self._whitening is None else slopes @ self._whitening[1].T
        return np.stack([one.position for one in found]) * self._unit, slopes

    def _ask_memory(self, n: int, d: int, *, weighted: bool = False) -> None:
        blocks = 8.0 * n * min(n, 2048)  # of distances, while they are measured
        needed = 4.0 * n * n + blocks + bytes_to_scale(n, int(self.n_components), copy=False) + 8.0 * n * d
        needed += (20.0 * n * n if weighted else 0.0) + (40.0 * n * n if self.kind == "nonmetric" else 0.0)
        what = f"MDS: the distances of all pairs of {n:,} rows"
        memory.require(needed, what, "Pass fewer rows, or use Isomap with landmarks.")
