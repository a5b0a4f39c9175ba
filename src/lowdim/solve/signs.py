"""One rule for signs, so that two runs and two solvers agree."""

import numpy as np
from numpy.typing import NDArray

from lowdim.work.dispatch import operation


@operation
def signs(V: NDArray[np.floating], tol: float = 1e-6) -> NDArray[np.floating]:
    """Sign (k,) for each row of ``V`` (k, d) that makes its entry of largest magnitude positive.

    Linear methods give the loadings, Gram methods the eigenvectors' entries over samples (as rows). Of entries equal
    in magnitude up to ``tol`` the first is used, so that rounding does not matter.

    >>> signs(np.array([[0.6, -0.8], [0.8, 0.6]]))
    array([-1.,  1.])
    """
    size = np.abs(V)
    first = np.argmax(size >= size.max(axis=1, keepdims=True) * (1 - tol), axis=1)
    return np.where(V[np.arange(len(V)), first] < 0, -1.0, 1.0).astype(V.dtype)
