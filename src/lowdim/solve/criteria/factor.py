"""Orthogonal factor of the chosen features, and the residuals of the others.

Rows ``R`` with the same inner products as the data (the triangle of a QR factorisation) replace them, so that a step
costs d² for any number of rows, and nothing is squared: dependent and nearly dependent features are distinguished.
"""

from collections.abc import Sequence

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

Doubles = NDArray[np.float64]


def triangle(X: Doubles) -> Doubles:
    """``R`` (min(n, d), d) with ``RᵀR = XᵀX``; ``X`` is overwritten."""
    return np.asarray(sl.qr(X, mode="r", overwrite_a=True, check_finite=False)[0][: min(X.shape)])


class Factor:
    """For the features ``S`` chosen so far, in their order: ``R_S = Q Lᵀ`` with ``L`` lower triangular.

    ``U = Qᵀ R`` (m, d), ``rest = R − Q U`` and ``left`` (d,), the squared lengths of its columns. ``sound`` is False
    once a chosen feature depended on the previous ones, up to the share ``least`` of its squared length.
    """

    def __init__(self, R: Doubles, least: float, order: Sequence[int] = ()) -> None:
        self.least, self.order, self.sound = least, list(order), True
        self.size = np.square(R).sum(axis=0)
        self.U, self.rest = np.zeros((0, R.shape[1])), R
        if self.order:
            Q, T = sl.qr(R[:, self.order], mode="economic", check_finite=False)
            self.sound = len(T) == len(self.order) and bool(
                np.all(np.square(np.diag(T)) > least * self.size[self.order])
            )
            self.U = Q.T @ R
            self.rest = R - Q @ self.U
            self.rest -= Q @ (Q.T @ self.rest)  # repeated to reduce rounding
        self.left = np.square(self.rest).sum(axis=0)

    def join(self, f: int) -> tuple[Doubles, float]:
        """Add ``f``; returns its part along the previous features and the length of its residual."""
        u, length = self.U[:, f].copy(), float(np.sqrt(self.left[f]))
        self.sound &= bool(self.independent(np.array([f]))[0])
        self.order.append(f)
        if self.sound:
            q = self.rest[:, f] / length
            row = q @ self.rest
            self.U = np.vstack([self.U, row])
            self.rest = self.rest - np.outer(q, row)
            self.left = np.square(self.rest).sum(axis=0)
        return u, length

    def independent(self, features: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which of the features the chosen ones do not determine."""
        return self.left[features] > self.least * self.size[features]

    def whiten(self, A: Doubles) -> Doubles:
        """``A_S L⁻ᵀ`` (n, m) for rows ``A`` (n, d): coordinates in which the chosen features are orthonormal."""
        return np.asarray(self._solve(A[:, self.order].T).T)

    def apart(self, features: NDArray[np.intp]) -> tuple[Doubles, NDArray[np.bool_]]:
        """Unit vectors (m, c) along the part of each chosen feature orthogonal to the others, and which are nonzero."""
        place = [self.order.index(f) for f in features]
        H = self._solve(np.eye(len(self.order))[:, place])
        length = np.linalg.norm(H, axis=0)
        return H / length, self.least * np.square(length) * self.size[features] < 1.0

    def _solve(self, B: Doubles) -> Doubles:
        """``L⁻¹ B``."""
        return np.asarray(sl.solve_triangular(self.U[:, self.order].T, B, lower=True, check_finite=False))
