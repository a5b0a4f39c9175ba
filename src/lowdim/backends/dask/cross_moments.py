"""Moments of two views of distributed rows."""

from functools import partial
from typing import Any

from numpy.typing import NDArray

from lowdim.backends import DASK
from lowdim.backends.dask.graphs import fold
from lowdim.backends.dask.moments import demand_rows
from lowdim.backends.dask.partitioned import Spread, Where
from lowdim.relate import cross_moments as numpy_cross_moments
from lowdim.relate.cross_moments import CrossMoments
from lowdim.relate.cross_moments import cross_moments as cross_moments_here


@DASK.implements(numpy_cross_moments.cross_moments)
def cross_moments(X: Spread, Y: Spread) -> CrossMoments:
    """Moments of two views of the same rows and between them, in one pass over both."""
    leaf = partial(_cross_moments, Y.opened)
    state = 8.0 * (X.width + Y.width) ** 2
    M = fold(X, leaf, CrossMoments.merge, beside=[Y.X], state=state, stage="moments of both views")
    demand_rows(X, M and M.x)
    return M


def _cross_moments(opened: Any, X: NDArray, block: Any) -> CrossMoments:
    return cross_moments_here(X, opened(block, Where(-1, None)))
