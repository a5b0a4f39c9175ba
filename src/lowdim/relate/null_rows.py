"""Rows without structure, to compare data with: columns permuted independently, and Gaussian rows of one covariance."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def permuted_columns(X: Any, rng: np.random.Generator) -> Any:
    """Rows with the columns of ``X`` (n, d), the values of each in an order of its own: no column depends on another.

    >>> P = permuted_columns(np.arange(6.0).reshape(3, 2), np.random.default_rng(0))
    >>> np.sort(P, axis=0).tolist()
    [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    """
    if not sp.issparse(X):
        return rng.permuted(X, axis=0)
    columns = sp.csc_array(X, copy=True)
    for start, stop in zip(columns.indptr[:-1], columns.indptr[1:], strict=True):
        columns.indices[start:stop] = rng.choice(X.shape[0], stop - start, replace=False)
    columns.has_sorted_indices = False
    columns.sort_indices()
    return sp.csr_array(columns)


def gaussian_like(X: Any, rng: np.random.Generator) -> Any:
    """Gaussian rows with the mean and the covariance of the rows of ``X`` (n, d), which need not be formed.

    >>> G = gaussian_like(np.eye(3)[[0, 1, 2, 0]] * [1, 2, 0], np.random.default_rng(0))
    >>> G.shape, float(abs(G[:, 2]).max())
    ((4, 3), 0.0)
    """
    A = (X.toarray() if sp.issparse(X) else X).astype(np.float64)
    mean = A.mean(axis=0)
    drawn = rng.standard_normal((len(A), len(A))) @ (A - mean) / max(1, len(A) - 1) ** 0.5 + mean
    return drawn.astype(X.dtype if X.dtype.kind == "f" else np.float64)


def exceedance(value: float, draws: NDArray[np.float64], *, lower: bool) -> float:
    """Probability that one more of ``draws``, normally distributed, is as extreme as ``value``.

    >>> round(exceedance(0.0, np.array([1.0, 2.0, 3.0]), lower=True), 2)
    0.11
    """
    from scipy.stats import t

    count = len(draws)
    gap = (draws.mean() - value) * (1 if lower else -1)
    width = float(draws.std(ddof=1)) * (1 + 1 / count) ** 0.5
    if width <= 1e-12 * max(abs(float(draws.mean())), 1e-300):
        return 1.0 if gap <= 0 else 0.0
    return float(t.sf(gap / width, count - 1))


def neighbor_distance(distances: NDArray[np.floating]) -> float:
    """Geometric mean over rows of the mean distance (n, k) to their neighbours: small where columns depend on others.

    >>> neighbor_distance(np.array([[1.0, 3.0], [8.0, 8.0]]))
    4.0
    """
    lengths = np.maximum(distances.astype(np.float64).mean(axis=1), np.finfo(np.float32).tiny)
    return float(np.exp(np.log(lengths).mean()))
