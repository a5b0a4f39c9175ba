"""Affinities of rows: probabilities that one row picks another as its neighbour.

``p_{j|i} ∝ exp(−d_ij² / 2σ_i²)`` over the nearest neighbours of row i, with ``σ_i`` such that its entropy is the
logarithm of the perplexity (Hinton and Roweis 2002), and ``P = (p_{j|i} + p_{i|j}) / 2n`` (van der Maaten and Hinton
2008).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.work import thread_limit
from lowdim.work.dispatch import operation
from lowdim.work.progress import stage

_NEIGHBORS = 3  # times the perplexity: the weights of further neighbours are negligible
NEAREST, SHARE = 3.0, 0.25  # perplexity of the neighbours that a new row must keep, and their share of its weights


class Affinities(NamedTuple):
    """Symmetric ``P`` as sparse rows: starts (n + 1,), columns and values. It sums to 1."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float32]


def neighbors_for(perplexity: float, n: int) -> int:
    """Number of neighbours to search for at this perplexity.

    >>> neighbors_for(30, 1000), neighbors_for(30, 50)
    (90, 49)
    """
    return max(1, min(n - 1, int(np.ceil(_NEIGHBORS * perplexity))))


@operation
def likelihoods(
    distances: NDArray[np.floating], perplexities: list[float], sigma: float | None = None
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Probabilities (n, k) of neighbours at ascending ``distances`` (n, k), and the perplexity (n,) of each row.

    Several perplexities are averaged; ``sigma`` is one width for all rows instead. Rows whose distances are all equal
    get equal probabilities.

    >>> p, reached = likelihoods(np.array([[1.0, 1.0, 9.0]]), [2.0])
    >>> p.round(2), reached.round(2)
    (array([[0.5, 0.5, 0. ]], dtype=float32), array([2.], dtype=float32))
    """
    most = distances.max(initial=0)
    if not np.isfinite(most):
        raise ValueError(f"Affinities: distances must be finite in {distances.dtype}; got {most}. Scale the data.")
    with stage("perplexity", total=len(distances)) as tick:
        if sigma is not None:
            return _native.bandwidth(distances, float(sigma), n_threads=thread_limit.current(), tick=tick)
        return _native.perplexity(distances, perplexities, n_threads=thread_limit.current(), tick=tick)


@operation
def with_nearest(weights: NDArray[np.float32], distances: NDArray[np.floating]) -> NDArray[np.float32]:
    """Weights (m, k) of the neighbours of new rows at ``distances`` (m, k), with more on the nearest; sums are kept.

    A row of a fit keeps its nearest neighbours since they move towards it, too. A new row is drawn to the middle of all
    its neighbours, which do not move.

    >>> with_nearest(np.full((1, 4), 0.25, np.float32), np.array([[1.0, 2.0, 3.0, 9.0]])).round(2)
    array([[0.29, 0.27, 0.25, 0.19]], dtype=float32)
    """
    p, _ = likelihoods(distances, [min(NEAREST, distances.shape[1])])
    return (1 - SHARE) * weights + SHARE * weights.sum(1)[:, None] * p


@operation
def affinities(indices: NDArray[np.int32], p: NDArray[np.float32]) -> Affinities:
    """Symmetric ``P`` from the neighbours (n, k) of each row and their probabilities (n, k).

    >>> P = affinities(np.array([[1], [0]], np.int32), np.ones((2, 1), np.float32))
    >>> P.indices, P.values
    (array([1, 0], dtype=int32), array([0.5, 0.5], dtype=float32))
    """
    with stage("affinities"):
        return Affinities(*_native.symmetrize(indices, p, n_threads=thread_limit.current()))
