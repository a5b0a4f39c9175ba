"""Base class of Laplacian eigenmaps and diffusion maps: similarities of neighbours or of all rows, their smoothest
coordinates, and the positions of new rows by Nyström's formula.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.compose.spectral_map import spectral_map
from lowdim.data.precomputed import demand_distances, first_equal
from lowdim.methods.graph_reducer import GraphReducer
from lowdim.persist import fields
from lowdim.relate.equal_rows import find_equal
from lowdim.relate.graph import Bridges, Graph, beside, joined, neighbor_graph
from lowdim.relate.pairwise import pairwise
from lowdim.relate.similarities import divided, full_similarities, local_widths, similarities
from lowdim.work import memory, thread_limit
from lowdim.work.blockwise import float_dtype
from lowdim.work.random import seed_of
from lowdim.work.user_warnings import warn

_TOL = 1e-15  # residual of the eigenvectors relative to the largest eigenvalue
_JOINED = float(np.exp(-0.5))  # similarity of the ends of a bridge: that of rows one width apart
_LEAST = 0.1  # that Nyström divides by, since a mode that vanishes within a step cannot be extended
_BLOCK_BYTES = 2**26  # of similarities between new rows and old ones


class SimilarityReducer(GraphReducer, ABC):
    """A method that maps rows by the slowest modes of a random walk between similar rows.

    A subclass defines the similarities by ``_binary``, ``_tuned``, ``_loops`` and ``_power``, and the final coordinates
    in ``_finish``.
    """

    gamma: Any
    random_state: Any
    eigenvalues_: NDArray[np.float64]
    _power = 0.0  # of the density that similarities are divided by
    _loops = False  # whether a row is similar to itself

    @property
    def _binary(self) -> bool:
        """Whether all neighbours have the same weight."""
        return False

    @property
    def _tuned(self) -> bool:
        """Whether each row has a width of its own."""
        return isinstance(self.gamma, str) and self.gamma == "self_tuning"

    def _learn(self, X: Any, y: Any) -> None:
        X = self._demand_possible(X)
        n, dtype = X.shape[0], float_dtype(X.dtype)
        Z, metric = self._searched(X)
        first = first_equal(X, self._name) if self._given else find_equal(self._rows, self._rows)
        kept = np.flatnonzero(first == np.arange(n))  # the others share the position of the row they equal
        if len(kept) == 1:
            self._learn_a_point(n, dtype)
            return
        if len(kept) < n:
            Z = Z[kept][:, kept] if self._given else Z[kept]
            self._demand_distinct(len(kept))
        V, inside = self._all_similarities(Z, metric) if self._full else self._similarities(Z, metric)
        self._keep_rows_fitted(kept, inside, n)
        self._density = np.asarray(V.sum(axis=1), dtype=np.float64).ravel() ** self._power
        seed = seed_of(self.random_state)
        found = spectral_map(divided(V, self._density), int(self.n_components), seed=seed, tol=_TOL)
        self.residual_, self.solver_, self._shrink = found.residual, found.solver, 1.0 - found.values
        Y = self._finish(found.values, found.positions)
        self._complete(Y.astype(dtype), X if self._given else self._rows, first)
        self._tell_of_few_rows(Y)

    def _demand_possible(self, X: Any) -> Any:
        """Validated rows or distances; refuses parameters that do not suit them, before any work."""
        X = self._take(X, reset=True, sparse=not self._given or not self._full, minimum=2)
        if self._given:
            demand_distances(X, self._name)
        self._demand_one_size()
        if self._binary and (self._full or self.gamma != "median"):
            raise ValueError(
                f"{self._name}: weights='binary' needs n_neighbors or a radius, and takes no gamma; got "
                f"n_neighbors={self.n_neighbors}, gamma={self.gamma!r}. Use weights='heat'."
            )
        self.n_neighbors_ = None if self._full or self.radius is not None else self._count_neighbors(X.shape[0])
        self._demand_components(X.shape[0] - 1, "n_samples")
        self._ask_memory(*X.shape)
        return X

    def _keep_rows_fitted(self, kept: NDArray, inside: NDArray, n: int) -> None:
        """Store which rows the map is fitted on, and the bridges, by their numbers among all n rows."""
        self._fitted = None if len(inside) == n else kept[inside]
        self.bridges_ = kept[self.bridges_].astype(np.int32)

    @abstractmethod
    def _finish(self, values: NDArray, Y: NDArray) -> NDArray:
        """Coordinates of the map from those of unit variance; ``values`` are the eigenvalues of the Laplacian."""

    @property
    def _full(self) -> bool:
        """Whether all pairs of rows have similarities, not neighbours alone."""
        return self.n_neighbors is None and self.radius is None

    def _similarities(self, Z: Any, metric: str) -> tuple[sp.csr_array, NDArray]:
        """Similarities of neighbours, and the rows fitted."""
        graph, inside = self._connected(neighbor_graph(Z, self.n_neighbors_, self.radius, metric), Z, metric)
        own = local_widths(graph.starts, graph.lengths) if self._tuned else None
        self._keep_widths(graph.lengths, own)
        return self._weighted(graph, self.bridges_), np.arange(graph.n) if inside is None else inside

    def _weighted(self, graph: Graph, bridges: NDArray) -> sp.csr_array:
        """Similarities of the rows fitted that are neighbours, or joined by ``bridges`` (b, 2)."""
        n, tails = graph.n, graph.tails()
        widths = np.broadcast_to(self._local, n)
        v = np.ones(len(tails)) if self._binary else similarities(graph.lengths, widths[tails], widths[graph.ends])
        both = np.concatenate([bridges, bridges[:, ::-1]]).astype(np.int64)
        v[np.isin(tails.astype(np.int64) * n + graph.ends, both @ [n, 1])] = _JOINED
        V = sp.csr_array((v, graph.ends, graph.starts), shape=(n, n))
        return sp.csr_array(V + sp.eye_array(n)) if self._loops else V

    def _all_similarities(self, Z: Any, metric: str) -> tuple[NDArray[np.float64], NDArray]:
        """Similarities of all pairs of rows, and the rows fitted, which are all."""
        n = Z.shape[0]
        self.n_connected_components_, self.bridges_ = 1, np.empty((0, 2), np.int32)
        self.bridge_lengths_ = np.empty(0, np.float32)
        D = pairwise(Z, metric)
        own = local_widths(np.arange(n + 1) * n, D.ravel()) if self._tuned else None
        self._keep_widths(D[np.tril_indices(min(n, 2000), -1)], own)
        V = self._weighted_pairs(D)
        alone = np.flatnonzero(V.sum(axis=1) <= (1.0 if self._loops else 0.0))
        if len(alone):
            raise ValueError(
                f"{self._name}: every row needs a similar row; {len(alone):,} rows have none, the first is "
                f"row {alone[0]}, with gamma={self.gamma!r}. Pass a smaller gamma, or use n_neighbors."
            )
        return V, np.arange(n)

    def _weighted_pairs(self, D: NDArray) -> NDArray[np.float64]:
        """Similarities of all pairs of the rows fitted, from their distances."""
        V = full_similarities(D, self._local[:, None], self._local)
        np.fill_diagonal(V, 1.0 if self._loops else 0.0)
        return V

    @property
    def affinity_matrix_(self) -> Any:
        """Similarities of the training rows (n_samples, n_samples), computed from them each time it is read.

        CSR, or an array for the full kernel. Only rows fitted have any: of equal rows the first, and with
        ``disconnected="largest"`` those of the largest component.
        """
        check_is_fitted(self)
        if self.metric == "precomputed":
            raise AttributeError(
                f"{self._name}: affinity_matrix_ is computed from the training rows; metric='precomputed' keeps none."
            )
        Z, n = self._learnt_from(self._flat(self._rows)[0]), len(self.embedding_)
        fitted = np.arange(n) if self._fitted is None else self._fitted
        metric = self._metric if self._whitening is None else "euclidean"
        if self._full:
            memory.require(24.0 * n * n, f"{self._name}: affinity_matrix_ of {n:,} rows", "Pass n_neighbors='auto'.")
        with thread_limit.using(self.n_jobs):
            if self._full:
                V = np.zeros((n, n))
                V[np.ix_(fitted, fitted)] = self._weighted_pairs(pairwise(Z, metric))
                return V
            graph, bridges = neighbor_graph(Z, self.n_neighbors_, self.radius, metric), self.bridges_
            if len(bridges):
                bridges = np.searchsorted(fitted, bridges).astype(np.int32)
                graph = joined(graph, Bridges(bridges, self.bridge_lengths_))
            V = self._weighted(graph, bridges).tocoo()
        return sp.csr_array((V.data, (fitted[V.row], fitted[V.col])), shape=(n, n))

    def _keep_widths(self, lengths: NDArray, own: NDArray | None) -> None:
        """Set the width of each row, or one for all by ``gamma``, which is 1/(2σ²)."""
        if own is not None:
            self._local, self.gamma_ = own, None
        elif self.gamma == "median":
            positive = lengths[lengths > 0]
            width = np.median(positive).astype(np.float64) if len(positive) else np.float64(1.0)
            self._local, self.gamma_ = np.full(1, width), None if self._binary else float(0.5 / width / width)
        else:
            self._local, self.gamma_ = np.full(1, np.sqrt(0.5 / float(self.gamma))), float(self.gamma)

    def _demand_distinct(self, distinct: int) -> None:
        """Refuse more components than distinct rows allow; lower the number of neighbours to what is available."""
        self._demand_components(distinct - 1, "distinct rows")
        if self.n_neighbors_ is not None:
            self.n_neighbors_ = min(self.n_neighbors_, distinct - 1)

    def _learn_a_point(self, n: int, dtype: np.dtype) -> None:
        """The map of rows that are all equal."""
        warn(f"{self._name}: rows must differ; got {n:,} equal ones. The map is one point.")
        k = int(self.n_components)
        self._fitted, self._density, self._local, self.gamma_ = None, np.ones(n), np.ones(1), None
        self.n_connected_components_, self.bridges_ = 1, np.empty((0, 2), np.int32)
        self.bridge_lengths_, self.residual_, self.solver_ = np.empty(0, np.float32), 0.0, "none"
        self._shrink = np.ones(k)
        self.embedding_ = self._finish(np.zeros(k), np.zeros((n, k))).astype(dtype)

    def _place(self, Q: Any) -> NDArray:
        if self.metric == "precomputed":
            Z, Q = None, Q if self._fitted is None else Q[:, self._fitted]
        else:
            Z, Q = self._learnt_from(self._flat(self._rows)[0]), self._flat(Q)[0]
        metric = self._metric if self._whitening is None else "euclidean"
        positions, n, m = self._positions(), len(self._density), Q.shape[0]
        Y = np.empty((m, positions.shape[1]))
        step = max(64, _BLOCK_BYTES // (8 * n)) if self._full else m
        for start in range(0, m, max(1, step)):
            some = slice(start, min(m, start + step))
            P = self._similar(Z, Q[some], metric)
            P = sp.csr_array(P @ sp.diags_array(1 / self._density))
            total = np.asarray(P.sum(axis=1)).reshape(-1, 1)
            Y[some] = (P @ positions) / np.where(total > 0, total, 1.0)
        return Y / np.maximum(self._shrink, _LEAST)

    def _similar(self, Z: Any, Q: Any, metric: str) -> sp.csr_array:
        """Similarities (m, n) of new rows with those fitted."""
        n, m = len(self._density), Q.shape[0]
        local = np.broadcast_to(self._local, n)
        if self._full:
            D = np.asarray(Q, np.float64) if Z is None else pairwise(Z, metric, Q)
            own = np.median(D, axis=1)[:, None] if self._tuned else self._local[0]
            D2 = np.square(D) / (own * local)
            return sp.csr_array(np.exp(0.5 * (D2.min(axis=1, keepdims=True) - D2)))  # the factor cancels
        near = beside(Z, Q, self.n_neighbors_, self.radius, metric)
        tails = np.repeat(np.arange(m), np.diff(near.starts))
        own = local_widths(near.starts, near.lengths)[tails] if self._tuned else self._local[0]
        v = np.ones(len(tails)) if self._binary else similarities(near.lengths, own, local[near.rows])
        return sp.csr_array((v, near.rows, near.starts), shape=(m, n))

    def _ask_memory(self, n: int, d: int) -> None:
        if self._full:
            what = f"{self._name}: the similarities of all pairs of {n:,} rows"
            memory.require(24.0 * n * n, what, "Pass n_neighbors='auto'.")
        elif self.radius is None:
            near = self._count_neighbors(n)
            needed = n * (180.0 * near + 24.0 * (int(self.n_components) + 16))
            what = f"{self._name}: the graph of {near} neighbours of {n:,} rows"
            memory.require(needed, what, "Lower n_neighbors, or pass fewer rows.")

    def _state(self) -> dict[str, fields.Field]:
        return {
            **super()._state(),
            "eigenvalues_": fields.array("k"),
            "_density": fields.array("m"),
            "_shrink": fields.array("k"),
            "_local": fields.array(1) | fields.array("m"),
            "gamma_": fields.nothing | fields.number(0),
            "residual_": fields.number(0),
            "solver_": fields.text(),
        }
