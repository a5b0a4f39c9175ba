"""Locally linear embedding: the map preserves the reconstruction of each row from its neighbours.

With the weights ``W`` that reconstruct each row from its neighbours, ``min Σ_i ‖x_i − Σ_j W_ij x_j‖²``, ``Σ_j W_ij =
1``, the embedding minimises ``Σ_i ‖y_i − Σ_j W_ij y_j‖² = tr YᵀMY``, ``M = (I − W)ᵀ(I − W)``: it consists of the
eigenvectors of M with the smallest eigenvalues, without the constant one (Roweis and Saul 2000). Its variants have
another M, see :mod:`lowdim.relate.alignment`.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data import options
from lowdim.methods.neighborhood import DISCONNECTED, USUAL, NeighborReducer, near_rule
from lowdim.persist import fields
from lowdim.relate.alignment import KINDS, alignment
from lowdim.relate.equal_rows import find_equal
from lowdim.relate.graph import (
    Bridges,
    Neighborhoods,
    beside,
    bridge_classes,
    closed_classes,
    closest_bridges,
    components,
    overlap_bridges,
    undirected,
)
from lowdim.relate.neighbors import nearest
from lowdim.relate.weights import barycentric, share_with_bridges
from lowdim.solve.eigenpairs import Eigenpairs, warn_unless_converged
from lowdim.solve.signs import signs
from lowdim.solve.smallest_eigenpairs import smallest
from lowdim.solve.smallest_symmetric import smallest_symmetric
from lowdim.work import memory
from lowdim.work.blockwise import float_dtype
from lowdim.work.random import seed_of
from lowdim.work.user_warnings import warn


class LLE(NeighborReducer):
    """Locally linear embedding.

    Parameters
    ----------
    n_components : int
        Number of dimensions of the embedding.
    n_neighbors : int or "auto" or "choose"
        Neighbours that each row is reconstructed from; ``"auto"`` is 10 (for "hessian" 7 in two dimensions, k (k + 3)/2
        + 2 in k, for the other variants at least k + 1), or all other rows where there are fewer.
    method : {"standard", "modified", "hessian", "ltsa"}
        What the map preserves of each neighbourhood: the weights that reconstruct the row; several such weights; that
        coordinates have no second derivatives along it (needs more than k (k + 3)/2 neighbours for k components); or
        its tangent coordinates, up to a linear map. On a sheet the last two give the sheet up to a linear map.
    reg : float
        Ridge of the weights, relative to the trace of the neighbours' Gram matrix, which is singular where there are
        more neighbours than dimensions.
    disconnected : {"bridge", "error", "largest"}
        If the neighbours form several closed classes, sets of rows whose neighbours all lie inside (for variants:
        connected components): join them by bridges to the nearest rows outside, whose ends become each other's
        neighbours; raise an error; or fit the largest connected component (any closed classes in it are joined) and
        treat the other rows as new ones. A warning says what was done.
    random_state : int, Generator, RandomState or None
        Seed of the starting vectors of the eigensolver.
    n_jobs : int or None
        Number of threads, BLAS included; None uses all cores available to the process.
    verbose : int
        1 shows progress bars with the time left.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
        Coordinates of the training rows, of mean 0 and covariance ``YᵀY/(n − 1) = I`` over those fitted. Equal rows are
        fitted once and share a position.
    reconstruction_error_ : float
        ``tr YᵀMY`` for orthonormal coordinates: the sum of ``eigenvalues_``.
    eigenvalues_ : array (n_components,)
        The smallest eigenvalues of M except that of the constant vector.
    weights_ : CSR array (n_samples, n_samples) or None
        The weights ``W``, None for other variants; rows that equal an earlier one, or lie outside the component fitted,
        have none.
    n_neighbors_ : int
        Number of neighbours used.
    n_connected_components_ : int
        Number of closed classes of the neighbour graph.
    bridges_ : array (n_bridges, 2)
        Pairs of rows joined by added edges, shortest first.
    bridge_lengths_ : array (n_bridges,)
        Their distances.
    solver_ : str
        Eigensolver used: ``"lu"``, ``"chebyshev"``, ``"cholesky"``, ``"dense"`` or, for variants,
        ``"band"``; ``"none"`` if all rows are equal.
    residual_ : float
        Largest ``‖M v − λ v‖`` relative to the largest eigenvalue of M.

    Examples
    --------
    >>> import lowdim
    >>> X, t = lowdim.data.load("swissroll")
    >>> lle = lowdim.LLE(2, n_neighbors=12, random_state=0).fit(X)
    >>> Y = lle.transform(X)
    >>> (Y.T @ Y / (len(Y) - 1)).round(6) + 0
    array([[1., 0.],
           [0., 1.]])
    """

    weights_: sp.csr_array | None
    _rules = {
        "n_components": options.integer(1),
        "n_neighbors": near_rule,
        "method": options.one_of("standard", *KINDS),
        "reg": options.real(0, closed="left"),
        "disconnected": options.one_of(*DISCONNECTED),
        "random_state": options.seed,
        "n_jobs": options.jobs,
        "verbose": options.integer(0),
    }

    def _state(self) -> dict[str, fields.Field]:
        return {
            **super()._state(),
            "weights_": fields.nothing | fields.rows("n", "n"),
            "eigenvalues_": fields.array("k"),
            "reconstruction_error_": fields.number(),
            "solver_": fields.text(),
            "residual_": fields.number(0),
        }

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | str = "auto",
        method: str = "standard",
        reg: float = 1e-3,
        disconnected: str = "bridge",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.method = method
        self.reg = reg
        self.disconnected = disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, X: Any, y: Any) -> None:
        X = self._take(X, reset=True, sparse=True, minimum=2)
        n, k, dtype = X.shape[0], int(self.n_components), float_dtype(X.dtype)
        self._demand_sizes(n)
        self._ask_memory(*X.shape)
        rows = self._keep_rows(X)
        first = find_equal(rows, rows)
        kept = np.flatnonzero(first == np.arange(n))  # the others share the position of the row they equal
        if len(kept) == 1:
            self._learn_a_point(n, dtype)
            return
        self._demand_distinct(len(kept))
        Z = rows if len(kept) == n else rows[kept]
        near, bridges, inside, root = self._closed(Z) if self.method == "standard" else self._overlapping(Z)
        self._keep_rows_fitted(kept, inside, bridges, n)
        Z = Z if len(inside) == Z.shape[0] else Z[inside]
        pairs = self._eigenpairs(Z, near, bridges, root, k, seed_of(self.random_state))
        self.weights_ = None if self.weights_ is None else _among(self.weights_, kept[inside], n)
        Y = pairs.vectors * signs(pairs.vectors.T) * np.sqrt(len(inside) - 1)
        self._complete(Y.astype(dtype), rows, first)
        self._tell_of_few_rows(Y)

    def _eigenpairs(self, Z: Any, near: Neighborhoods, bridges: Bridges, root: int, k: int, seed: int) -> Eigenpairs:
        """The k smallest eigenpairs of ``(I − W)ᵀ(I − W)``, or of the alignment matrix of a variant."""
        m, self.weights_ = Z.shape[0], None
        if self.method == "standard":
            W = barycentric(Z, near.starts, near.ends, float(self.reg))
            self.weights_ = share_with_bridges(sp.csr_array((W, near.ends, near.starts), shape=(m, m)), bridges.pairs)
            pairs = smallest(sp.csr_array(sp.eye_array(m) - self.weights_), k, root, seed=seed)
        else:
            M = alignment(Z, near, k, self.method, float(self.reg))
            pairs = smallest_symmetric(M, k, null=np.ones(m), seed=seed)
        warn_unless_converged(pairs, "Ask for fewer components, or change n_neighbors.")
        self.eigenvalues_, self.residual_, self.solver_ = pairs.values, pairs.residual, pairs.solver
        self.reconstruction_error_ = float(pairs.values.sum())
        return pairs

    def _demand_sizes(self, n: int) -> None:
        """Refuse numbers of neighbours and components that n rows do not allow."""
        self.n_neighbors_ = self._count_neighbors(n)
        self._demand_components(n - 1, "n_samples")
        self._demand_neighbors()

    def _keep_rows_fitted(self, kept: NDArray, inside: NDArray, bridges: Bridges, n: int) -> None:
        """Store which rows the map is fitted on, and the bridges, by their numbers among all n rows."""
        chosen = kept[inside]
        self._fitted = None if len(inside) == n else chosen
        self.bridges_, self.bridge_lengths_ = chosen[bridges.pairs].astype(np.int32), bridges.lengths

    def _closed(self, Z: Any) -> tuple[Neighborhoods, Bridges, NDArray, int]:
        """By the policy: neighbours of the rows fitted, numbered among them, their bridges, the rows, and the root."""
        n, k = Z.shape[0], self.n_neighbors_
        ends, rows = nearest(Z, k).indices, np.arange(n)
        parts = closed_classes(np.arange(n + 1) * k, ends.ravel())
        self.n_connected_components_ = int(parts.max()) + 1
        if self.n_connected_components_ == 1:
            none = Bridges(np.empty((0, 2), np.int32), np.empty(0, np.float32))
            near = Neighborhoods(np.arange(n + 1) * k, ends.ravel())
            return near, none, rows, _root(near, parts)
        whole = components(undirected(n, np.repeat(rows, k), ends.ravel(), np.zeros(n * k)))
        size, joined = int((whole == 0).sum()), []

        def bridge() -> Bridges:
            joined.append(bridge_classes(Z, ends))
            return joined[0][1]

        if self._tell(parts, "of one closed class", bridge, largest=size) is None:
            rows = np.flatnonzero(whole == 0)  # connected, though it may contain closed classes
            self._demand_components(size - 1, "rows of the largest component", "raise n_neighbors")
            joined.append(bridge_classes(Z[rows], np.searchsorted(rows, ends[rows]).astype(np.int32)))
        near, bridges = joined[0]
        return near, bridges, rows, _root(near, closed_classes(*near))

    def _overlapping(self, Z: Any) -> tuple[Neighborhoods, Bridges, NDArray, int]:
        """Neighbours for the variants, which need neighbourhoods of a connected graph that share rows."""
        n, k = Z.shape[0], self.n_neighbors_
        ends, rows = nearest(Z, k).indices, np.arange(n)
        parts = components(undirected(n, np.repeat(rows, k), ends.ravel(), np.zeros(n * k)))
        self.n_connected_components_ = int(parts.max()) + 1
        bridges: Bridges | None = Bridges(np.empty((0, 2), np.int32), np.empty(0, np.float32))
        if self.n_connected_components_ > 1:
            bridges = self._tell(parts, "connected", lambda: closest_bridges(Z, parts, "euclidean"))
        if bridges is None:
            rows = np.flatnonzero(parts == 0)
            self._demand_components(len(rows) - 1, "rows of the largest component", "raise n_neighbors")
            ends = np.searchsorted(rows, ends[rows]).astype(np.int32)
            bridges = Bridges(np.empty((0, 2), np.int32), np.empty(0, np.float32))
        return overlap_bridges(ends, bridges.pairs, int(self.n_components) + 1), bridges, rows, 0

    def _least_neighbors(self) -> tuple[int, str]:
        """Fewest neighbours for the variant, and what they must exceed."""
        k = int(self.n_components)
        return {
            "standard": (1, ""),
            "modified": (k + 1, "n_components"),
            "ltsa": (k + 1, "n_components"),
            "hessian": (k * (k + 3) // 2 + 1, "n_components (n_components + 3) / 2"),
        }[self.method]

    def _usual_neighbors(self) -> int:
        least, _ = self._least_neighbors()
        return least + 1 if self.method == "hessian" else max(USUAL, least)  # more neighbours, more curvature

    def _demand_neighbors(self) -> None:
        """Refuse too few neighbours for the variant."""
        least, why = self._least_neighbors()
        if self.n_neighbors_ < least:
            raise ValueError(
                f"LLE: method={self.method!r} needs n_neighbors above {why} = {least - 1}; got {self.n_neighbors_}. "
                "Raise n_neighbors, with as many distinct rows, or lower n_components."
            )

    def _demand_distinct(self, distinct: int) -> None:
        """Refuse more components than distinct rows allow; lower the number of neighbours to what is available."""
        self._demand_components(distinct - 1, "distinct rows")
        if self.n_neighbors_ >= distinct:
            self.n_neighbors_ = distinct - 1
            if self.n_neighbors != "auto":
                warn(
                    f"LLE: n_neighbors must be below the number of distinct rows ({distinct:,}); got "
                    f"{self.n_neighbors}. {distinct - 1:,} are used."
                )
        self._demand_neighbors()

    def _learn_a_point(self, n: int, dtype: np.dtype) -> None:
        """The map of rows that are all equal."""
        warn(f"LLE: rows must differ; got {n:,} equal ones. The map is one point.")
        k = int(self.n_components)
        self._fitted, self.n_connected_components_ = None, 1
        self.bridges_, self.bridge_lengths_ = np.empty((0, 2), np.int32), np.empty(0, np.float32)
        self.weights_ = sp.csr_array((n, n), dtype=np.float64)
        self.eigenvalues_, self.reconstruction_error_, self.residual_ = np.zeros(k), 0.0, 0.0
        self.solver_, self.embedding_ = "none", np.zeros((n, k), dtype)

    def _ask_memory(self, n: int, d: int) -> None:
        """Neighbours, the weights with their transpose or M with its halves, and the vectors of the search."""
        near, k = self._count_neighbors(n), int(self.n_components)
        entries = 195.0 * near if self.method == "standard" else 40.0 * (near + 1) ** 2
        what = f"LLE: {near} neighbours of {n:,} rows in {k:,} components"
        instead = "Lower n_neighbors or n_components, or pass fewer rows."
        memory.require(n * (entries + 8.0 * 5 * (k + 16)), what, instead)

    def _place(self, Q: Any) -> NDArray:
        rows = self._learnt_from(self._rows)
        return self._interpolate(rows, Q, beside(rows, Q, self.n_neighbors_, None, "euclidean"), float(self.reg))


def _among(W: sp.csr_array, rows: NDArray, n: int) -> sp.csr_array:
    """Weights (n, n) of all rows, from those between some."""
    if W.shape[0] == n:
        return W
    starts = np.zeros(n + 1, W.indptr.dtype)
    starts[rows + 1] = np.diff(W.indptr)
    return sp.csr_array((W.data, rows[W.indices].astype(np.int32), np.cumsum(starts)), shape=(n, n))


def _root(near: Neighborhoods, closed: NDArray) -> int:
    """The row of the closed class that is a neighbour of most others: all rows lead there."""
    return int(np.argmax(np.where(closed == 0, np.bincount(near.ends, minlength=len(closed)), -1)))
