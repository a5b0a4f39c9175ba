"""Many small Gaussian posteriors at once, with symmetric matrices packed by their lower triangles."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.work import thread_limit
from lowdim.work.dispatch import operation

Doubles = NDArray[np.float64]


class Posterior(NamedTuple):
    """Of rows, with ``u = (t, 1)``: ``w E[u]`` (n, k + 1), packed ``w E[u uᵀ]``, ``log det M`` and ``E[t]·b`` (n,)."""

    means: Any
    products: Any
    logdet: Any
    fit: Any


@cache
def _places(k: int) -> NDArray[np.intp]:
    """Place (k, k) in the packed triangle of each entry of a symmetric matrix."""
    i, j = np.indices((k, k))
    high, low = np.maximum(i, j), np.minimum(i, j)
    places: NDArray[np.intp] = high * (high + 1) // 2 + low
    return places


def packed(W: Any) -> Any:
    """Lower triangles (d, k(k+1)/2), row by row, of ``w wᵀ`` for each row w of ``W`` (d, k).

    >>> packed(np.array([[2.0, 3.0]]))
    array([[4., 6., 9.]])
    """
    i, j = np.tril_indices(W.shape[1])
    return W[:, i] * W[:, j]


def symmetric(P: Any, k: int) -> Any:
    """Matrices (n, k, k) from the packed triangles (n, q).

    >>> symmetric(np.array([[4.0, 6.0, 9.0]]), 2).tolist()
    [[[4.0, 6.0], [6.0, 9.0]]]
    """
    return P[:, _places(k)]


@operation
def posterior(A: Any, B: Any, noise: float, weights: Any = None) -> Posterior:
    """``t ~ N(M⁻¹ b, σ² M⁻¹)`` with ``M = A + σ² I`` for each row: ``A`` packed (n, q), ``b`` the rows of ``B`` (n, k).

    >>> posterior(np.array([[3.0]]), np.array([[8.0]]), 1.0).means
    array([[2., 1.]])
    """
    A, B = np.ascontiguousarray(A), np.ascontiguousarray(B)
    w = np.ones(len(B)) if weights is None else weights
    return Posterior(*_native.posteriors(A, B, noise, w, n_threads=thread_limit.current()))
