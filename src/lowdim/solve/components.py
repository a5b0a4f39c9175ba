"""How many components: a count, a proportion of the variance, or the corner of the scree graph."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def elbow(values: ArrayLike) -> int:
    """Number of components before the corner of the scree graph.

    The corner is the point farthest below the straight line from the first to the last value (scaling either axis
    does not move it). A graph with no point below that line has no corner, and all components are kept.

    >>> elbow([9, 8, 7, 0.3, 0.2, 0.1])
    3
    >>> elbow([3, 2, 1])
    3
    """
    v = np.asarray(values, dtype=np.float64)
    if v.ndim != 1 or len(v) == 0:
        raise ValueError(f"elbow needs a non-empty list of variances; got shape {v.shape}. Pass one per component.")
    if len(v) < 3:
        return len(v)
    line = np.linspace(v[0], v[-1], len(v))
    depth = line - v
    corner = int(np.argmax(depth))
    return corner if depth[corner] > 1e-9 * abs(v[0] - v[-1]) and corner > 0 else len(v)


def components_for(proportion: float, ratios: ArrayLike) -> int:
    """Fewest leading components whose ratios reach ``proportion``; all of them if none do.

    >>> components_for(0.9, [0.6, 0.3, 0.1])
    2
    """
    reached = np.cumsum(np.asarray(ratios, dtype=np.float64))
    return min(int(np.searchsorted(reached, proportion - 1e-12)) + 1, len(reached))


def completed(V: NDArray[np.floating], k: int) -> NDArray[np.floating]:
    """Orthonormal rows (k, d) that begin with those of ``V`` (r, d), r ≤ k ≤ d.

    Directions of no variance are any basis of what is left. This one depends on the span of ``V`` alone, so that
    solvers agree: each next row is the unit vector farthest from the rows before (the first of equals), less its part
    in them.

    >>> completed(np.array([[0.0, 1.0, 0.0]]), 2)
    array([[0., 1., 0.],
           [1., 0., 0.]])
    """
    r, d = V.shape
    out = np.vstack([V, np.zeros((k - r, d), V.dtype)])
    left = 1.0 - np.square(V).sum(axis=0)
    for row in range(r, k):
        j = int(np.argmax(left >= left.max() - 1e-6))
        new = np.zeros(d, V.dtype)
        new[j] = 1.0
        for _ in range(2):  # once more for rounding
            new -= (out[:row] @ new) @ out[:row]
            new /= np.linalg.norm(new)
        out[row] = new
        left -= np.square(new)
    return out
