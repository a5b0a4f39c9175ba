"""What methods on the undirected graph of neighbours share: metrics, given distances, and graphs in several parts."""

from abc import ABC
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.distances import find_zero
from lowdim.methods.neighborhood import NeighborReducer
from lowdim.persist import fields
from lowdim.relate.graph import Graph, closest_bridges, components, joined, part_of
from lowdim.relate.neighbors import whitened, whitening


class GraphReducer(NeighborReducer, ABC):
    """A method that learns an embedding from the graph of neighbours in some metric.

    For ``metric="precomputed"`` ``_rows`` are empty; ``_whitening`` is what turns Mahalanobis' distance into Euclid's,
    or None.
    """

    metric: str
    radius: float | None
    _whitening: tuple[NDArray, NDArray] | None

    def _state(self) -> dict[str, fields.Field]:
        turn = fields.parts(fields.array("d"), fields.array("d", "r"))
        return {**super()._state(), "_whitening": fields.nothing | turn}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    def _connected(self, graph: Graph, Z: Any, metric: str) -> tuple[Graph, NDArray | None]:
        """A connected graph, by the policy, and the rows it is on (None: all)."""
        parts = components(graph)
        self.components_found_ = int(parts.max()) + 1
        self.bridges_, self.bridge_lengths_ = np.empty((0, 2), np.int32), np.empty(0, np.float32)
        if self.components_found_ == 1:
            return graph, None
        if sp.issparse(Z) and metric == "precomputed":
            raise ValueError(
                f"{self._name}: a sparse graph of neighbours must be connected, since it holds no distances between "
                f"its parts; it falls into {self.components_found_:,}. Store more neighbours of each row, or pass rows."
            )
        bridges = self._tell(parts, "connected", lambda: closest_bridges(Z, parts, metric))
        if bridges is None:
            rows = np.flatnonzero(parts == 0)
            self._demand_components(len(rows) - 1, "rows of the largest part", "raise n_neighbors or radius")
            return part_of(graph, rows), rows
        self.bridges_, self.bridge_lengths_ = bridges
        return joined(graph, bridges), None

    def _demand_one_size(self) -> None:
        """Refuse both a number of neighbours and a radius."""
        if self.radius is not None and self.n_neighbors != "auto":
            raise ValueError(
                f"{self._name}: n_neighbors or radius is needed, not both; got n_neighbors={self.n_neighbors} and "
                f"radius={self.radius:g}. Leave one out."
            )

    def _flat(self, X: Any) -> tuple[Any, str]:
        """Rows and metric for the neighbour search: Mahalanobis' distance is Euclid's after whitening."""
        return (X, self._metric) if self._whitening is None else (whitened(X, *self._whitening), "euclidean")

    def _learn_whitening(self, X: Any) -> tuple[NDArray, NDArray] | None:
        return whitening(X, self._metric.given.get("VI")) if self.metric == "mahalanobis" else None

    def _known(self, X: Any) -> tuple[Any, NDArray]:
        if self.metric != "precomputed":
            return super()._known(X)
        return X, find_zero(X, self._name)
