"""Directions of whitened rows whose scores are least Gaussian: the fixed-point steps of FastICA (Hyvärinen 1999).

For white rows ``z`` and a direction ``w`` of length 1 a step is ``E[z g(w·z)] − E[g'(w·z)] w``. Then the directions
are made orthonormal: all at once, ``(W Wᵀ)^−½ W``, or one after the other.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.work import thread_limit
from lowdim.work.dispatch import operation
from lowdim.work.products import gemm_address
from lowdim.work.progress import note, stage
from lowdim.work.random import stream

Doubles = NDArray[np.float64]
CONTRASTS = ("logcosh", "exp", "cube")
_SAMPLE = 8192  # rows, and rows per direction squared, from which the first steps are computed
_FIRST = 15  # such steps; the last ones need all rows
_LONG = 40  # steps after which they are halved, since some go back and forth between two places


class Directions(NamedTuple):
    """Orthonormal directions W (p, k), the steps over all rows, and the change of the last one."""

    W: Doubles
    steps: int
    change: float


@operation
def contrast_sums(Z: Any, W: Doubles, contrast: str, alpha: float) -> tuple[Doubles, Doubles]:
    """``Σ g(W z) zᵀ`` (p, k) and ``Σ g'(W z)`` (p,) over white rows Z (n, k), for directions W (p, k).

    ``contrast`` names g: "logcosh" is tanh(alpha s), "exp" s exp(−s²/2) and "cube" s³.

    >>> contrast_sums(np.array([[2.0], [-1.0]]), np.array([[1.0]]), "cube", 1.0)
    (array([[17.]]), array([15.]))
    """
    W = np.ascontiguousarray(W, Z.dtype)
    with thread_limit.alone():
        return _native.contrast_sums(
            gemm_address(Z.dtype.name), Z, W, CONTRASTS.index(contrast), alpha, n_threads=thread_limit.current()
        )


def orthonormal(W: Doubles) -> Doubles:
    """``(W Wᵀ)^−½ W``: the orthonormal rows nearest to those of ``W``.

    >>> orthonormal(np.array([[2.0, 0.0], [0.0, -3.0]]))
    array([[ 1.,  0.],
           [ 0., -1.]])
    """
    with thread_limit.alone():
        U, _, V = np.linalg.svd(W, full_matrices=False)
        return np.asarray(U @ V) + 0.0


def find(
    Z: Any, count: int, contrast: str, alpha: float, *, together: bool, max_iter: int, tol: float, seed: int
) -> Directions:
    """Directions (count, k) of white rows Z (n, k), until none turns by more than ``1 − |cos| = tol`` in a step."""
    start = stream(seed, "directions").standard_normal((count, Z.shape[1]))
    with stage("directions"):
        if not together:
            return _one_by_one(Z, start, contrast, alpha, max_iter, tol)
        W, every = orthonormal(start), Z.shape[0] // max(_SAMPLE, 8 * count * Z.shape[1])
        if every > 1:  # the first steps, which are long, from evenly spaced rows
            W = _parallel(Z[::every] + 0.0, W, contrast, alpha, _FIRST, tol).W
        return _parallel(Z, W, contrast, alpha, max_iter, tol)


def _step(Z: Any, W: Doubles, contrast: str, alpha: float) -> Doubles:
    products, slopes = contrast_sums(Z, W, contrast, alpha)
    return (products - slopes[:, None] * W) / Z.shape[0]


def _parallel(Z: Any, W: Doubles, contrast: str, alpha: float, max_iter: int, tol: float) -> Directions:
    """All directions at once, symmetrically made orthonormal."""
    change, done = np.inf, 0
    while change > tol and done < max_iter:
        new = orthonormal(_step(Z, W, contrast, alpha))
        cosines = np.einsum("ij,ij->i", new, W)
        change, done = float(np.abs(np.abs(cosines) - 1).max()), done + 1
        half = done > _LONG and change > tol
        W = orthonormal(W + np.where(cosines < 0, -1.0, 1.0)[:, None] * new) if half else new
        note(f"change {change:.1e}")
    return Directions(W, done, change)


def _one_by_one(Z: Any, start: Doubles, contrast: str, alpha: float, max_iter: int, tol: float) -> Directions:
    """One direction after the other, each orthogonal to those before."""
    W, most, largest = np.empty((0, start.shape[1])), 0, 0.0
    for w in start:
        w, change, done = _apart(w, W), np.inf, 0
        while change > tol and done < max_iter:
            new = _apart(_step(Z, w[None], contrast, alpha)[0], W)
            change, w, done = abs(abs(float(new @ w)) - 1), new, done + 1
        W, most, largest = np.vstack([W, w]), max(most, done), max(largest, change)
    return Directions(W, most, largest)


def _apart(w: Doubles, W: Doubles) -> Doubles:
    """``w`` orthogonal to the rows of ``W``, of length 1."""
    for _ in range(2):  # the second removes what rounding left
        w = w - (w @ W.T) @ W
    return np.asarray(w / np.linalg.norm(w))
