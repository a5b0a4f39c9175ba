"""Base class of methods on a graph of neighbours: their number, graphs that are not connected, interpolation."""

from abc import ABC
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data import options
from lowdim.data.sizes import count_neighbors
from lowdim.methods.embedding import EmbeddingReducer
from lowdim.persist import fields
from lowdim.relate.geodesics import Beside
from lowdim.relate.graph import Bridges
from lowdim.relate.row_norms import unit_rows
from lowdim.relate.weights import interpolate
from lowdim.work.backend_arrays import moved_to
from lowdim.work.user_warnings import warn

DISCONNECTED = ("error", "bridge", "largest")
near_rule = options.integer(1) | options.one_of("auto", "choose")
USUAL = 10  # neighbours for "auto"
_CROWD = 100  # number of rows from which a map is checked
_NARROW, _MOST = 0.2, 0.8  # a few rows dominate a map if that share of all lies within so many standard deviations


class NeighborReducer(EmbeddingReducer, ABC):
    """A method that learns an embedding of the training rows from their neighbours."""

    n_neighbors: Any
    disconnected: str

    def _state(self) -> dict[str, fields.Field]:
        n = "d" if self._given else "n"
        return {
            **super()._state(),
            "n_neighbors_": fields.count(low=1, most="m") | fields.nothing,
            "n_connected_components_": fields.count(low=1),
            "bridges_": fields.indices("b", 2, below=n),
            "bridge_lengths_": fields.array("b", low=0),
        }

    def _count_neighbors(self, n: int) -> int:
        """Number of neighbours of each of n rows."""
        return count_neighbors(self._name, self.n_neighbors, min(self._usual_neighbors(), n - 1), n)

    def _usual_neighbors(self) -> int:
        """Number of neighbours for "auto", chosen by the table of benchmarks/results_maps.md."""
        return USUAL

    def _tell(
        self, parts: NDArray, what: str, bridge: Callable[[], Bridges], largest: int | None = None
    ) -> Bridges | None:
        """Connect a graph of several components, or restrict it, as ``disconnected`` says, with a warning.

        ``parts`` (n,) are the components, numbered from the largest, −1 for rows in none. Returns the bridges added;
        None means that only the rows of component 0 are fitted. ``largest`` is the number of rows that
        ``disconnected="largest"`` would fit, where that is not component 0.
        """
        name, sizes = self._name, np.bincount(parts[parts >= 0])
        shown = ", ".join(f"{size:,}" for size in sizes[:5]) + (", …" if len(sizes) > 5 else "")
        kind = "closed classes" if "class" in what else "components"
        found = f"{name}: the graph of neighbours must be {what}; it has {len(sizes):,} {kind} of {shown} rows"
        if rest := int((parts < 0).sum()):
            found += f", with {rest:,} rows in none"
        more = "Raise radius" if getattr(self, "radius", None) else "Raise n_neighbors"
        largest = int(sizes[0]) if largest is None else largest
        cut = "" if largest == len(parts) else f", or pass disconnected='largest' to fit {largest:,} rows"
        if self.disconnected == "error":
            raise ValueError(f"{found}. {more}, or pass disconnected='bridge'{cut.replace('pass disconnected=', '')}.")
        if self.disconnected == "largest" and cut:
            rest = len(parts) - largest
            warn(f"{found}. The largest is fitted; the other {rest:,} rows are placed as new rows. {more} to fit all.")
            return None
        bridges = bridge()
        lengths, count = [f"{length:.3g}" for length in bridges.lengths], len(bridges.lengths)
        told = lengths[0] if count == 1 else f"{lengths[0]} to {lengths[-1]}"
        warn(
            f"{found}. {'A bridge was' if count == 1 else f'{count:,} bridges were'} added between closest rows, of "
            f"length {told}; distances across them are a guess. {more}{cut}."
        )
        return bridges

    def _tell_of_few_rows(self, Y: NDArray) -> None:
        """Warn if most of the rows fitted, at ``Y`` (m, k), have nearly the same value of some coordinate."""
        if len(Y) < _CROWD:
            return
        apart = np.abs(Y - np.median(Y, axis=0))
        share = (apart <= _NARROW * Y.std(axis=0)).mean(axis=0)
        if (share >= _MOST).any():
            named = ", ".join(str(at) for at in np.flatnonzero(share >= _MOST)[:5])
            warn(
                f"{self._name}: coordinates should spread over the rows; in coordinate {named} "
                f"{100 * share.max():.0f} % of the rows lie within {_NARROW:g} standard deviations of the median: "
                "a few rows dominate the map. Raise n_neighbors, or look for outliers."
            )

    def _interpolate(self, X: Any, Q: Any, near: Beside, reg: float) -> NDArray:
        """Positions ``Σ w_j y_j`` of new rows by the weights that reconstruct them from their neighbours.

        Where rows are unknown (``X`` None) the weights decrease with the squared distance.
        """
        if getattr(self, "metric", "") == "cosine":
            X, Q = unit_rows(X), unit_rows(Q)
        return interpolate(near, X, Q, moved_to(self._positions(), Q), reg)
