"""Linear maps of rows and back, block by block: ``(X − m) P``, ``Y B + m``, and the residual of a projection."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.work.blockwise import row_blocks
from lowdim.work.dispatch import operation
from lowdim.work.products import multiply

_SAMPLE = 256  # rows from which the size of the mean is estimated
_FAR = 100  # times the spread: a squared mean above that would cancel


@operation
def project(X: Any, P: NDArray[np.float64], mean: NDArray[np.float64], dtype: np.dtype) -> NDArray:
    """``(X − mean) P`` (n, k), computed as ``X P − mean P`` unless the mean is so large that this would cancel.

    >>> project(np.array([[1.0, 2.0]]), np.eye(2), np.array([1.0, 0.0]), np.dtype(float))
    array([[0., 2.]])
    """
    if sp.issparse(X):
        return np.asarray(X @ P - mean @ P).astype(dtype)
    sample = np.asarray(X[:: max(1, X.shape[0] // _SAMPLE)], dtype=np.float64) - mean
    far = mean @ mean > _FAR * np.square(sample).sum(axis=1).mean()
    if not far and X.dtype == dtype and (X.flags.c_contiguous or X.flags.f_contiguous):
        Y = multiply(X, P.astype(dtype))
    else:
        Y = np.empty((X.shape[0], P.shape[1]), dtype)
        cast = P.astype(dtype)
        for rows, block in row_blocks(X, dtype, less=mean.astype(dtype) if far else None):
            multiply(block, cast, out=Y[rows])
    if not far:
        Y -= (mean @ P).astype(dtype)
    return Y


@operation
def lift(Y: Any, B: NDArray, mean: NDArray) -> NDArray:
    """``Y B + mean`` (n, d) in the precision of the scores ``Y`` (n, k)."""
    X = Y @ B.astype(Y.dtype)
    X += mean.astype(Y.dtype)
    return X


@operation
def squared_lengths(
    X: Any, U: NDArray, mean: NDArray, scale: NDArray, values: NDArray, noise: float
) -> NDArray[np.float64]:
    """``Σ y²/λ + ‖z − Uᵀy‖²/σ²`` (n,), scores ``y = U z`` of ``z = (x − mean)/scale`` with variances λ and noise σ².

    >>> squared_lengths(np.array([[3.0, 4.0]]), np.array([[1.0, 0.0]]), np.zeros(2), np.ones(2), np.array([9.0]), 4.0)
    array([5.])
    """
    out = np.empty(X.shape[0])
    for rows, block in row_blocks(X, np.float64, less=mean):
        Z = block / scale
        Y = Z @ U.T
        out[rows] = np.square(Y) @ (1.0 / values)
        if len(U) < U.shape[1]:
            out[rows] += np.square(Z - Y @ U).sum(axis=1) / noise
    return out


@operation
def missed(X: Any, U: NDArray, mean: NDArray, scale: NDArray, dtype: np.dtype) -> NDArray:
    """Squared distance (n,) of each row from its projection on the orthonormal rows of ``U``, in scaled features.

    >>> missed(np.array([[3.0, 4.0]]), np.array([[1.0, 0.0]]), np.zeros(2), np.ones(2), np.dtype(float))
    array([16.])
    """
    errors = np.empty(X.shape[0], dtype)
    U, mean, scale = (a.astype(dtype) for a in (U, mean, scale))
    for rows, centred in row_blocks(X, dtype, less=mean):
        Z = centred / scale
        Z -= (Z @ U.T) @ U
        Z *= scale
        errors[rows] = np.einsum("ij,ij->i", Z, Z)
    return errors
