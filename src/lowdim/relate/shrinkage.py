"""Shrinkage of covariance matrices within classes: how much towards their diagonals (Ledoit and Wolf 2004).

For one class with standardised rows ``z`` and correlation ``R``, the intensity that minimises the expected squared
error is ``γ = min(β, δ)/δ`` with ``δ = ‖R − μI‖²/d``, ``β = (Σ‖z‖⁴/n − ‖R‖²)/(d n)`` and ``μ = tr R/d``.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.relate.gram import Centred
from lowdim.relate.moment_states import ColumnMoments
from lowdim.relate.moments import column_moments, moments
from lowdim.work.backend_arrays import to_numpy
from lowdim.work.blockwise import row_blocks
from lowdim.work.dispatch import operation
from lowdim.work.progress import stage
from lowdim.work.rows import take

Doubles = NDArray[np.float64]


class Shrinkage(NamedTuple):
    """Intensity (C,) of each class, and the diagonal target (C, d) of its covariance, times the intensity."""

    intensities: Doubles
    targets: Doubles


@operation(any_backend=True)
def ledoit_wolf(X: Any, labels: NDArray[np.int32], n_classes: int) -> Shrinkage:
    """Shrinkage of the covariance of each class of rows, as in scikit-learn's LinearDiscriminantAnalysis.

    Each class is standardised first; a feature that is constant in it has scale 1. Only one class is held as floats
    at a time, and only as a matrix of its smaller side.

    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> bool(0 < ledoit_wolf(X, np.zeros(50, np.int32), 1).intensities[0] <= 1)
    True
    """
    d = X.shape[1]
    intensities, targets = np.zeros(n_classes), np.zeros((n_classes, d))
    with stage("shrinkage", total=n_classes) as tick:
        for c in range(n_classes):
            intensities[c], targets[c] = _one_class(take(X, np.flatnonzero(labels == c)))
            tick(c + 1)
    return Shrinkage(intensities, targets)


def _one_class(X: Any) -> tuple[float, Doubles]:
    n, d = X.shape
    M = column_moments(X)
    scale, trace = standardising(M, rounding_of(X))
    if n < d:
        square = float(np.square(to_numpy(Centred(X, M.mean, scale).gram())).sum()) / n**2
    else:
        square = float(np.square(moments(X).scatter / np.outer(scale, scale)).sum()) / n**2
    return intensity_of(n, scale, trace, square, fourth_powers(X, M.mean, scale))


def standardising(M: ColumnMoments, eps: float) -> tuple[Doubles, float]:
    """Deviations (d,) of one class of rows of rounding ``eps``, 1 where a feature is constant, and ``tr R``."""
    n = M.rows
    still = M.variance <= n * eps * M.variance + np.square(n * M.mean * eps)  # StandardScaler's rule
    scale = np.where(still, 1.0, np.sqrt(M.variance))
    return scale, float((np.where(still, 0.0, M.variance) / scale**2).sum())


def intensity_of(n: int, scale: Doubles, trace: float, square: float, fourth: float) -> tuple[float, Doubles]:
    """Intensity and target (d,) of a class of n rows with ``tr R``, ``‖R‖²`` and ``Σ‖z‖⁴``."""
    d = len(scale)
    mu = trace / d
    delta = (square - 2.0 * mu * trace + d * mu**2) / d
    beta = min((fourth / n - square) / (d * n), delta)
    intensity = beta / delta if beta > 0 else 0.0
    return intensity, intensity * mu * scale**2


@operation
def fourth_powers(X: Any, mean: Doubles, scale: Doubles) -> float:
    """``Σ ‖(x − mean)/scale‖⁴`` over the rows.

    >>> fourth_powers(np.array([[1.0, 1.0], [3.0, 0.0]]), np.zeros(2), np.ones(2))
    85.0
    """
    blocks = (np.square(np.square(Z / scale).sum(axis=1)).sum() for _, Z in row_blocks(X, np.float64, less=mean))
    return float(sum(blocks))


@operation
def rounding_of(X: Any) -> float:
    """Machine epsilon of the values: that of their type, of float64 for integers."""
    return float(np.finfo(X.dtype if X.dtype.kind == "f" else np.float64).eps)
