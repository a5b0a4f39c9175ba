"""Base class of methods on the undirected graph of neighbours, which need not be connected."""

from abc import ABC
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.methods.embedding import MetricReducer
from lowdim.methods.neighborhood import NeighborReducer
from lowdim.relate.graph import Graph, closest_bridges, components, joined, part_of


class GraphReducer(MetricReducer, NeighborReducer, ABC):
    """A method that learns an embedding from the graph of neighbours in some metric."""

    radius: float | None

    def _connected(self, graph: Graph, Z: Any, metric: str) -> tuple[Graph, NDArray | None]:
        """A connected graph, by the policy, and the rows it is on (None: all)."""
        parts = components(graph)
        self.n_connected_components_ = int(parts.max()) + 1
        self.bridges_, self.bridge_lengths_ = np.empty((0, 2), np.int32), np.empty(0, np.float32)
        if self.n_connected_components_ == 1:
            return graph, None
        if sp.issparse(Z) and metric == "precomputed":
            raise ValueError(
                f"{self._name}: a sparse graph of neighbours must be connected, since it stores no distances between "
                f"its components; it has {self.n_connected_components_:,}. Store more neighbours of each row, or pass "
                "rows."
            )
        bridges = self._tell(parts, "connected", lambda: closest_bridges(Z, parts, metric))
        if bridges is None:
            rows = np.flatnonzero(parts == 0)
            self._demand_components(len(rows) - 1, "rows of the largest component", "raise n_neighbors or radius")
            return part_of(graph, rows), rows
        self.bridges_, self.bridge_lengths_ = bridges
        return joined(graph, bridges), None

    def _demand_one_size(self) -> None:
        """Refuse both a number of neighbours and a radius."""
        if self.radius is not None and self.n_neighbors not in ("auto", None):
            raise ValueError(
                f"{self._name}: n_neighbors or radius is needed, not both; got n_neighbors={self.n_neighbors} and "
                f"radius={float(self.radius):g}. Leave one out."
            )
