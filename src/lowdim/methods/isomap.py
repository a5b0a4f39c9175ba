"""Isomap: classical scaling of geodesic distances along the data.

With the lengths ``D`` of the shortest paths on a graph of neighbours, ``B = −½ H D² H`` (``H = I − 11ᵀ/n``) is the Gram
matrix of the embedding, which is ``U_k Λ_k^½`` from its leading eigenpairs (Tenenbaum, de Silva and Langford 2000).
With landmarks only their rows of ``D`` are computed (de Silva and Tenenbaum 2003).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.compose.geodesic_map import (
    GeodesicMap,
    bytes_for_map,
    draw_landmarks,
    geodesic_map,
    mixed_in,
    place_by_geodesics,
    stored_by_halves,
)
from lowdim.compose.scaling import Scaling
from lowdim.data import options
from lowdim.data.labels import Labels
from lowdim.data.precomputed import demand_distances, given_class_distances
from lowdim.data.supervision import supervising_labels
from lowdim.methods.base import METRIC_RULES
from lowdim.methods.graph_reducer import GraphReducer
from lowdim.methods.neighborhood import DISCONNECTED, near_rule
from lowdim.persist import fields
from lowdim.relate.centring import centre
from lowdim.relate.geodesics import Beside, bytes_for, geodesics
from lowdim.relate.graph import Graph, beside, in_own_unit, neighbor_graph
from lowdim.relate.shortcuts import report_short_circuits
from lowdim.solve.component_count import elbow
from lowdim.work import memory, thread_limit
from lowdim.work.backend_arrays import moved_to, to_numpy
from lowdim.work.blockwise import float_dtype
from lowdim.work.random import seed_of
from lowdim.work.rows import cast

_REG = 1e-3  # of the weights that interpolate
_FLAT = (
    "euclidean",
    "cosine",
    "manhattan",
    "mahalanobis",
)  # metrics of rows in a vector space, from which weights can be computed
_EXPLAINED = 1e-9  # residual variance at the level of rounding


class Isomap(GraphReducer):
    """Isomap: an embedding that preserves geodesic distances.

    Parameters
    ----------
    n_components : int
        Number of dimensions of the embedding.
    n_neighbors : int or "auto" or "choose"
        Neighbours of each row; ``"auto"`` is 10, or all other rows where there are fewer.
    radius : float or None
        Join rows up to this distance instead; ``n_neighbors`` must then be ``"auto"``.
    metric : str or callable
        Distance between rows: "euclidean", "cosine", "correlation", "mahalanobis", "manhattan", "chebyshev",
        "minkowski", "hamming", "jaccard", or a function of two rows. For "precomputed", ``X`` holds the distances, all
        of them or a sparse graph of neighbours; ``transform`` takes those of new rows to the training rows.
    metric_params : dict or None
        ``{"p": 3}`` of Minkowski's distance, ``{"VI": V}`` of Mahalanobis', by default the inverse covariance.
    supervision : float in [0, 1)
        Share α of the classes in the distances, ``(1 − α) D + α C``; 0 uses no labels.
    class_distance : array (n_classes, n_classes) or None
        The distances ``C`` between classes, in the order of the sorted labels; None is the mean distance along the
        data between their members, and 0 within a class.
    landmarks : int or None
        Compute distances from this many rows only, drawn at random; time and memory then grow with n.
    disconnected : {"bridge", "error", "largest"}
        If the neighbour graph is not connected: join its components by the shortest edges; raise an error; or fit the
        largest component and treat the other rows as new ones. A warning says what was done.
    new_points : {"geodesic", "interpolate"}
        How new rows are placed: by their distances along the data, or by the weights that reconstruct them from
        their neighbours. Under supervision new rows have no label, and are interpolated.
    random_state : int, Generator, RandomState or None
        Seed of the landmarks and of the eigensolver.
    device : None, "cpu", "cuda" or "cuda:<number>"
        Where to compute; None is where the rows are. NumPy rows are moved once, and results are NumPy arrays.
    n_jobs : int or None
        Number of threads, BLAS included; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates of the training rows; a coordinate without positive eigenvalue is 0.
    eigenvalues_ : array (n_components,)
        Leading eigenvalues of ``B`` (with landmarks, of theirs).
    residual_variance_ : array (n_components,)
        ``1 − R²`` between the distances and those in the first 1, 2, … coordinates.
    suggested_components_ : int
        Dimensions up to the elbow of log ``residual_variance_``; ask for more components than you expect to need.
    n_neighbors_ : int or None
        Number of neighbours used; None with a radius.
    n_connected_components_ : int
        Number of connected components of the neighbour graph.
    bridges_ : array (n_bridges, 2)
        Pairs of rows joined by added edges, shortest first.
    bridge_lengths_ : array (n_bridges,)
        Their distances.
    short_circuits_ : array (n_edges, 2)
        Neighbours suspected to connect rows far apart along the data, the longest detour first.
    landmarks_ : array (landmarks,) or None
        Indices of the landmarks.
    classes_, class_distance_ : array or None
        Classes and the distances between them, under supervision; NaN for a class without rows in the component fitted.
    dist_matrix_ : array (n_samples, n_samples)
        Distances along the data, computed each time it is read.
    residual_ : float
        Largest ``‖B u − λ u‖`` relative to the first eigenvalue.

    Examples
    --------
    >>> import lowdim
    >>> X, t = lowdim.data.load("swissroll", n_samples=1500)
    >>> isomap = lowdim.Isomap(2, n_neighbors=8).fit(X)
    >>> bool(abs(np.corrcoef(isomap.embedding_[:, 0], t)[0, 1]) > 0.98)
    True
    """

    _rules = {
        "n_components": options.integer(1),
        "n_neighbors": near_rule,
        "radius": options.real(0) | options.none,
        **METRIC_RULES,
        "supervision": options.real(0, 1, closed="left"),
        "class_distance": options.none | given_class_distances,
        "landmarks": options.integer(1) | options.none,
        "disconnected": options.one_of(*DISCONNECTED),
        "new_points": options.one_of("geodesic", "interpolate"),
        "random_state": options.seed,
        "device": options.none | options.device,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }

    supervision: float
    class_distance: Any
    landmarks: int | None
    new_points: str
    random_state: Any

    def _state(self) -> dict[str, fields.Field]:
        n = "d" if self.metric == "precomputed" else "n"
        return {
            **super()._state(),
            "_graph": fields.graph("m", "e"),
            "_unit": fields.number(5e-324),
            "landmarks_": fields.bind("l", "m") | fields.indices("l", below=n, rising=True),
            "_dual": fields.array("l", "k"),
            "_offset": fields.array("k"),
            "eigenvalues_": fields.array("k"),
            "residual_": fields.number(0),
            "residual_variance_": fields.array("k"),
            "suggested_components_": fields.count(low=1, most="k"),
            "short_circuits_": fields.indices("s", 2, below=n),
            "classes_": fields.nothing | fields.labels("c"),
            "class_distance_": fields.nothing | fields.array("c", "c", finite=False),
        }

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | str = "auto",
        radius: float | None = None,
        metric: Any = "euclidean",
        metric_params: Any = None,
        supervision: float = 0.0,
        class_distance: Any = None,
        landmarks: int | None = None,
        disconnected: str = "bridge",
        new_points: str = "geodesic",
        random_state: Any = None,
        device: str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.supervision > 0
        return tags

    def _learn(self, X: Any, y: Any) -> None:
        X = self._take(X, reset=True, sparse=True, minimum=2)
        k, seed, labels = int(self.n_components), seed_of(self.random_state), self._demand_sense(X, y)
        self._ask_memory(*X.shape, like=X)
        self.n_neighbors_ = None if self.radius is not None else self._count_neighbors(X.shape[0])
        Z, metric = self._searched(X)
        graph, rows = self._connected(neighbor_graph(Z, self.n_neighbors_, self.radius, metric), Z, metric)
        few = "fewer neighbours" if self.radius is None else "a smaller radius"
        self.short_circuits_ = report_short_circuits(graph, rows, self._name, f"Try {few}.")
        graph, self._unit = in_own_unit(graph)
        self.classes_ = None if labels is None else labels.classes
        codes = None if labels is None else labels.codes
        codes = codes if codes is None or rows is None else codes[rows]
        drawn = None if self.landmarks is None else draw_landmarks(graph.n, int(self.landmarks), codes, seed)
        classes = mixed_in(codes, self.classes_, float(self.supervision), self.class_distance, self._unit)
        made = geodesic_map(graph, k, drawn, classes, seed)
        self._keep_map(graph, rows, drawn, made)
        self._complete(cast(made.positions * self._unit, float_dtype(X.dtype)), X if self._given else self._rows)

    def _keep_map(self, graph: Graph, rows: NDArray | None, drawn: NDArray | None, made: GeodesicMap) -> None:
        """Store the graph of the rows fitted, the landmarks drawn among them, and what was found, in units of X."""
        self._fitted, self._graph = rows, (graph.starts, graph.ends, graph.lengths)
        self.landmarks_ = drawn if drawn is None or rows is None else rows[drawn]
        self.class_distance_ = None if made.between is None else made.between * self._unit
        self.residual_variance_ = made.residual_variance
        # In logarithms, or a narrow sheet would pass for a line.
        left = np.log(np.maximum([1.0, *self.residual_variance_], _EXPLAINED))
        self.suggested_components_ = min(int(self.n_components), elbow(left))
        self.eigenvalues_, self.residual_ = made.scaling.values * self._unit**2, made.scaling.residual
        self._dual, self._offset = made.scaling.dual, made.scaling.offset

    def _place(self, Q: Any) -> NDArray:
        if self.metric == "precomputed":
            Z, Q = None, Q if self._fitted is None else Q[:, self._fitted]
        else:
            Z, Q = self._learnt_from(self._flat(moved_to(self._rows, Q))[0]), self._flat(Q)[0]
        metric = self._metric if self._whitening is None else "euclidean"
        near = beside(Z, Q, self.n_neighbors_, self.radius, metric)
        if self.new_points == "interpolate" or self.supervision > 0:
            return self._interpolate(Z if self._metric in _FLAT else None, Q, near, _REG)
        drawn = self.landmarks_
        if drawn is not None and self._fitted is not None:
            drawn = np.searchsorted(self._fitted, drawn)
        scaled = Beside(near.starts, near.rows, near.lengths * (1 / self._unit))
        scaling = Scaling(self.eigenvalues_, self.embedding_, self._dual, self._offset, self.residual_)
        Y = place_by_geodesics(scaled, *moved_to((Graph(*self._graph), drawn, scaling), Q))
        return Y * self._unit

    @property
    def dist_matrix_(self) -> NDArray:
        """Distances along the data between all training rows (n_samples, n_samples), computed each time it is read.

        Rows outside the component fitted are at an infinite distance from the others. Without supervision these are
        the distances that the map preserves; with it the classes are not yet mixed in.
        """
        check_is_fitted(self)
        n = len(self.embedding_)
        memory.require(4.0 * n * n + bytes_for(n, n), f"Isomap: dist_matrix_ of {n:,} rows", "Fit on fewer rows.")
        with thread_limit.using(self.n_jobs):
            D = to_numpy(geodesics(Graph(*self._graph)))
        D *= np.float32(self._unit)
        if self._fitted is None:
            return D
        whole = np.full((n, n), np.inf, np.float32)
        np.fill_diagonal(whole, 0.0)
        whole[np.ix_(self._fitted, self._fitted)] = D
        return whole

    def reconstruction_error(self) -> float:
        """Error of the Gram matrix of the map, ``‖B − Y Yᵀ‖ / n`` in Frobenius' norm, of the rows fitted.

        Returns
        -------
        float
            0 where the map reproduces all distances along the data.
        """
        D = self.dist_matrix_
        D = D if self._fitted is None else D[np.ix_(self._fitted, self._fitted)]
        if self.supervision > 0:
            raise ValueError(
                "Isomap: reconstruction_error compares with the distances along the data; under supervision the map "
                "preserves others. Pass supervision=0, or use residual_variance_."
            )
        n, Y = len(D), to_numpy(self._positions())
        memory.require(8.0 * n * n, f"Isomap: the Gram matrix of {n:,} rows", "Fit on fewer rows.")
        B = np.square(D, dtype=np.float64)
        B *= -0.5
        centre(B)
        B -= (Y - Y.mean(axis=0)) @ (Y - Y.mean(axis=0)).T
        return float(np.linalg.norm(B) / n)

    def _demand_sense(self, X: Any, y: Any) -> Labels | None:
        """Refuse invalid combinations before any work, and return the labels where they are used."""
        n = X.shape[0]
        if self.metric == "precomputed":
            demand_distances(X, "Isomap")
        self._demand_one_size()
        self._count_neighbors(n)
        self._demand_components(n - 1, "n_samples")
        if self.landmarks is not None:
            if self.landmarks > n:
                needs = f"Isomap: landmarks must be at most n_samples ({n:,}); got {self.landmarks:,}."
                raise ValueError(f"{needs} Lower it, or pass None.")
            self._demand_components(int(self.landmarks) - 1, "landmarks", "draw more of them")
        if not self.supervision:
            return None
        least = None if self.landmarks is None else int(self.landmarks)
        return supervising_labels(self._name, y, X, float(self.supervision), self.class_distance, least)

    def _ask_memory(self, n: int, d: int, *, like: Any = None) -> None:
        m, k = int(self.landmarks or n), int(self.n_components)
        what = f"Isomap: the distances along the data, {m:,} × {n:,},"
        halves = stored_by_halves(like, n, k, self.landmarks is not None, self.supervision > 0)
        needed = bytes_for_map(m, n, k, halves=halves)
        memory.require(needed, what, "Lower landmarks." if self.landmarks else "Pass landmarks=1000.")

    def _check_state(self) -> None:
        super()._check_state()
        if self.landmarks_ is not None and self._fitted is not None and set(self.landmarks_) - set(self._fitted):
            raise ValueError("landmarks_ must be among the rows fitted")
