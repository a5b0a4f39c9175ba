"""Similarities of neighbours: weights of edges that decrease with their length.

``v_ij = exp(−d_ij² / (2 σ_i σ_j))``, with one width σ for all rows (the heat kernel) or each row's own, the median
distance to its neighbours (self-tuning, after Zelnik-Manor and Perona 2004).
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
LEAST = 1e-4  # of an edge: a row far from its neighbours would be disconnected where the exponential vanishes


def similarities(lengths: NDArray, own: Any, other: Any) -> Doubles:
    """Weights of edges of these lengths between rows of the widths ``own`` and ``other``, at least 1e-4.

    >>> similarities(np.array([0.0, 1.0, 99.0]), 1.0, 1.0).round(4).tolist()
    [1.0, 0.6065, 0.0001]
    """
    return np.maximum(np.exp(-0.5 * np.square(lengths, dtype=np.float64) / (own * other)), LEAST)


def local_widths(starts: NDArray, lengths: NDArray) -> Doubles:
    """Median length of each row's edges, at starts[i] … starts[i + 1]; never 0.

    >>> local_widths(np.array([0, 3, 4]), np.array([1.0, 5.0, 2.0, 4.0]))
    array([2., 4.])
    """
    tails = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    ranked = lengths[np.lexsort((lengths, tails))]
    widths = ranked[starts[:-1] + (np.diff(starts) - 1) // 2].astype(np.float64)
    positive = widths[widths > 0]
    return np.where(widths > 0, widths, positive.min() if len(positive) else 1.0)


def full_similarities(D: NDArray, own: Any, other: Any) -> Doubles:
    """The same between all pairs of two sets of rows, from their distances; none is too small."""
    return np.exp(-0.5 * np.square(D, dtype=np.float64) / (own * other))


def divided(V: Any, density: Doubles) -> Any:
    """``v_ij / (p_i p_j)`` for densities p (n,); a dense ``V`` is overwritten."""
    if sp.issparse(V):
        return sp.csr_array(sp.diags_array(1 / density) @ V @ sp.diags_array(1 / density))
    V /= density[:, None]
    V /= density
    return V
