"""Centring of Gram matrices: ``H K H`` with ``H = I − 11ᵀ/n``, in place or only in products.

Kernel PCA and Isomap share it. The means of the training rows are kept, since a new point's row is centred with them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.work.backend_arrays import to_numpy
from lowdim.work.dispatch import operation
from lowdim.work.products import centred
from lowdim.work.rows import blank, cast

_STEP = 512  # rows per block


class Means(NamedTuple):
    """Mean of each row (n,) of a symmetric matrix, and the mean of all entries; float64."""

    rows: NDArray[np.float64]
    total: float


def demand_finite_kernel(values: NDArray) -> None:
    """Refuse a Gram matrix when ``values`` of it, or computed from it, are not finite."""
    if not np.isfinite(float(values.sum())):
        raise ValueError(
            "kernel: the values between rows must be finite; got NaN or infinity, by overflow. "
            "Scale the data, or lower gamma or degree."
        )


def gram_means(K: NDArray) -> Means:
    """Means of the symmetric array ``K``, read once.

    >>> gram_means(np.array([[2.0, 0.0], [0.0, 4.0]])).rows
    array([1., 2.])
    """
    rows = np.empty(len(K))
    for start in range(0, len(K), _STEP):
        rows[start : start + _STEP] = K[start : start + _STEP].sum(axis=1)  # summed pairwise, so float32 is enough
    rows /= K.shape[1]
    demand_finite_kernel(rows)
    return Means(rows, float(rows.mean()))


@operation
def centre(K: NDArray) -> Means:
    """Centre the symmetric array ``K`` in place and return the means it had.

    >>> K = np.array([[2.0, 0.0], [0.0, 4.0]])
    >>> means = centre(K)
    >>> K
    array([[ 1.5, -1.5],
           [-1.5,  1.5]])
    """
    means = gram_means(K)
    for start in range(0, len(K), _STEP):
        block = K[start : start + _STEP]
        block -= (means.rows[start : start + _STEP, None] - means.total).astype(K.dtype)
        block -= means.rows.astype(K.dtype)
    return means


def centre_new(K: NDArray, means: Means) -> None:
    """Centre rows ``K`` (m, n) of new points in place, with the means of the training rows.

    >>> K = np.array([[1.0, 3.0]])
    >>> centre_new(K, Means(np.array([1.0, 2.0]), 1.5))
    >>> K
    array([[-0.5,  0.5]])
    """
    K -= (K.mean(axis=1, keepdims=True) - means.total).astype(K.dtype)
    K -= means.rows.astype(K.dtype)


class CentredProduct:
    """Function ``V -> H K H V`` from ``V -> K V``; no array of the size of ``K`` is allocated.

    ``product`` is given blocks of type ``dtype``. The first call also finds ``means``, from another column of ones.

    >>> K = np.array([[2.0, 0.0], [0.0, 4.0]])
    >>> apply = CentredProduct(lambda V: K @ V)
    >>> apply(np.eye(2)), apply.means.rows
    (array([[ 1.5, -1.5],
           [-1.5,  1.5]]), array([1., 2.]))
    """

    def __init__(self, product: Callable[[NDArray], NDArray], dtype: Any = np.float64) -> None:
        self.product, self.dtype = product, dtype
        self.means = Means(np.zeros(0), 0.0)

    def __call__(self, V: NDArray) -> NDArray[np.float64]:
        """``H K H V`` in float64."""
        V = centred(V, self.dtype)
        if not len(self.means.rows):
            n, width = V.shape
            with_ones = blank((n, width + 1), V)
            with_ones[:, :width] = V
            with_ones[:, width] = 1 / n
            Y = self.product(cast(with_ones, self.dtype))
            rows = to_numpy(Y[:, width]).astype(np.float64)
            demand_finite_kernel(rows)
            self.means = Means(rows, float(rows.mean()))
            Y = Y[:, :width]
        else:
            Y = self.product(V)
        return centred(Y, np.float64)
