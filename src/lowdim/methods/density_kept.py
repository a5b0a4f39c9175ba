"""Maps that keep density: points are spread where rows are, by a term beside the loss (densMAP and den-SNE).

The term is :mod:`lowdim.solve.density`'s: the correlation of local radii in the data and in the map (Narayan, Berger
and Cho 2021).
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data import options
from lowdim.methods.anchoring import Drawn
from lowdim.methods.growing import GrowingEmbedding
from lowdim.persist import fields
from lowdim.relate.affinities import with_nearest
from lowdim.relate.neighbors import Neighbors, nearest
from lowdim.relate.radii import local_radii, log_radii
from lowdim.solve.density import Density, Trend
from lowdim.solve.descent import Descended, place
from lowdim.work.backend_arrays import from_numpy, to_numpy

RULES = {
    "densmap": options.flag,
    "dens_lambda": options.real(0, 1e6, closed="left"),
    "dens_frac": options.real(0, 1, closed="both"),
    "dens_var_shift": options.real(0, 1e6, closed="left"),
}
_STATE = ("rad_orig_", "_rad_floor", "_trend")


class DensityKept(GrowingEmbedding, ABC):
    """A map of neighbours whose descent may keep the density of the rows."""

    densmap: bool
    dens_lambda: float
    dens_frac: float
    dens_var_shift: float
    rad_orig_: Any
    _rad_floor: float
    _trend: NDArray[np.float64]

    @abstractmethod
    def _graph_in_map(self, near: Neighbors) -> Any:
        """Sparse symmetric rows as those of the data, from the neighbours in a map."""

    def _demand_lengths(self, given: Any, what: str) -> None:
        """Refuse relations that come without the distances of their edges."""
        if self.densmap and given is not None:
            raise ValueError(
                f"{self._name}: densmap=True needs the distances of all edges, which {what} given have not. Leave "
                f"{what} out, or pass densmap=False."
            )

    def _keep_radii(self, graph: Any, near: Neighbors, old: Any = None) -> None:
        """Learn the local radii of rows from their graph and neighbours, those of new rows beside those of a map."""
        self._forget(_STATE)
        if not self.densmap:
            return
        squares = to_numpy(local_radii(graph, near.indices, near.distances))
        floor = None if old is None else old._rad_floor
        radii, self._rad_floor = log_radii(squares, floor)
        if old is not None:
            radii, self._trend = np.concatenate([to_numpy(old.rad_orig_), radii]), old._trend
        self.rad_orig_ = from_numpy(radii, near.distances)

    @property
    def rad_emb_(self) -> NDArray[np.float64]:
        """Logarithms of the squared local radii in the map, computed when asked."""
        if not hasattr(self, "rad_orig_"):
            raise AttributeError(f"{self._name} has no rad_emb_ before a fit with densmap=True")
        near = nearest(self.embedding_, self._near_each(len(self.embedding_)))
        return log_radii(local_radii(self._graph_in_map(near), near.indices, near.distances))[0]

    def _term(self, radii: NDArray[np.float64]) -> Density:
        """The term of rows with these radii: of a fit, or of rows that follow the trend of a map."""
        by = (float(self.dens_lambda), float(self.dens_frac), float(self.dens_var_shift))
        if not hasattr(self, "_trend"):
            return Density.of(radii, *by)
        trend = Trend(*map(float, self._trend))
        return Density(trend.standardised(radii), *by, trend)

    def _descend(
        self, relations: Any, Y: NDArray, first: NDArray | None, loss: Any, shown: Any, drawn: Drawn | None
    ) -> Descended:
        if not self.densmap:
            return super()._descend(relations, Y, first, loss, shown, drawn)
        radii = to_numpy(self.rad_orig_)
        term = self._term(radii)
        found = super()._descend(relations, Y, first, replace(loss, density=term), shown, drawn)
        if term.trend is None:
            reached = to_numpy(loss.radii_in(relations, found.embedding))
            self._trend = np.array(term.reached(radii, reached))
        return found

    def _among(self, near: Neighbors, positions: Any) -> NDArray:
        if not self.densmap:
            return super()._among(near, positions)
        weights = self._weights(near)
        v, d = to_numpy(weights).astype(np.float64), to_numpy(near.distances).astype(np.float64)
        radii, _ = log_radii((v * d * d).sum(axis=1) / v.sum(axis=1), self._rad_floor)
        loss: Any = self._loss(len(positions), 0, again=True)
        pulls = with_nearest(weights, near.distances)
        return place(near.indices, pulls, positions, replace(loss, density=self._term(radii)))

    def _state(self) -> dict[str, fields.Field]:
        n = "d" if self._given else "n"
        return {
            **super()._state(),
            "rad_orig_": fields.optional(fields.array(n)),
            "_rad_floor": fields.optional(fields.number(0)),
            "_trend": fields.optional(fields.array(5)),
        }
