"""Density of a map: a term beside its loss, the correlation of local radii in the data and in the map.

With ``R`` the logarithms of the local radii in the data, standardised, and ``r_i = log(δ + Σ_j w_ij s_ij / Σ_j w_ij)``
those in the map, over the same edges (``s`` squared lengths, ``w`` the similarity of the loss), the descent lowers
``loss − λ W corr`` with ``corr = mean R (r − mean r)/S``, ``S² = var r + shift`` and ``W`` the sum of the graph.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.work import thread_limit
from lowdim.work.backend_arrays import to_numpy
from lowdim.work.dispatch import operation

SparseRows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]  # starts, columns, values


class Trend(NamedTuple):
    """How radii depend on each other in a map: mean and deviation in the data, those in the map, and ``corr``."""

    middle: float
    scale: float
    mean: float
    deviation: float
    correlation: float

    def standardised(self, radii: NDArray) -> NDArray[np.float32]:
        """Radii of the data in units of their deviation."""
        return ((radii - self.middle) / self.scale).astype(np.float32)


@dataclass(frozen=True)
class Density:
    """Radii ``R`` (n,) of the data, the weight λ, the last share of iterations that has the term, and ``shift``.

    With ``trend``, that of a map whose points stay, each other point lowers ``−λ W/n (R z − corr z²/2)``, ``z = (r −
    mean)/S``: what it adds to the correlation of many.
    """

    radii: NDArray[np.float32]
    weight: float
    share: float
    shift: float
    trend: Trend | None = None

    @classmethod
    def of(cls, radii: NDArray, weight: float, share: float, shift: float) -> Self:
        """The term for radii (n,) of the data, standardised here; NaN where a row has none."""
        middle, scale = spread_of(radii)
        return cls(((radii - middle) / scale).astype(np.float32), weight, share, shift)

    def reached(self, radii: NDArray, found: NDArray) -> Trend:
        """Trend between radii (n,) of the data and those (n,) of the map that was reached."""
        middle, scale = spread_of(radii)
        known = np.isfinite(radii) & np.isfinite(found)
        if not known.any():
            return Trend(middle, scale, 0.0, 1.0, 0.0)
        r, R = found[known].astype(np.float64), (radii[known] - middle) / scale
        deviation = float(np.sqrt(r.var() + self.shift)) or 1.0
        return Trend(middle, scale, float(r.mean()), deviation, float((R * (r - r.mean())).mean()) / deviation)


def native(density: Density | None) -> dict[str, Any]:
    """Arguments of the native kernels."""
    if density is None:
        return {}
    trend = (0.0, 0.0, 0.0) if density.trend is None else density.trend[2:]
    return {"radii": to_numpy(density.radii), "density": (density.weight, density.share, density.shift, *trend)}


def spread_of(radii: NDArray) -> tuple[float, float]:
    """Mean and standard deviation of the finite radii; 1 where they are all alike.

    >>> spread_of(np.array([1.0, 3.0, np.nan]))
    (2.0, 1.0)
    """
    known = radii[np.isfinite(radii)]
    if not len(known):
        return 0.0, 1.0
    return float(known.mean()), float(known.std()) or 1.0


@operation(on=1)
def map_radii(graph: SparseRows, Y: NDArray[np.float32], similarity: dict[str, Any]) -> NDArray[np.float32]:
    """Logarithms ``r`` (n,) of the squared radii in the map ``Y`` (n, k); NaN of points without edges.

    ``similarity`` is UMAP's curve by ``a`` and ``b``, or Student's falloff by ``dof``.

    >>> graph = np.array([0, 1, 2]), np.array([1, 0], np.int32), np.ones(2, np.float32)
    >>> map_radii(graph, np.array([[0.0], [2.0]], np.float32), {"dof": 1.0}).round(3)
    array([1.386, 1.386], dtype=float32)
    """
    return _native.map_radii(*graph, Y, **similarity, n_threads=thread_limit.current())
