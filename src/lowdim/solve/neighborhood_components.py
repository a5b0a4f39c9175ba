"""Neighbourhood components: the expected accuracy of stochastic nearest neighbours, and its gradient.

With positions ``y = A x``, row i takes row j ≠ i as its neighbour with probability ``p_ij ∝ exp(−‖y_i − y_j‖²)``. The
objective is ``Σ_i p_i``, ``p_i = Σ_j p_ij`` over rows of the same class (Goldberger and others 2004).
"""

from typing import Any

import numpy as np
import scipy.optimize as so
from numpy.typing import NDArray

from lowdim.work.backend_arrays import from_numpy, to_numpy
from lowdim.work.dispatch import operation
from lowdim.work.products import inner, multiply
from lowdim.work.progress import note, stage

Doubles = NDArray[np.float64]
BLOCK = 2**21  # pairs of rows taken at a time


@operation
def pulls(Y: Any, codes: NDArray[np.int32]) -> tuple[float, Any]:
    """``Σ_i p_i`` for positions Y (n, k) of rows with these labels, and G (n, k), its derivative by the positions.

    >>> pulls(np.array([[0.0], [1.0], [9.0]]), np.array([0, 0, 1], np.int32))[0]
    2.0
    """
    n, total, G = len(Y), 0.0, np.zeros(Y.shape, Y.dtype)
    norms, columns = np.square(Y).sum(axis=1), np.zeros(n, Y.dtype)
    step = max(1, BLOCK // n)
    for start in range(0, n, step):
        rows = slice(start, min(n, start + step))
        own = np.arange(rows.stop - start), np.arange(start, rows.stop)
        P = multiply(Y[rows], Y.T)
        P *= 2
        P -= norms  # of each row all but a constant
        P[own] = -np.inf
        P -= P.max(axis=1, keepdims=True)
        np.exp(P, out=P)
        P /= P.sum(axis=1, keepdims=True)
        kept = P * (codes[rows, None] == codes)
        right = kept.sum(axis=1)
        total += float(right.sum(dtype=np.float64))
        P *= right[:, None]
        W = np.subtract(kept, P, out=kept)  # rows add up to 0
        columns += W.sum(axis=0)
        G[rows] += multiply(W, Y)
        G += multiply(W.T, Y[rows])
    G -= columns[:, None] * Y
    return total, 2 * G


def maximise(
    X: Any, codes: NDArray[np.int32], A: Doubles, max_iter: int, tol: float
) -> tuple[Doubles, list[float], bool]:
    """Map A (k, d), found by L-BFGS from the one given; the objective after each iteration; whether it converged.

    ``tol`` is the largest entry of the gradient, of the objective as a share of the rows, at which it ends.
    """
    shape, n, curve = A.shape, X.shape[0], []

    def loss(flat: Doubles) -> tuple[float, Doubles]:
        there = from_numpy(flat.reshape(shape).astype(str(X.dtype).rpartition(".")[2]), X)
        found, G = pulls(multiply(X, there.T), codes)
        return -found / n, -to_numpy(inner(G, X)).astype(np.float64).ravel() / n

    def after(intermediate_result: Any) -> None:
        curve.append(-float(intermediate_result.fun))
        tick(len(curve))
        note(f"expected accuracy {curve[-1]:.4f}")

    with stage("map", total=max_iter) as tick:
        found = so.minimize(
            loss, A.ravel(), jac=True, method="L-BFGS-B", callback=after,
            options={"maxiter": max_iter, "gtol": tol, "ftol": 1e-7},
        )  # fmt: skip
    curve = curve or [-float(found.fun)]
    return found.x.reshape(shape), curve, bool(found.success)
