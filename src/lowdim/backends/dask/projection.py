"""Lazy linear maps of distributed rows."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.backends import DASK
from lowdim.backends.dask.graphs import each, key
from lowdim.backends.dask.partitioned import Spread, Where, as_it_is
from lowdim.solve import projection as numpy_projection
from lowdim.solve.projection import project as project_here


@DASK.implements(numpy_projection.project)
def project(X: Spread, P: NDArray[np.float64], mean: NDArray[np.float64], dtype: np.dtype) -> Spread:
    """``(X − mean) P`` (n, k), in blocks that are computed when they are read."""
    shared = key((X.opened, P, mean, dtype), [P, mean], "projection")
    Y = each(X, _project, P.shape[1], dtype, shared=shared)
    return replace(X, X=Y, dtype=dtype, width=P.shape[1], sparse=False, opened=as_it_is)


def _project(block: Any, where: Where, shared: Any) -> NDArray:
    opened, P, mean, dtype = shared
    return project_here(opened(block, where), P, mean, dtype)
