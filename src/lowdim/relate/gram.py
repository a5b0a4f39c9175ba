"""Products with centred, scaled, weighted rows, which are never formed as one matrix.

Written ``Z = diag(√w) (X − 1 mᵀ) diag(1/s)``: the Gram matrix ``Z Zᵀ`` of wide data, and products with ``Zᵀ Z``.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.work import thread_limit
from lowdim.work.blockwise import column_blocks, float_dtype, row_blocks
from lowdim.work.dispatch import operation
from lowdim.work.progress import stage

Doubles = NDArray[np.float64]


class Centred:
    """The matrix ``Z`` above, held as its parts: rows ``X`` (dense or CSR), mean, scale and weights."""

    def __init__(self, X: Any, mean: Doubles, scale: Doubles | None = None, weights: Doubles | None = None) -> None:
        self.X = X
        self.mean = mean
        self.scale = np.ones(len(mean)) if scale is None else scale
        self.root = None if weights is None else np.sqrt(weights)

    @operation
    def dense(self, dtype: np.dtype | type | str) -> NDArray:
        """``Z`` itself, for solvers that overwrite it."""
        Z = np.empty(self.X.shape, dtype)
        for rows, block in row_blocks(self.X, np.float64, less=self.mean):
            Z[rows] = block / self.scale if self.root is None else block / self.scale * self.root[rows, None]
        return Z

    def _centred_columns(self) -> Any:
        scaled = bool((self.scale != 1).any())
        for columns, block in column_blocks(self.X, np.float64):
            Z = block - self.mean[columns]
            if scaled:
                Z /= self.scale[columns]
            yield columns, Z if self.root is None else Z * self.root[:, None]

    @operation
    def gram(self) -> Doubles:
        """``Z Zᵀ`` (n, n) in float64, summed over blocks of columns."""
        n, d = self.X.shape
        K = np.zeros((n, n))
        with stage("Gram matrix", total=d) as tick:
            for columns, Z in self._centred_columns():
                K += Z @ Z.T
                tick(columns.stop)
        return K

    @operation
    def pull(self, U: Doubles) -> Doubles:
        """``Uᵀ Z`` (k, d) for ``U`` (n, k)."""
        out = np.empty((U.shape[1], self.X.shape[1]))
        for columns, Z in self._centred_columns():
            out[:, columns] = U.T @ Z
        return out

    @operation
    def scatter_operator(self) -> Callable[[NDArray], NDArray]:
        """Function ``V -> Zᵀ Z V`` for blocks ``V`` (d, b), reading ``X`` once per call."""
        if sp.issparse(self.X):
            return self._sparse_operator()
        dtype = float_dtype(self.X.dtype)
        mean, scale = self.mean.astype(dtype), self.scale.astype(dtype)[:, None]
        w = None if self.root is None else np.square(self.root).astype(dtype)

        def apply(V: NDArray) -> NDArray:
            V = (V / scale).astype(dtype)
            out = np.zeros((self.X.shape[1], V.shape[1]))
            for rows, B in row_blocks(self.X, dtype, less=mean):
                Y = B @ V
                out += B.T @ (Y if w is None else Y * w[rows, None])
            return out / scale

        return apply

    def _sparse_operator(self) -> Callable[[NDArray], NDArray]:
        X = self.X.tocsr().astype(np.float64)
        XT = X.T.tocsr()
        w = None if self.root is None else np.square(self.root)[:, None]
        scale = self.scale[:, None] if (self.scale != 1).any() else None

        def apply(V: NDArray) -> NDArray:
            V = V if scale is None else V / scale
            Y = csr_product(X, V)
            Y -= self.mean @ V
            if w is not None:
                Y *= w
            out = csr_product(XT, Y)
            out -= self.mean[:, None] * Y.sum(axis=0)
            return out if scale is None else out / scale

        return apply


def csr_product(X: Any, V: Doubles) -> Doubles:
    """``X V`` for float64 CSR ``X`` and a block of vectors, on all threads allowed."""
    if X.indices.dtype != np.int32 or X.indptr.dtype != np.int32:  # more than 2³¹ stored values
        return np.asarray(X @ V)
    return _native.csr_product(X.indptr, X.indices, X.data, np.ascontiguousarray(V), n_threads=thread_limit.current())
