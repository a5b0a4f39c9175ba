"""Low rank plus sparse: principal component pursuit (Candès, Li, Ma and Wright 2011) by augmented Lagrangians."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.solve.leading_eigenpairs import eigh_top, eigh_top_operator
from lowdim.work.backend_arrays import from_numpy, to_numpy
from lowdim.work.products import multiply
from lowdim.work.progress import note, stage
from lowdim.work.rows import cast, totals

_FIRST, _FASTER, _MOST = (
    1.25,
    1.2,
    1e7,
)  # penalty: first and largest in units of 1/‖M‖, and its growth (Lin et al. 2010)
_DIRECT = 2000  # side up to which all eigenvalues are computed
_MORE = 10  # singular values computed beyond those expected
_SPLIT_STEPS, _SPLIT_GROWTH = 120, 1.08  # of the rows' own problem


class Pursuit(NamedTuple):
    """Singular values (r,) and right vectors (r, d) of the low-rank part, and how it was found.

    ``share`` is that of entries that are not 0 in the sparse part, ``residual`` ``‖M − L − S‖ / ‖M‖``.
    """

    values: NDArray[np.float64]
    vectors: NDArray[np.float64]
    share: float
    steps: int
    residual: float


def shrunk(A: Any, by: Any) -> Any:
    """Entries moved towards 0 by this much, not beyond: ``sign(a) max(|a| − by, 0)``.

    >>> shrunk(np.array([3.0, -0.5]), 1.0)
    array([2., 0.])
    """
    return A - A.clip(-by, by)


def _square(A: Any) -> float:
    return float(np.sum(totals(A * A, 0)))


def _singular(A: Any, least: float, expected: int, start: Any) -> tuple[NDArray[np.float64], Any]:
    """Singular values of A (n, d) above ``least``, and their vectors on its shorter side."""
    wide = A.shape[1] > A.shape[0]
    short, long = (A, A.T) if wide else (A.T, A)
    side = short.shape[0]
    if side <= _DIRECT:
        pairs = eigh_top(to_numpy(multiply(short, long)).copy(), side)
        values, vectors = np.sqrt(np.maximum(pairs.values, 0.0)), from_numpy(np.ascontiguousarray(pairs.vectors), A)
    else:
        like = None if isinstance(A, np.ndarray) else A
        while True:
            count = min(side, expected + _MORE)
            found = eigh_top_operator(
                lambda V: multiply(short, multiply(long, V)), side, count, seed=0, tol=1e-10, start=start, like=like
            )
            values, vectors = np.sqrt(np.maximum(found.values, 0.0)), found.vectors
            if count == side or values[-1] <= least:
                break
            expected, start = 2 * count, vectors
    rank = int(np.count_nonzero(values > least))
    return values[:rank], vectors[:, :rank]


def _low_rank(A: Any, by: float, expected: int, start: Any) -> tuple[Any, NDArray[np.float64], Any]:
    """``A`` with singular values lowered by ``by``, those values, and their vectors on the shorter side."""
    values, vectors = _singular(A, by, expected, start)
    factor = from_numpy(1 - by / np.maximum(values, 1e-300), A)
    if A.shape[1] > A.shape[0]:
        L = multiply(vectors * factor, multiply(vectors.T, A))
    else:
        L = multiply(multiply(A, vectors), (vectors * factor).T)
    return L, values - by, vectors


def pursue(M: Any, weight: float, max_iter: int, tol: float) -> Pursuit:
    """The L and S with ``M = L + S`` for which ``‖L‖_* + weight ‖S‖_1`` is smallest.

    It ends when ``‖M − L − S‖ ≤ tol ‖M‖``.
    """
    size, largest = _square(M) ** 0.5, float(abs(M).max())
    first = float(_singular(M, 0.0, 1, None)[0][:1].sum())
    Y = M / max(first, largest / weight)
    penalty, most, rank = _FIRST / first, _MOST / first, 1
    vectors: Any = None
    S, steps, residual = M * 0, 0, np.inf
    with stage("low rank and sparse", total=max_iter) as tick:
        while steps < max_iter and residual > tol:
            A = M + Y / penalty
            L, values, vectors = _low_rank(A - S, 1 / penalty, rank, vectors)
            A -= L
            S = shrunk(A, weight / penalty)
            Y = (A - S) * penalty  # Y + μ (M − L − S)
            residual = _square(M - L - S) ** 0.5 / size
            rank, steps = max(1, len(values)), steps + 1
            penalty = min(_FASTER * penalty, most)
            tick(steps)
            note(f"rank {len(values)}, residual {residual:.1e}")
    right = to_numpy(vectors.T if M.shape[1] <= M.shape[0] else multiply(vectors.T, L) / from_numpy(values, L)[:, None])
    share = float(np.sum(totals(cast(S != 0, "float64"), 0))) / (M.shape[0] * M.shape[1])
    return Pursuit(values, np.asarray(right, np.float64), share, steps, residual)


def split_scores(X: Any, U: Any) -> Any:
    """Scores Y (m, k) for which ``‖x − y U‖_1`` is smallest, for each row on its own and orthonormal rows of ``U``."""
    scale = from_numpy(np.maximum(to_numpy(totals(abs(X), 1)) / X.shape[1], 1e-300), X)[:, None]
    Y, turned = multiply(X, U.T), X * 0
    penalty = 1.0
    for _ in range(_SPLIT_STEPS):
        S = shrunk(X - multiply(Y, U) + turned, scale / penalty)
        Y = multiply(X - S + turned, U.T)
        turned = (turned + X - multiply(Y, U) - S) / _SPLIT_GROWTH
        penalty *= _SPLIT_GROWTH
    return Y
