"""Lazy linear maps of distributed rows."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.solve.projection import project_columns as project_here
from lowdim.work.cluster import each, key
from lowdim.work.spread import Spread, Where, as_it_is


def project_columns(X: Spread, columns: NDArray[np.intp], P: NDArray[np.float64]) -> Spread:
    """``X[:, columns] P`` (n, k) in float32, in blocks that are computed when they are read."""
    shared = key((X.opened, columns, P), [columns, P], "projection")
    Y = each(X, _project, P.shape[1], np.float32, shared=shared)
    return replace(X, X=Y, dtype=np.dtype(np.float32), width=P.shape[1], sparse=False, opened=as_it_is)


def _project(block: Any, where: Where, shared: Any) -> NDArray:
    opened, columns, P = shared
    return project_here(opened(block, where), columns, P)
