"""Classical scaling: coordinates from squared distances, and the positions of new rows.

``B = −½ H D² H`` with ``H = I − 11ᵀ/n`` is the Gram matrix of centred coordinates, which are ``U Λ^½`` from its leading
eigenpairs (Torgerson 1952; Gower 1966). A row with squared distances ``d²`` to the others has the position
``−½ d² α − c`` with ``α = U Λ^-½`` and ``c`` from the means of D².
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.relate.centring import CentredProduct, Means, centre
from lowdim.solve.eigenpairs import Eigenpairs, warn_unless_converged
from lowdim.solve.leading_eigenpairs import (
    Operator,
    block_sizes,
    direct,
    eigh_top,
    eigh_top_operator,
    leading_span,
)
from lowdim.solve.signs import signs
from lowdim.work.backend_arrays import from_numpy, to_numpy
from lowdim.work.blockwise import float_dtype
from lowdim.work.dispatch import operation
from lowdim.work.products import multiply
from lowdim.work.random import stream
from lowdim.work.rows import cast, take

_RESIDUAL = 1e-5  # at which the Krylov method stops, relative to the first eigenvalue
_NOTHING = 2e-6  # share of the largest eigenvalue below which one is taken as zero, for distances in float32
_SKETCH = 256  # rows that the Krylov method starts from
_STEP = 4096  # rows placed at a time


class Scaling(NamedTuple):
    """Eigenvalues (k,), positions (n, k), what :func:`place_by_distances` needs, and the largest relative residual."""

    values: NDArray[np.float64]
    positions: NDArray[np.float64]
    dual: NDArray[np.float64]
    offset: NDArray[np.float64]
    residual: float


@operation
def place_by_distances(D2: NDArray, scaling: Scaling) -> NDArray[np.float64]:
    """Positions (m, k) of rows with squared distances ``D2`` (m, n) to those that were scaled."""
    Y = np.empty((len(D2), len(scaling.values)))
    for start in range(0, len(D2), _STEP):
        Y[start : start + _STEP] = multiply(D2[start : start + _STEP], scaling.dual)
    return -0.5 * Y - scaling.offset


@operation
def classical_scaling(D2: NDArray[np.float32], k: int, seed: int, columns: NDArray | None = None) -> Scaling:
    """Coordinates in k dimensions from the squared distances ``D2`` (n, n), which stay as they are.

    With ``columns`` only these of a wider ``D2`` are used.

    Eigenvalues that are not positive give coordinates of 0. A second array of that size is allocated for small n only.

    >>> scaling = classical_scaling(np.array([[0, 4], [4, 0]], np.float32), 1, seed=0)
    >>> scaling.positions
    array([[ 1.],
           [-1.]])
    """
    return scale_classically(D2, k, seed, columns)


def scale_classically(D2: Any, k: int, seed: int, columns: NDArray | None) -> Scaling:
    """The same for distances of any backend."""
    n = len(D2)
    if columns is not None:
        D2 = take(D2.T, columns).T
    if direct(n, k):
        B = cast(D2, np.float64) * -0.5
        means = centre(B)
        return _scaled(eigh_top(B, k), means, D2)
    return scale_by_products(lambda V: multiply(D2, V), lambda ids: take(D2, ids), n, k, seed, D2)


def scale_by_products(product: Operator, rows: Operator, n: int, k: int, seed: int, like: Any) -> Scaling:
    """Coordinates from ``product(V) = D² V`` and the rows of D² of given numbers, on the backend of ``like``."""
    apply = CentredProduct(lambda V: product(V) * -0.5, float_dtype(like.dtype))
    width = block_sizes(n, k, costly=True)[0]
    some = np.sort(stream(seed, "sketch").choice(n, min(n, max(_SKETCH, 4 * width)), replace=False))
    start = leading_span(rows(some) * -0.5, width)
    pairs = eigh_top_operator(apply, n, k, seed=seed, tol=_RESIDUAL, start=start, costly=True, like=like)
    warn_unless_converged(pairs, "Ask for fewer components.")
    return _scaled(pairs, apply.means, like)


def _scaled(pairs: Eigenpairs, means: Means, like: Any) -> Scaling:
    """Coordinates from the eigenpairs of B and the means of −D²/2."""
    real = pairs.values > _NOTHING * max(float(pairs.values[0]), 0.0)
    roots = np.sqrt(np.where(real, pairs.values, 1.0))
    inverse = from_numpy(np.where(real, signs(pairs.vectors.T) / roots, 0.0), like)
    dual = (pairs.vectors - pairs.vectors.mean(0)) * inverse
    offset = to_numpy(from_numpy(means.rows, like) @ dual)
    return Scaling(np.where(real, pairs.values, 0.0), pairs.product * inverse, dual, offset, pairs.residual)


def bytes_to_scale(n: int, k: int, *, copy: bool) -> float:
    """Memory for :func:`classical_scaling` beside ``D2``; ``copy`` counts that array too."""
    own = 20.0 * n * n if direct(n, k) else 8.0 * n * (block_sizes(n, k, costly=True)[1] + 4 * k) + 8.0 * n * _SKETCH
    return own + (4.0 * n * n if copy else 0.0)
