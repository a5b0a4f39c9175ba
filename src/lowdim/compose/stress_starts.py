"""Starting maps for stress minimisation: classical scaling of all rows, and starting positions of new rows."""

import numpy as np
from numpy.typing import NDArray

from lowdim.compose.scaling import classical_scaling
from lowdim.work.random import stream

Doubles = NDArray[np.float64]
Singles = NDArray[np.float32]
_NEAR = 5  # rows whose middle is one start of a new row
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
