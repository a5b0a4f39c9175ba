"""Procrustes' problem: the rotation, scale and shift that bring one map nearest to another (Schönemann 1966)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]


class Motion(NamedTuple):
    """``Y ↦ scale Y rotation + shift``; the rotation (k, k) may reflect."""

    rotation: Doubles
    scale: float
    shift: Doubles

    def of(self, Y: NDArray) -> Doubles:
        """The map ``Y`` (n, k) after the motion."""
        return self.scale * (np.asarray(Y, np.float64) @ self.rotation) + self.shift


def motion(Y: NDArray, A: NDArray, *, scaled: bool = True) -> Motion:
    """Motion of ``Y`` (n, k) that minimises ``Σ ‖scale y R + shift − a‖²``; without ``scaled`` the scale is 1.

    >>> Y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    >>> found = motion(Y, 2 * Y[:, ::-1] + 5)
    >>> round(found.scale, 9), bool(np.allclose(found.of(Y), 2 * Y[:, ::-1] + 5))
    (2.0, True)
    """
    Y, A = np.asarray(Y, np.float64), np.asarray(A, np.float64)
    middle, onto = Y.mean(axis=0), A.mean(axis=0)
    own = np.square(Y - middle).sum()
    U, s, Vt = np.linalg.svd((Y - middle).T @ (A - onto))
    rotation = U @ Vt
    scale = float(s.sum() / own) if scaled and own > 0 and s.sum() > 0 else 1.0
    return Motion(rotation, scale, onto - scale * middle @ rotation)
