"""Partial least squares from the scatter of two views, so that the rows are read once.

With the deflated views ``X_a, Y_a``: weights w, c are the leading singular pair of ``X_aᵀ Y_a``; scores ``t = X_a w``,
``u = Y_a c``; loadings ``p = X_aᵀ t / tᵀt``; then ``X_{a+1} = X_a − t pᵀ`` (Wold 1975; Höskuldsson 1988). Products of
deflated views follow from those before: ``X_{a+1}ᵀ X_{a+1} = (I − p wᵀ) X_aᵀ X_a (I − w pᵀ)``.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.solve.leading_eigenpairs import eigh_top

Doubles = NDArray[np.float64]
_LOST = 1e-12  # share of the scatter below which nothing is left but rounding


class Pairs(NamedTuple):
    """Weights and loadings of both views, columns (d, k) and (e, k), and squared lengths (k,) of both scores."""

    x_weights: Doubles
    y_weights: Doubles
    x_loadings: Doubles
    y_loadings: Doubles
    x_squares: Doubles
    y_squares: Doubles


def pairs(S: Doubles, R: Doubles, C: Doubles, k: int, *, canonical: bool) -> Pairs:
    """Up to ``k`` pairs from ``S = XᵀX``, ``R = YᵀY`` and ``C = XᵀY``; fewer where nothing is left to explain.

    ``canonical`` deflates Y by its own scores, else by those of X; weights of Y have length 1 then, else they predict.

    >>> found = pairs(np.diag([4.0, 1.0]), np.eye(1), np.array([[2.0], [0.0]]), 1, canonical=False)
    >>> found.x_weights.ravel(), found.y_loadings.ravel()
    (array([1., 0.]), array([0.5]))
    """
    S, R, C, parts = S.copy(), R.copy(), C.copy(), list[tuple[Any, ...]]()
    totals = np.trace(S), np.trace(R), float(np.square(C).sum())
    while len(parts) < k and np.square(C).sum() > _LOST**2 * totals[2]:
        w, c = _leading(C)
        Sw = S @ w
        tt = float(w @ Sw)
        if tt <= _LOST * totals[0]:
            break
        p, across = Sw / tt, C.T @ w
        if canonical:
            Rc = R @ c
            uu = float(c @ Rc)
            if uu <= _LOST * totals[1]:
                break
            q = Rc / uu
            C = C - np.outer(p, across)
            C -= np.outer(C @ c, q)
            R = R - uu * np.outer(q, q)
        else:
            c = q = across / tt
            uu = float(c @ R @ c) / float(c @ c) ** 2
            C = C - np.outer(p, across)
            R = R - tt * np.outer(q, q)
        S = S - tt * np.outer(p, p)
        parts.append((w, c, p, q, tt, uu))
    columns = [np.array(column) for column in zip(*parts, strict=True)] if parts else [np.empty((0, 0))] * 6
    return Pairs(*(A.T for A in columns[:4]), *columns[4:])


def _leading(C: Doubles) -> tuple[Doubles, Doubles]:
    """Leading singular pair, of length 1; the largest entry of the first is positive."""
    wide = C.shape[0] < C.shape[1]
    A = C.T if wide else C
    v = eigh_top(A.T @ A, 1).vectors[:, 0] if A.shape[1] > 1 else np.ones(1)
    u = A @ v
    u /= np.linalg.norm(u)
    v = A.T @ u
    v /= np.linalg.norm(v)
    w, c = (v, u) if wide else (u, v)
    sign = np.sign(w[np.argmax(np.abs(w))])
    return w * sign, c * sign


def rotations(weights: Doubles, loadings: Doubles) -> Doubles:
    """``W (Pᵀ W)⁻¹`` (d, k), by which the scores of all pairs follow from a view that is not deflated.

    >>> rotations(np.eye(2), np.array([[2.0, 0.0], [0.0, 4.0]])).round(2).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return np.asarray(np.linalg.lstsq((loadings.T @ weights).T, weights.T, rcond=None)[0].T)
