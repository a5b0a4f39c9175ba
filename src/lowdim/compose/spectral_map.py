"""The map of a similarity graph by its smoothest coordinates.

With similarities ``V`` and degrees ``d_i = Σ_j v_ij``, the eigenvectors u of ``L = I − D^-½ V D^-½`` with the smallest
eigenvalues λ except the constant one give ``y = D^-½ u``: they minimise ``Σ v_ij (y_i − y_j)²`` for given ``Σ d_i
y_i²``, and are the slowest modes of the random walk ``D⁻¹V``, which shrink by 1 − λ per step.
"""

from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.solve.eigenpairs import Doubles, Eigenpairs, warn_unless_converged
from lowdim.solve.leading_eigenpairs import direct, largest_eigenpairs
from lowdim.solve.signs import signs
from lowdim.solve.smallest_symmetric import smallest_symmetric
from lowdim.work import thread_limit


class SpectralMap(NamedTuple):
    """Ascending eigenvalues (k,) of L, coordinates (n, k) of weighted mean 0 and square 1, residual, solver."""

    values: Doubles
    positions: Doubles
    residual: float
    solver: str


def spectral_map(V: Any, k: int, *, seed: int, tol: float) -> SpectralMap:
    """Coordinates (n, k) from similarities ``V`` (n, n), a CSR array or a dense one, which is overwritten.

    ``Σ d_i y_i = 0`` and ``Σ d_i y_i² = Σ d_i``. Every row needs a positive degree. Connected components have
    coordinates of their own, of eigenvalue 0.

    >>> ring = sp.csr_array(np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1))
    >>> spectral_map(ring, 2, seed=0, tol=1e-9).values.round(6)
    array([0.5, 0.5])
    """
    n = V.shape[0]
    degrees = np.asarray(V.sum(axis=1), dtype=np.float64).ravel()
    root = 1.0 / np.sqrt(degrees)
    if sp.issparse(V):
        tails = np.repeat(np.arange(n), np.diff(V.indptr))
        scaled = V.data * (root[tails] * root[V.indices])  # as symmetric as V, to the bit
        L = sp.csr_array(sp.eye_array(n) - sp.csr_array((scaled, V.indices, V.indptr), shape=(n, n)))
        found = smallest_symmetric(L, k, null=np.sqrt(degrees), seed=seed, tol=tol, largest=2.0)
        values = found.values
    else:
        found, values = _dense(V, root, k, seed, tol)
    warn_unless_converged(found, "Ask for fewer components, or change the number of neighbours.")
    Y = found.vectors * root[:, None] * np.sqrt(degrees.sum())
    return SpectralMap(values, Y * signs(Y.T), found.residual, found.solver)


def _dense(V: NDArray, root: Doubles, k: int, seed: int, tol: float) -> tuple[Eigenpairs, Doubles]:
    """Eigenpairs of a shifted −L from all similarities, which are scaled in place, and the eigenvalues of L."""
    n = len(V)
    V *= root[:, None]
    V *= root
    constant = 1.0 / root / np.linalg.norm(1.0 / root)

    def array() -> Doubles:  # the eigenvalue 1 of the constant vector becomes −1, below those wanted
        return np.subtract(V, np.outer(2 * constant, constant), out=V)

    def apply(X: Doubles) -> Doubles:  # shifted, so that the largest in magnitude are the largest
        return np.asarray(V @ X + X - 2 * np.outer(constant, constant @ X))

    with nullcontext() if direct(n, k) else thread_limit.alone():
        found = largest_eigenpairs(n, k, array=array, apply=apply, seed=seed, tol=max(tol, 1e-10), costly=True)
    return found, (1.0 if found.solver == "dense" else 2.0) - found.values
