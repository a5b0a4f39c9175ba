"""Products with centred distributed rows, one pass over the blocks for each."""

from collections.abc import Callable
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.backends import DASK
from lowdim.backends.dask.graphs import fold
from lowdim.backends.dask.validation import block_weights
from lowdim.relate.gram import Centred


@DASK.implements(Centred.scatter_operator)
def scatter_operator(self: Any) -> Callable[[NDArray], NDArray]:
    """Function ``V -> Zᵀ Z V`` for blocks ``V`` (d, b), reading ``X`` once per call."""
    beside = [] if self.root is None else [self.root]

    def apply(V: NDArray) -> NDArray:
        return fold(self.X, _product, add, self.X.name, self.mean, self.scale, V, beside=beside, state=8.0 * V.size)

    return apply


def _product(X: NDArray, *given: Any) -> NDArray:
    *root, name, mean, scale, V = given
    weights = np.square(block_weights(name, root[0], X)) if root else None
    return Centred(X, mean, scale, weights).scatter_operator()(V)
