"""Cholesky factors of large dense matrices, block by block.

A single LAPACK call on an array of several gigabytes cannot be interrupted, and some builds crash in it; blocks of a
few thousand rows take the same time and avoid both.
"""

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from lowdim.work.progress import stage

_BLOCK = 1024  # rows and columns at a time

Doubles = NDArray[np.float64]


def factorise(A: Doubles) -> None:
    """Make the lower half of ``A`` (n, n) its Cholesky factor, in place; LinAlgError if it is not positive definite.

    >>> A = np.array([[4.0, 2.0], [2.0, 5.0]])
    >>> factorise(A)
    >>> np.tril(A)
    array([[2., 0.],
           [1., 2.]])
    """
    n = len(A)
    with stage("factorisation", total=n) as tick:
        for start in range(0, n, _BLOCK):
            stop = min(n, start + _BLOCK)
            here = slice(start, stop)
            for at in range(start, n, _BLOCK):
                rows = slice(at, min(n, at + _BLOCK))
                block = A[rows, here] - A[rows, :start] @ A[here, :start].T if start else A[rows, here]
                if at == start:
                    A[here, here] = np.linalg.cholesky(block)
                else:
                    A[rows, here] = sl.solve_triangular(A[here, here], block.T, lower=True, check_finite=False).T
            tick(stop)


def solve_by(L: Doubles, X: Doubles) -> Doubles:
    """Solution (n, m) of ``L Lᵀ Y = X``, of L the lower half alone."""
    Y, starts = np.array(X, dtype=np.float64), range(0, len(L), _BLOCK)
    for start in starts:
        here = slice(start, start + _BLOCK)
        Y[here] -= L[here, :start] @ Y[:start]
        Y[here] = sl.solve_triangular(L[here, here], Y[here], lower=True, check_finite=False)
    for start in reversed(starts):
        here, stop = slice(start, start + _BLOCK), start + _BLOCK
        Y[here] -= L[stop:, here].T @ Y[stop:]
        Y[here] = sl.solve_triangular(L[here, here], Y[here], lower=True, trans="T", check_finite=False)
    return Y
