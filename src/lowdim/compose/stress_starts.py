"""Starting maps for stress minimisation, and metric scaling from the first of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.compose.scaling import bytes_to_scale, classical_scaling
from lowdim.relate.metrics import Metric
from lowdim.relate.pairwise import pairwise
from lowdim.solve import smacof
from lowdim.work import memory
from lowdim.work.random import stream

Doubles = NDArray[np.float64]
Singles = NDArray[np.float32]
_NEAR = 5  # rows whose middle is one start of a new row
_STEPS, _TOLERANCE = 300, 1e-5  # of the map of all rows
_FLAT = 1e-3  # size of the noise along a coordinate without extent, relative to the widest


def classical_start(D: Singles, W: Singles | None, k: int, seed: int) -> Doubles:
    """Classical scaling, unknown distances replaced by the mean; a little noise where a coordinate has no extent."""
    fill = None if W is None else (W == 0)
    if fill is not None:
        np.fill_diagonal(fill, False)
        np.copyto(D, float(D.sum() / max(1, np.count_nonzero(D))), where=fill)
    np.square(D, out=D)
    Y = classical_scaling(D, k, seed).positions
    np.sqrt(D, out=D)
    if fill is not None:
        np.copyto(D, 0.0, where=fill)
    spread = Y.std(axis=0)
    flat = np.flatnonzero(spread <= _FLAT * spread.max())
    if len(flat):
        Y[:, flat] = _FLAT * (spread.max() or 1.0) * stream(seed, "flat start").standard_normal((len(Y), len(flat)))
    return Y


def starts_of_new(D: Singles, W: Singles | None, positions: Doubles) -> tuple[Doubles, Doubles]:
    """Two starts (m, k) each: the middle of the nearest rows, and the position given by exact squared distances."""
    apart = D if W is None else np.where(W > 0, D, np.inf)
    near = np.argpartition(apart, min(_NEAR, D.shape[1] - 1), axis=1)[:, :_NEAR]
    centred = positions - positions.mean(axis=0)
    squares = np.square(D, dtype=np.float64) - np.square(centred).sum(axis=1)
    if W is not None:
        squares = np.where(W > 0, squares, 0.0)
    exact = -0.5 * (squares - squares.mean(axis=1, keepdims=True)) @ centred
    exact = exact @ np.linalg.pinv(centred.T @ centred) + positions.mean(axis=0)
    return positions[near].mean(axis=1), exact


def metric_map(X: Any, metric: str | Metric, k: int, seed: int, name: str) -> Doubles:
    """Map (n, k) of rows in NumPy or CSR by metric multidimensional scaling; for "precomputed" of distances."""
    n = X.shape[0]
    what = f"{name}: the distances of all pairs of {n:,} rows"
    memory.require(8.0 * n * n + bytes_to_scale(n, k, copy=False), what, "Pass anchors='pca', or fewer rows.")
    D = pairwise(X, metric, dtype=np.float32)
    unit = float(np.exp2(np.floor(np.log2(float(D.max()) or 1.0))))
    D /= np.float32(unit)
    Y = classical_start(D, None, k, seed)
    return unit * smacof.majorise(D, Y, weights=None, max_iter=_STEPS, tol=_TOLERANCE).positions
