"""How many components: a count, a proportion of the variance, or the elbow of the scree plot."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln


def elbow(values: ArrayLike) -> int:
    """Number of components before the elbow of the scree plot.

    The elbow is the point farthest below the straight line from the first to the last value (scaling either axis
    does not move it). A curve with no point below that line has no elbow, and all components are kept.

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


def likeliest(values: ArrayLike, n: float, rounding: float = 1e-15) -> int:
    """Number of components of largest evidence, from all variances in descending order and the number of rows.

    Laplace's approximation of the evidence of probabilistic PCA (Minka 2000, equation 77); at least one component is
    kept, and at least one left. Variances below ``rounding``, as a share of the first, count as that much, so that data
    of lower rank give their rank.

    >>> likeliest([9.0, 4.0, 1.01, 1.0, 0.99], 1000)
    2
    >>> likeliest([9.0, 4.0, 0.0, 0.0, 0.0], 1000)
    2
    """
    v = np.asarray(values, dtype=np.float64)
    d = len(v)
    if d < 2:
        return d
    least = rounding * v[0]
    sizes = (d - np.arange(d)) / 2
    spheres = np.cumsum(gammaln(sizes) - sizes * np.log(np.pi) - np.log(2.0))  # log p(U) of 1, 2, … directions
    best, most = 1, -np.inf
    for k in range(1, d):
        if v[k - 1] <= least:
            break
        noise = max(v[k:].mean(), least)
        smooth = np.where(np.arange(d) < k, v, noise)
        i, j = np.triu_indices(d, 1)
        i, j = i[i < k], j[i < k]
        gaps = (1 / smooth[j] - 1 / smooth[i]) * (v[i] - v[j])
        curvature = np.log(np.maximum(gaps, np.finfo(float).tiny)).sum() + len(i) * np.log(n)
        m = d * k - k * (k + 1) / 2
        evidence = spheres[k - 1] - n / 2 * (np.log(v[:k]).sum() + (d - k) * np.log(noise))
        evidence += (m + k) / 2 * np.log(2 * np.pi) - curvature / 2 - k / 2 * np.log(n)
        if evidence > most:
            best, most = k, evidence
    return best


def completed(V: NDArray[np.floating], k: int) -> NDArray[np.floating]:
    """Orthonormal rows (k, d) that begin with those of ``V`` (r, d), r ≤ k ≤ d.

    Directions of no variance may be any basis of the complement. This one depends on the span of ``V`` alone, so that
    solvers agree: each next row is the unit vector farthest from the rows before (the first of equals), minus its
    projection on them.

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
        for _ in range(2):  # repeated to reduce rounding
            new -= (out[:row] @ new) @ out[:row]
            new /= np.linalg.norm(new)
        out[row] = new
        left -= np.square(new)
    return out
