"""Maps of neighbours that grow: new rows are laid out together, among old ones that stay where they are.

Only new rows are searched, among all. Old rows keep what was learnt of them: their relations to each other, by which no
force is needed since they do not move, their part of the loss, and their spacings.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.compose import layout
from lowdim.compose.new_neighbors import nearest_to_new
from lowdim.data.precomputed import first_equal
from lowdim.methods.anchoring import Drawn
from lowdim.methods.neighbor_embedding import NeighborEmbedding
from lowdim.relate.equal_rows import find_equal
from lowdim.relate.neighbors import Neighbors
from lowdim.relate.trust import Familiar, with_new
from lowdim.solve.descent import Descended, Loss, Reached
from lowdim.work.backend_arrays import from_numpy, moved_to, to_numpy
from lowdim.work.random import seed_of
from lowdim.work.rows import cast

_EQUAL = 1e-3  # of the mean distance to the nearest row: rows so near may be equal
_FAMILIAR = ("_spacings", "_loosenesses", "_spreads", "_worse")


class GrowingEmbedding(NeighborEmbedding, ABC):
    """A map of neighbours whose ``extend`` searches new rows alone."""

    @abstractmethod
    def _relations_of_new(self, near: Neighbors, old: Any, n: int, seed: int) -> Any:
        """Input of the loss, in NumPy, from the neighbours of the new ones of n rows."""

    @abstractmethod
    def _reached_with_new(self, loss: Loss, relations: Any, Y: Any, old: Any) -> Reached:
        """Loss of the map of all rows."""

    def _loss_of_new(self, n: int, seed: int) -> Loss:
        """Loss of a map of n rows whose new ones start among their neighbours."""
        return self._loss(n, seed, again=True)

    def _graph_of_new(self, relations: Any) -> Any:
        """Sparse rows, by which the new ones find their place among the others."""
        return relations

    def _searched_with_new(self, X: Any, old: Any) -> Any:
        """Rows among which neighbours are searched, the old and the new."""
        return X

    def _learn_more(self, X: Any, drawn: Drawn, old: Any) -> None:
        given, (X, n, _) = X, self._demand_possible(X, None, None, more=True)
        seed, first, self.timings_ = seed_of(self.random_state), len(old.embedding_), {}
        with self._timed("neighbors"):
            Z = self._searched_with_new(X, old)
            near = nearest_to_new(Z, first, self._near_each(n), self._metric, self.neighbor_search, seed)
            self.neighbor_search_, self.neighbor_recall_ = near.how, near.recall
        with self._timed(self._stages[0]):
            relations = moved_to(self._relations_of_new(near, old, n, seed), X)
        with self._timed("start"):
            equal = self._equal_to_new(X, near)
            drawn = drawn.of_equal(None if equal is None else to_numpy(equal))
            graph = moved_to(self._graph_of_new(relations), X)
            Y = layout.continued(graph, from_numpy(drawn.places, X), from_numpy(drawn.known, X), seed)
        loss = self._loss_of_new(n, seed)
        with self._timed("descent"):
            dtype = self._dtype_for(X, None)
            found = self._descend(relations, Y, equal, loss, lambda Y: moved_to(cast(Y, dtype), given), drawn)
        with self._timed(self._stages[1]):
            reached = self._reached_with_new(loss, relations, found.embedding, old)
        self._keep_growth(found, reached, near, old)
        self._rows, self._fitted, self.embedding_ = X, None, drawn.held(cast(found.embedding, dtype))

    def _keep_growth(self, found: Descended, reached: Reached, near: Neighbors, old: Any) -> None:
        """Store the loss, its trace, and what ``trust`` needs, unless an old file lacked it."""
        self._keep_loss(reached)
        self._forget(("_held",))
        self.n_iter_, self.loss_iterations_, self.loss_curve_ = found.trace(reached.value, 0, [], [])
        if hasattr(old, "_worse"):
            before = Familiar(*(to_numpy(getattr(old, name)) for name in _FAMILIAR))
            now = with_new(before, to_numpy(near.indices), to_numpy(near.distances), to_numpy(found.embedding))
            for name, value in zip(_FAMILIAR, now, strict=True):
                setattr(self, name, from_numpy(value, near.distances))

    def _equal_to_new(self, X: Any, near: Neighbors) -> NDArray | None:
        """First row that equals each; None if no new row is near enough to another to be equal to it."""
        nearest = to_numpy(near.distances)[:, 0].astype(np.float64)
        if nearest.min() > _EQUAL * nearest.mean():
            return None
        if self._metric != "precomputed":
            return find_equal(X, X)
        equal = first_equal(X, self._name)
        return None if (equal == np.arange(len(equal))).all() else from_numpy(equal, X)
