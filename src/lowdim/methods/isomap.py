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

from lowdim.data import gate, options
from lowdim.data.distances import demand_class_distances, demand_distances, given_class_distances
from lowdim.data.labels import Labels, labels
from lowdim.methods.base import fitting
from lowdim.methods.neighborhood import DISCONNECTED, NeighborReducer, near_rule
from lowdim.methods.scaling import bytes_to_scale, classical_scaling
from lowdim.relate.geodesics import Beside, bytes_for, class_distances, geodesics, residual_variance
from lowdim.relate.graph import Graph, beside, closest_bridges, components, joined, part_of, short_circuits, undirected
from lowdim.relate.moments import moments
from lowdim.relate.neighbors import METRICS, nearest, within
from lowdim.solve.components import elbow
from lowdim.solve.discriminant import whiten
from lowdim.work import memory
from lowdim.work.blocks import float_dtype
from lowdim.work.random import seed_of, stream

_BLOCK_BYTES = 2**26  # of distances between new rows and old ones
_REG = 1e-3  # of the weights that interpolate


class Isomap(NeighborReducer):
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
        Dimensions before the corner of ``residual_variance_``; ask for more components than you expect to need.
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
        Classes and the distances between them, under supervision.
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
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.sparse = self.metric != "precomputed"
        tags.target_tags.required = self.supervision > 0
        return tags

    @fitting
    def fit(self, X: Any, y: Any = None) -> "Isomap":
        """Learn the embedding of ``X``.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            The data, dense or sparse; all distances (n_samples, n_samples) where ``metric="precomputed"``.
        y : array (n_samples,), optional
            Labels of the rows, for ``supervision``.

        Returns
        -------
        Isomap
            This object.
        """
        self._learn(X, y)
        return self

    @fitting
    def fit_transform(self, X: Any, y: Any = None) -> NDArray:
        """Learn the embedding and return it.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            As in ``fit``.
        y : array (n_samples,), optional
            As in ``fit``.

        Returns
        -------
        array (n_samples, n_components)
            The places of the rows.
        """
        self._learn(X, y)
        return self.embedding_

    def _learn(self, X: Any, y: Any) -> None:
        given = self.metric == "precomputed"
        X = gate.rows(self, X, reset=True, sparse=not given, minimum=2)
        n, k = X.shape[0], int(self.n_components)
        found = self._demand_sense(X, y)
        self._demand_memory(n)
        seed = seed_of(self.random_state)
        self._rows = np.empty((0, 0), float_dtype(X.dtype)) if given else self._keep_rows(X)
        self._whitening = self._find_whitening(X)
        Z, metric = self._flat(X if given else self._rows)
        graph, rows = self._connected(self._neighbor_graph(Z, metric), Z, metric)
        self._fitted, self._graph = rows, (graph.starts, graph.ends, graph.lengths)
        self.short_circuits_ = self._suspected(graph, rows)
        codes = None if found is None else found.codes if rows is None else found.codes[rows]
        self.landmarks_ = self._draw(graph.n, codes, seed)
        D = geodesics(graph, self.landmarks_)
        self.classes_, self.class_distance_ = None, None
        if found is not None and codes is not None:
            self.classes_ = found.classes
            self.class_distance_ = self._mix(D, codes, found)
        np.multiply(D, D, out=D)
        some = slice(None) if self.landmarks_ is None else self.landmarks_
        scaling = classical_scaling(D if self.landmarks_ is None else D[:, some], k, seed)
        Y = scaling.places if self.landmarks_ is None else scaling.project(D.T)
        sources = np.arange(graph.n)[some]
        self.residual_variance_ = residual_variance(D, sources, Y, squared=True)
        self.suggested_components_ = min(k, elbow([1.0, *self.residual_variance_]))
        del D
        self._dual, self._offset = scaling.dual, scaling.offset
        self.eigenvalues_, self.residual_ = scaling.values, scaling.residual
        self._complete(Y, Z, float_dtype(X.dtype))

    def _complete(self, Y: NDArray, Z: Any, dtype: np.dtype) -> None:
        """Keep the places of the rows fitted, and find those of rows outside the largest part."""
        if self._fitted is None:
            self.embedding_ = Y.astype(dtype)
            return
        n = Z.shape[0]
        self.embedding_ = np.empty((n, Y.shape[1]), dtype)
        self.embedding_[self._fitted] = Y
        rest = np.setdiff1d(np.arange(n), self._fitted)
        self.embedding_[rest] = self._place_flat(Z, Z[rest])

    def _neighbor_graph(self, Z: Any, metric: str) -> Graph:
        n = Z.shape[0]
        self.n_neighbors_: int | None = None
        if self.radius is None:
            self.n_neighbors_ = self._count_neighbors(n)
            found = nearest(Z, self.n_neighbors_, metric=metric)
            tails = np.repeat(np.arange(n), self.n_neighbors_)
            return undirected(n, tails, found.indices.ravel(), found.distances.ravel())
        near = within(Z, float(self.radius), metric=metric)
        alone = np.flatnonzero(np.diff(near.indptr) == 0)
        if len(alone):
            least = float(nearest(Z, 1, metric=metric).distances.max())
            raise ValueError(
                f"Isomap: radius must reach a neighbour of every row; got {self.radius:g}, which leaves {len(alone):,} "
                f"rows alone (the first is row {alone[0]}). Pass {least:.4g} or more, or use n_neighbors."
            )
        return undirected(n, np.repeat(np.arange(n), np.diff(near.indptr)), near.indices, near.distances)

    def _connected(self, graph: Graph, Z: Any, metric: str) -> tuple[Graph, NDArray | None]:
        """A connected graph, by the policy, and the rows it is on (None: all)."""
        parts = components(graph)
        self.components_found_ = int(parts.max()) + 1
        self.bridges_, self.bridge_lengths_ = np.empty((0, 2), np.int32), np.empty(0, np.float32)
        if self.components_found_ == 1:
            return graph, None
        bridges = self._tell(parts, "connected", lambda: closest_bridges(Z, parts, metric))
        if bridges is None:
            rows = np.flatnonzero(parts == 0)
            self._demand_components(len(rows) - 1, "rows of the largest part")
            return part_of(graph, rows), rows
        self.bridges_, self.bridge_lengths_ = bridges
        return joined(graph, bridges), None

    def _suspected(self, graph: Graph, rows: NDArray | None) -> NDArray[np.int32]:
        """Suspected short circuits, told to the user."""
        suspects = short_circuits(graph)
        pairs = suspects.pairs if rows is None else rows[suspects.pairs].astype(np.int32)
        if len(pairs):
            (i, j), few = pairs[0], "fewer neighbours" if self.radius is None else "a smaller radius"
            self._warn(
                f"Isomap: neighbours should be close along the data; {len(pairs):,} pairs are suspected short circuits "
                f"(short_circuits_), such as rows {i} and {j}, {suspects.lengths[0]:.3g} apart and "
                f"{suspects.detours[0]:.3g} the way round. Try {few}."
            )
        return pairs

    def _draw(self, n: int, codes: NDArray | None, seed: int) -> NDArray | None:
        """Landmarks among n rows, in order; under supervision each class has one."""
        if self.landmarks is None:
            return None
        drawn = stream(seed, "landmarks").permutation(n)
        if codes is not None:
            _, first = np.unique(codes[drawn], return_index=True)
            drawn = np.concatenate([drawn[first], np.delete(drawn, first)])
        return np.sort(drawn[: min(n, int(self.landmarks))])

    def _mix(self, D: NDArray[np.float32], codes: NDArray, found: Labels) -> NDArray[np.float64]:
        """Turn ``D`` into ``(1 − α) D + α C``, in place, and return ``C``."""
        own = codes if self.landmarks_ is None else codes[self.landmarks_]
        if self.class_distance is None:
            C = class_distances(D, own, codes, len(found.classes))
        else:
            C = np.array(self.class_distance, dtype=np.float64)
        share = float(self.supervision)
        D *= np.float32(1 - share)
        columns = (share * C).astype(np.float32)[:, codes]
        for i, code in enumerate(own):
            D[i] += columns[code]
        return C

    def _find_whitening(self, X: Any) -> NDArray | None:
        if self.metric != "mahalanobis":
            return None
        M = moments(X)
        P = whiten(M.scatter / max(1.0, X.shape[0] - 1.0), 1e-12).P
        if not P.shape[1]:
            raise ValueError(
                "Isomap: metric='mahalanobis' needs a feature that varies; got none. Use metric='euclidean'."
            )
        return P

    def _flat(self, X: Any) -> tuple[Any, str]:
        """Rows and metric for the neighbour search: Mahalanobis' distance is Euclid's after whitening."""
        if self._whitening is None:
            return X, self.metric
        return np.ascontiguousarray(X @ self._whitening.astype(X.dtype)), "euclidean"

    def _known(self, X: Any) -> tuple[Any, NDArray]:
        if self.metric != "precomputed":
            return super()._known(X)
        nearest_ = X.argmin(axis=1)
        return X, np.where(X[np.arange(len(X)), nearest_] <= 0, nearest_, -1)

    def _place(self, Q: Any) -> NDArray:
        if self.metric == "precomputed":
            return self._place_flat(None, Q)
        return self._place_flat(self._flat(self._rows)[0], self._flat(Q)[0])

    def _place_flat(self, Z: Any, Q: Any) -> NDArray:
        """Places of new rows ``Q`` beside all training rows ``Z``, both in the form of the neighbour search."""
        if self.metric == "precomputed":
            Q = self._learnt_from(Q.T).T
        else:
            Z = self._learnt_from(Z)
        metric = self.metric if self._whitening is None else "euclidean"
        near = beside(Z, Q, self.n_neighbors_, self.radius, metric)
        if self.new_points == "interpolate" or self.supervision > 0:
            return self._between(Z, Q, near)
        graph, m = Graph(*self._graph), Q.shape[0]
        Y = np.empty((m, self._dual.shape[1]))
        step = max(64, _BLOCK_BYTES // (4 * graph.n))
        for start in range(0, m, step):
            stop = min(m, start + step)
            cut = slice(near.starts[start], near.starts[stop])
            some = Beside(near.starts[start : stop + 1] - near.starts[start], near.rows[cut], near.lengths[cut])
            D = geodesics(graph, some)
            D = D if self.landmarks_ is None else D[:, self.landmarks_]
            Y[start:stop] = -0.5 * (np.square(D, dtype=np.float64) @ self._dual) - self._offset
        return Y

    def _between(self, Z: Any, Q: Any, near: Beside) -> NDArray:
        """Places between the neighbours; where rows are not known, by weights that fall with the squared distance."""
        if self.metric == "precomputed":
            W = 1.0 / np.maximum(np.square(near.lengths, dtype=np.float64), np.finfo(np.float32).tiny)
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
        if self.radius is not None and self.n_neighbors != "auto":
            raise ValueError(
                f"Isomap: n_neighbors or radius is needed, not both; got n_neighbors={self.n_neighbors} and radius="
                f"{self.radius:g}. Leave one out."
            )
        self._count_neighbors(n)
        self._demand_components(n - 1, "n_samples")
        if self.landmarks is not None:
            if self.landmarks > n:
                raise ValueError(
                    f"Isomap: landmarks must be at most n_samples ({n:,}); got {self.landmarks:,}. Lower it, or pass "
                    "None."
                )
            self._demand_components(int(self.landmarks) - 1, "landmarks")
        if not self.supervision:
            return None
        if y is None:
            raise ValueError(
                f"Isomap: supervision={self.supervision:g} requires y to be passed, but the target y is None. Pass the "
                "labels of the rows, fit(X, y), or supervision=0."
            )
        found = labels(self, y, X)
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
        n = len(self._learnt_from(self.embedding_))
        starts, ends, lengths = self._graph
        if len(starts) != n + 1 or len(ends) != len(lengths):
            raise ValueError(f"the graph of {len(starts) - 1} rows does not fit the {n} rows of the map")
        rows = n if self.landmarks_ is None else len(self.landmarks_)
        if np.shape(self._dual) != (rows, self._n_features_out) or np.shape(self._offset) != (self._n_features_out,):
            raise ValueError(f"the map {np.shape(self._dual)} does not fit {rows} rows")
