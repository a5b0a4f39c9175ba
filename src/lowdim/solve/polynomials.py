"""Smallest eigenpairs by polynomials of the matrix that are small on the unwanted part of the spectrum.

Chebyshev's polynomials are applied to a block of vectors, with the step of Rayleigh and Ritz after each, until the
residual is small (Zhou, Saad, Tiago and Chelikowsky 2006).
"""

from collections.abc import Callable

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from lowdim.work import thread_limit
from lowdim.work.progress import Tick, note, stage
from lowdim.work.random import stream

WIDTH = 8  # vectors that the native polynomial takes at a time
DEGREES = 60_000  # in all, before polynomials give up
_SURE = 0.1  # residual relative to the last eigenvalue wanted
_ZERO = 1e-12  # eigenvalue, relative to the largest, that counts as zero

Doubles = NDArray[np.float64]
Filter = Callable[[Doubles, float, float, int, Tick], None]


def by_polynomials(
    apply: Callable[[Doubles], Doubles],
    damp: Filter,
    null: Doubles,
    k: int,
    largest: float,
    *,
    seed: int,
    tol: float,
    degrees: int = DEGREES,
) -> tuple[Doubles, int]:
    """Vectors (n, k) of the smallest eigenvalues of M, orthonormal and orthogonal to its null vectors ``null`` (n, p).

    The second result is the total degree.

    ``apply(V)`` multiplies by M, ``damp(V, low, high, degree, tick)`` applies in place the polynomial that is small
    from low to high to V (n, 8). ``largest`` is near the largest eigenvalue, to a tenth; ``tol`` bounds the residual
    relative to it. After so many ``degrees`` in all, the best vectors so far are returned.
    """
    n = len(null)
    width = min(WIDTH * -(-(k + WIDTH - 2) // WIDTH), WIDTH * ((n - null.shape[1]) // WIDTH))
    V = stream(seed, "bottom").standard_normal((n, width))
    high = 1.1 * largest
    low, growth, reach, used = 0.05 * high, 8.0, 0.05, 0  # the interval of the wanted values is refined in each round
    best: tuple[float, Doubles] = (np.inf, V[:, :k])
    with stage("eigenvectors") as tick:
        while True:
            # T grows by e^(2 m √reach); much more than e^16 would leave the last vectors too few digits.
            degree = int(np.clip(growth / np.sqrt(reach), 20, 4000))
            with thread_limit.alone():
                V -= null @ (null.T @ V)
            for start in range(0, width, WIDTH):
                block = np.ascontiguousarray(V[:, start : start + WIDTH])
                damp(block, low, high, degree, tick)
                V[:, start : start + WIDTH] = block
            used += degree
            with thread_limit.alone():  # the bits must not depend on the threads of BLAS
                V, _ = np.linalg.qr(V - null @ (null.T @ V))
                image = apply(V)
                values, turn = sl.eigh(V.T @ image, check_finite=False)
                V, values = V @ turn, np.maximum(values, 0.0)
                apart = image @ turn[:, :k] - V[:, :k] * values[:k]
            residual = float(np.linalg.norm(apart, axis=0).max()) / largest
            note(f"residual {residual:.1e}")
            best = min(best, (residual, V[:, :k]), key=lambda one: one[0])
            # An eigenvalue below the residual is not yet separated from its neighbours.
            sure = residual <= tol and residual <= _SURE * max(float(values[k - 1]) / largest, _ZERO)
            if sure or used >= degrees or (residual > best[0] and best[0] <= _ZERO):
                return best[1], used
            high = max(high, 1.05 * float(values[-1]))
            low = float(np.clip(values[-1], 1e-9 * high, 0.5 * high))
            reach = max(low - float(values[k - 1]), 0.05 * low) / high
            growth = float(np.clip(np.log(10 * residual / tol) / 2, 1.0, 8.0))
