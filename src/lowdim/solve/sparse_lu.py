"""Sparse factorisations ``A = L U`` by SuperLU, and solutions of many right-hand sides at once by native code."""

from typing import Any

import numpy as np
import scipy.sparse.linalg as sla
from numpy.typing import NDArray

from lowdim import _native
from lowdim.work import thread_limit

Doubles = NDArray[np.float64]


class SparseLU:
    """Factors of a sparse square matrix, in an order for patterns that are nearly symmetric.

    ``pivot`` is the share of the largest entry of a column that its diagonal entry needs to become the pivot.
    A singular matrix raises RuntimeError.

    >>> import scipy.sparse as sp
    >>> SparseLU(sp.csc_array(np.array([[2.0, 1.0], [0.0, 4.0]])), pivot=0.1).solve(np.array([[4.0], [4.0]]))
    array([[1.5],
           [1. ]])
    """

    def __init__(self, A: Any, pivot: float) -> None:
        options = {"SymmetricMode": True}
        # Columns one by one: panels of several, SuperLU's default, take longer where factors have little fill-in.
        factor = sla.splu(A, "MMD_AT_PLUS_A", diag_pivot_thresh=pivot, panel_size=1, options=options)
        L, U = factor.L, factor.U
        self._parts = (
            *(L.indptr, L.indices, L.data, U.indptr, U.indices, U.data),
            # Copies, since SuperLU's own arrays would keep its factors alive.
            *(np.ascontiguousarray(U.diagonal()), factor.perm_r.copy(), factor.perm_c.copy()),
        )

    def solve(self, B: Doubles, transposed: bool = False) -> Doubles:
        """X (n, b) with ``A X = B``, or ``Aᵀ X = B``."""
        B = np.ascontiguousarray(B)
        return _native.lu_solve(*self._parts, B, transposed=transposed, n_threads=thread_limit.current())
