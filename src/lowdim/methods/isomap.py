"""Isomap: classical scaling of the distances along the data.

With the lengths ``D`` of the shortest paths on a graph of neighbours, ``B = −½ H D² H`` (``H = I − 11ᵀ/n``) is the Gram
matrix of the embedding, which is ``U_k Λ_k^½`` from its leading eigenpairs (Tenenbaum, de Silva and Langford 2000).
With landmarks only their rows of ``D`` are computed (de Silva and Tenenbaum 2003).
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from lowdim.compose.scaling import bytes_to_scale, classical_scaling
from lowdim.data import options
from lowdim.data.distances import (
    demand_class_distances,
    demand_distances,
    given_class_distances,
)
from lowdim.data.labels import Labels, labels
from lowdim.methods.graph_reducer import GraphReducer
from lowdim.methods.neighborhood import DISCONNECTED, near_rule
from lowdim.persist import fields
from lowdim.relate.geodesics import Beside, bytes_for, class_distances, draw_landmarks, geodesics, residual_variance
from lowdim.relate.graph import Graph, beside, neighbor_graph
from lowdim.relate.neighbors import METRICS, whitening
from lowdim.relate.shortcuts import short_circuits
from lowdim.solve.components import elbow
from lowdim.work import memory
from lowdim.work.blocks import float_dtype
from lowdim.work.random import seed_of
from lowdim.work.user_warnings import warn

_BLOCK_BYTES = 2**26  # of distances between new rows and old ones
_REG = 1e-3  # of the weights that interpolate
_EXPLAINED = 1e-9  # residual variance that is rounding


class Isomap(GraphReducer):
    """Isomap: an embedding that keeps distances along the data.

    Parameters
    ----------
    n_components : int
        Dimensions of the embedding.
    n_neighbors : int or "auto"
        Neighbours of each row; ``"auto"`` is 10, or all other rows where there are fewer.
    radius : float or None
        Join rows up to this distance instead; ``n_neighbors`` must then be ``"auto"``.
    metric : {"euclidean", "cosine", "manhattan", "mahalanobis", "precomputed"}
        Distance between neighbours. ``"precomputed"``: ``fit`` takes all distances (n, n), ``transform`` those between
        new and training rows (m, n).
    supervision : float in [0, 1)
        Share α of the classes in the distances, ``(1 − α) D + α C``; 0 uses no labels.
    class_distance : array (n_classes, n_classes) or None
        The distances ``C`` between classes, in the order of the sorted labels; None is the mean distance along the
        data between their members, and 0 within a class.
    landmarks : int or None
        Compute distances from this many rows only, drawn at random; time and memory then grow with n.
    disconnected : {"bridge", "error", "largest"}
        If the graph falls apart: join the parts by the shortest bridges; raise; or fit the largest part and place the
        other rows as new ones. A warning says what was done.
    new_points : {"geodesic", "interpolate"}
        How new rows are placed: by their distances along the data, or by the weights that rebuild them from their
        neighbours. Under supervision new rows have no label, and are interpolated.
    random_state : int, Generator, RandomState or None
        Seed of the landmarks and of the Krylov method's start.
    n_jobs : int or None
        Threads for kernels and BLAS; None is all cores this process may use.
    verbose : int
        1 shows the stages with the time left.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Places of the training rows; a coordinate without positive eigenvalue is 0.
    eigenvalues_ : array (n_components,)
        Leading eigenvalues of ``B`` (with landmarks, of theirs).
    residual_variance_ : array (n_components,)
        ``1 − R²`` between the distances and those in the first 1, 2, … coordinates.
    suggested_components_ : int
        Dimensions up to the corner of log ``residual_variance_``; ask for more components than you expect to need.
    n_neighbors_ : int or None
        Number of neighbours used; None with a radius.
    components_found_ : int
        Parts that the graph fell into.
    bridges_ : array (n_bridges, 2)
        Rows joined by bridges, shortest first.
    bridge_lengths_ : array (n_bridges,)
        Their distances.
    short_circuits_ : array (n_edges, 2)
        Neighbours suspected to join what lies far apart along the data, the longest way round first.
    landmarks_ : array (landmarks,) or None
        The rows drawn.
    classes_, class_distance_ : array or None
        Classes and the distances between them, under supervision; NaN for a class without rows in the part fitted.
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
        "n_components": options.whole(1),
        "n_neighbors": near_rule,
        "radius": options.real(0) | options.none,
        "metric": options.one_of(*METRICS),
        "supervision": options.real(0, 1, closed="left"),
        "class_distance": options.none | given_class_distances,
        "landmarks": options.whole(1) | options.none,
        "disconnected": options.one_of(*DISCONNECTED),
        "new_points": options.one_of("geodesic", "interpolate"),
        "random_state": options.seed,
        "n_jobs": options.jobs,
        "verbose": options.whole(0),
    }

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
        metric: str = "euclidean",
        supervision: float = 0.0,
        class_distance: Any = None,
        landmarks: int | None = None,
        disconnected: str = "bridge",
        new_points: str = "geodesic",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.supervision = supervision
        self.class_distance = class_distance
        self.landmarks = landmarks
        self.disconnected = disconnected
        self.new_points = new_points
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.supervision > 0
        return tags

    def _learn(self, X: Any, y: Any) -> None:
        given = self.metric == "precomputed"
        X = self._take(X, reset=True, sparse=not given, minimum=2)
        n, k = X.shape[0], int(self.n_components)
        found = self._demand_sense(X, y)
        self._demand_memory(n)
        seed = seed_of(self.random_state)
        self._rows = np.empty((0, 0), float_dtype(X.dtype)) if given else self._keep_rows(X)
        self._whitening = whitening(X) if self.metric == "mahalanobis" else None
        Z, metric = self._flat(X if given else self._rows)
        self.n_neighbors_ = None if self.radius is not None else self._count_neighbors(n)
        graph, rows = self._connected(neighbor_graph(Z, self.n_neighbors_, self.radius, metric), Z, metric)
        self.short_circuits_ = self._suspected(graph, rows)
        # Distances are squared in float32: in a unit near their own they neither overflow nor vanish.
        self._unit = float(np.exp2(np.floor(np.log2(graph.lengths.max(initial=0) or 1.0))))
        graph = graph._replace(lengths=graph.lengths / np.float32(self._unit))
        self._fitted, self._graph = rows, (graph.starts, graph.ends, graph.lengths)
        codes = None if found is None else found.codes if rows is None else found.codes[rows]
        drawn = None if self.landmarks is None else draw_landmarks(graph.n, int(self.landmarks), codes, seed)
        self.landmarks_ = drawn if drawn is None or rows is None else rows[drawn]
        D = geodesics(graph, drawn, squared=found is None)
        self.classes_, self.class_distance_ = None, None
        if found is not None and codes is not None:
            self.classes_ = found.classes
            self.class_distance_ = self._mix(D, codes if drawn is None else codes[drawn], codes, len(found.classes))
            np.multiply(D, D, out=D)
        some = slice(None) if drawn is None else drawn
        scaling = classical_scaling(D if drawn is None else D[:, some], k, seed)
        Y = scaling.places if drawn is None else scaling.project(D.T)
        self.residual_variance_ = residual_variance(D, np.arange(graph.n)[some], Y, squared=True)
        left = np.maximum([1.0, *self.residual_variance_], _EXPLAINED)  # in logarithms, or a narrow sheet is a line
        self.suggested_components_ = min(k, elbow(np.log(left)))
        del D
        self._dual, self._offset = scaling.dual, scaling.offset
        self.eigenvalues_, self.residual_ = scaling.values * self._unit**2, scaling.residual
        self._complete((Y * self._unit).astype(float_dtype(X.dtype)), X if given else self._rows)

    def _suspected(self, graph: Graph, rows: NDArray | None) -> NDArray[np.int32]:
        """Suspected short circuits, told to the user."""
        suspects = short_circuits(graph)
        pairs = suspects.pairs if rows is None else rows[suspects.pairs].astype(np.int32)
        if len(pairs):
            told = "1 pair is a suspected short circuit"
            if len(pairs) > 1:
                told = f"{len(pairs):,} pairs are suspected short circuits"
            (i, j), few = pairs[0], "fewer neighbours" if self.radius is None else "a smaller radius"
            warn(
                f"Isomap: neighbours should be close along the data; {told} (short_circuits_), such as "
                f"rows {i} and {j}, {suspects.lengths[0]:.3g} apart and "
                f"{suspects.detours[0]:.3g} the way round. Try {few}."
            )
        return pairs

    def _mix(self, D: NDArray[np.float32], own: NDArray, codes: NDArray, n_classes: int) -> NDArray[np.float64]:
        """Turn ``D`` between rows of classes ``own`` and ``codes`` into ``(1 − α) D + α C``, in place; return ``C``."""
        share = float(self.supervision)
        if self.class_distance is None:
            C = class_distances(D, own, codes, n_classes)
        else:
            C = np.array(self.class_distance, dtype=np.float64) / self._unit
        D *= np.float32(1 - share)
        columns = (share * C).astype(np.float32)[:, codes]
        for i, code in enumerate(own):
            D[i] += columns[code]
        return C * self._unit

    def _place(self, Q: Any) -> NDArray:
        if self.metric == "precomputed":
            Z, Q = None, self._learnt_from(Q.T).T
        else:
            Z, Q = self._learnt_from(self._flat(self._rows)[0]), self._flat(Q)[0]
        metric = self.metric if self._whitening is None else "euclidean"
        near = beside(Z, Q, self.n_neighbors_, self.radius, metric)
        if self.new_points == "interpolate" or self.supervision > 0:
            return self._between(Z, Q, near)
        graph, m, scaled = Graph(*self._graph), Q.shape[0], near.lengths / np.float32(self._unit)
        drawn = self.landmarks_
        if drawn is not None and self._fitted is not None:
            drawn = np.searchsorted(self._fitted, drawn)
        Y = np.empty((m, self._dual.shape[1]))
        step = max(64, _BLOCK_BYTES // (4 * graph.n))
        for start in range(0, m, step):
            stop = min(m, start + step)
            cut = slice(near.starts[start], near.starts[stop])
            some = Beside(near.starts[start : stop + 1] - near.starts[start], near.rows[cut], scaled[cut])
            D = geodesics(graph, some)
            D = D if drawn is None else D[:, drawn]
            Y[start:stop] = -0.5 * (np.square(D, dtype=np.float64) @ self._dual) - self._offset
        return Y * self._unit

    def _between(self, Z: Any, Q: Any, near: Beside) -> NDArray:
        """Places between the neighbours; where rows are not known, by weights that fall with the squared distance."""
        if self.metric == "precomputed":
            W = 1.0 / np.maximum(np.square(near.lengths, dtype=np.float64), np.finfo(np.float64).tiny)
            A = sp.csr_array((W, near.rows, near.starts), shape=(Q.shape[0], len(self._places())))
            return np.asarray(A @ self._places()) / np.asarray(A.sum(axis=1)).reshape(-1, 1)
        if self.metric == "cosine":
            Z, Q = normalize(Z), normalize(Q)
        return self._interpolate(Z, Q, near, _REG)

    def _demand_sense(self, X: Any, y: Any) -> Labels | None:
        """Refuse what cannot work, before any work, and return the labels where they are used."""
        n = X.shape[0]
        if self.metric == "precomputed":
            demand_distances(X, "Isomap")
        self._demand_one_size()
        self._count_neighbors(n)
        self._demand_components(n - 1, "n_samples")
        if self.landmarks is not None:
            if self.landmarks > n:
                raise ValueError(
                    f"Isomap: landmarks must be at most n_samples ({n:,}); got {self.landmarks:,}. Lower it, or pass "
                    "None."
                )
            self._demand_components(int(self.landmarks) - 1, "landmarks", "draw more of them")
        if not self.supervision:
            return None
        if y is None:
            raise ValueError(
                f"Isomap: supervision={self.supervision:g} requires y to be passed, but the target y is None. Pass the "
                "labels of the rows, fit(X, y), or supervision=0."
            )
        found = labels(self._name, y, X)
        if self.class_distance is not None:
            demand_class_distances(self.class_distance, len(found.classes), "Isomap")
        if self.landmarks is not None and self.landmarks < len(found.classes):
            raise ValueError(
                f"Isomap: supervision needs a landmark in each of the {len(found.classes)} classes; got landmarks="
                f"{self.landmarks}. Raise it."
            )
        return found

    def _demand_memory(self, n: int) -> None:
        m, k = int(self.landmarks or n), int(self.n_components)
        figure = bytes_for(m, n) + bytes_to_scale(m, k, copy=self.landmarks is not None) + 24.0 * n * k
        what = f"Isomap: the distances along the data, {m:,} × {n:,},"
        memory.require(figure, what, "Lower landmarks." if self.landmarks else "Pass landmarks=1000, for example.")

    def _check_state(self) -> None:
        super()._check_state()
        if self.landmarks_ is not None and self._fitted is not None and set(self.landmarks_) - set(self._fitted):
            raise ValueError("landmarks_ must be among the rows fitted")
