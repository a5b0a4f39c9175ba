"""Stress majorisation: a map whose distances approximate given ones.

The stress ``σ = Σ_{i<j} w_ij (δ_ij − d_ij)²`` is lowered by Guttman's transform ``Y ← V⁺ B(Y) Y`` with
``V = diag(Σ_j w_ij) − W`` and ``(B(Y) Y)_i = Σ_j w_ij (δ_ij / d_ij)(y_i − y_j)``. It minimises a function that lies
above the stress and touches it at Y, so that no step raises it (de Leeuw 1977). Without weights ``V⁺`` divides by n.

Anchors add ``Σ v_i ‖y_i − α a_i‖²``, ``α`` the best for Y: the step solves ``(V + diag v) Y' = B(Y) Y + α diag(v) A``,
with pinned points as they are, and never raises the sum.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from scipy.spatial.distance import pdist, squareform

from lowdim import _native
from lowdim.solve.anchors import Anchors
from lowdim.solve.blocked_cholesky import factorise, solve_by
from lowdim.work import thread_limit
from lowdim.work.progress import note, stage

Doubles = NDArray[np.float64]
Singles = NDArray[np.float32]
_SPARE = 1e-9  # of the mean weight of a point
_KNOTS = 2000  # knots of the monotone function that replaces distances in the nonmetric kind


class Majorised(NamedTuple):
    """Map (n, k), its stress, the stress at the start and after each step, Σ w δ², and knots of disparities."""

    positions: Doubles
    stress: float
    trace: Doubles
    size: float
    knots: Doubles


class Ranks:
    """Disparities: the monotone function of the distances that is closest to those of a map, of fixed size.

    Tied distances may get different disparities (Kruskal's primary approach). ``D`` (n, n) is read here only.
    """

    def __init__(self, D: Singles, weights: Singles | None) -> None:
        self.given = squareform(D, checks=False).astype(np.float64)
        self.weights = None if weights is None else squareform(weights, checks=False).astype(np.float64)
        seen = np.arange(len(self.given)) if self.weights is None else np.flatnonzero(self.weights > 0)
        self.order = seen[np.argsort(self.given[seen], kind="stable")]
        ranked = self.given[self.order]
        self.tied = bool((ranked[1:] == ranked[:-1]).any())
        self.values = np.zeros(len(self.given))

    def write(self, Y: Doubles, out: Singles) -> None:
        """Fill ``out`` (n, n) with the disparities for the map ``Y``; their mean square is 1."""
        d = pdist(Y)
        if self.tied:
            self.order = self.order[np.lexsort((d[self.order], self.given[self.order]))]
        w = None if self.weights is None else self.weights[self.order]
        rising = np.asarray(isotonic_regression(d[self.order], weights=w).x)
        size = np.sqrt(np.average(np.square(rising), weights=w))
        self.values[self.order] = rising / size if size > 0 else 1.0
        out[...] = squareform(self.values)

    def knots(self) -> Doubles:
        """Distances and their disparities (2, at most 2,000), both ascending, for interpolation."""
        some = self.order[np.unique(np.linspace(0, len(self.order) - 1, _KNOTS).astype(np.int64))]
        at, first = np.unique(self.given[some], return_index=True)
        return np.vstack([at, np.maximum.accumulate(self.values[some][first])])


def majorise(
    D: Singles,
    Y: Doubles,
    *,
    weights: Singles | None,
    max_iter: int,
    tol: float,
    ranks: Ranks | None = None,
    anchors: Anchors | None = None,
) -> Majorised:
    """Lower the stress of the map ``Y`` (n, k) to the distances ``D`` (n, n), symmetric and 0 on the diagonal.

    It stops once a step lowers the stress by less than ``tol`` of it. With ``ranks`` the distances are replaced by
    disparities before each step, in place. ``anchors`` are added to the stress, in the trace, too; pinned points must
    start at theirs.

    >>> D = np.array([[0, 3, 4], [3, 0, 5], [4, 5, 0]], np.float32)
    >>> found = majorise(D, np.array([[0.0, 0.0], [1.0, 0.2], [0.1, 1.0]]), weights=None, max_iter=100, tol=1e-12)
    >>> bool(found.stress < 1e-8)
    True
    """
    held = None if anchors is None else _Held(anchors, weights, len(D))
    free = _pseudo_inverse(weights, len(D)) if held is None else None
    trace: list[float] = []
    best, found, size = Y, 0.0, 0.0
    with stage("stress", total=max_iter) as tick:
        for step in range(max_iter + 1):
            Y = Y - Y.mean(axis=0) if held is None else Y
            if ranks is not None:
                ranks.write(Y, D)
            if ranks is not None or not step:
                size = size_of(D, weights)
            moved, sums = _guttman(D, weights, Y, Y)
            stress = own = float(sums[:, 0].sum()) / 2
            if held is not None:
                stress += held.cost(Y)
            if trace and not stress <= trace[-1]:  # rounding: the last map was the best
                break
            small = bool(trace) and trace[-1] - stress <= tol * trace[-1]
            trace.append(stress)
            best, found = Y, own
            tick(step)
            note(f"stress {np.sqrt(stress / size) if size else 0.0:.4f}")
            if small or step == max_iter or stress <= 1e-14 * size:
                break
            Y = held.step(moved, Y) if held is not None else free(moved) if free is not None else Y
    knots = np.empty((2, 0)) if ranks is None else ranks.knots()
    return Majorised(best, found, np.array(trace), size, knots)


def place(
    D: Singles, positions: Doubles, starts: Doubles, *, weights: Singles | None, max_iter: int, tol: float
) -> tuple[Doubles, Doubles]:
    """Places (m, k) of new points with distances ``D`` (m, n) to a fixed map (n, k), and the stress of each (m,).

    Each minimises its own stress ``Σ_j w_j (δ_j − ‖y − y_j‖)²``, independently of the others.
    """
    total = np.full(len(D), float(D.shape[1])) if weights is None else weights.sum(axis=1, dtype=np.float64)
    total = np.where(total > 0, total, 1.0)[:, None]
    base = np.broadcast_to(positions.mean(axis=0), starts.shape) if weights is None else (weights @ positions) / total
    best, stress, Y = starts.copy(), np.full(len(D), np.inf), starts.copy()
    active = np.arange(len(D))
    for _ in range(max_iter + 1):
        some = None if weights is None else weights[active]
        moved, sums = _guttman(D[active], some, Y[active], positions)
        lower = sums[:, 0] < stress[active]
        going = lower & (stress[active] - sums[:, 0] > tol * stress[active])
        going |= np.isinf(stress[active])
        better = active[lower]
        best[better], stress[better] = Y[better], sums[lower, 0]
        Y[active] = base[active] + moved / total[active]
        active = active[going]
        if not len(active):
            break
    return best, stress


def _guttman(D: Singles, weights: Singles | None, points: Doubles, positions: Doubles) -> tuple[Doubles, Doubles]:
    P, Y = (np.ascontiguousarray(A, dtype=np.float32) for A in (points, positions.T))
    return _native.guttman(D, weights, P, Y, n_threads=thread_limit.current())


class _Held:
    """Anchors of a map, and the step that they and the stress lead to."""

    def __init__(self, anchors: Anchors, weights: Singles | None, n: int) -> None:
        self.A, self.scaled, self.W = anchors.places.astype(np.float64), anchors.scaled, weights
        self.free = np.flatnonzero(np.isfinite(anchors.weights))
        self.v = anchors.weights[self.free].astype(np.float64)[:, None]
        self.pinned = np.flatnonzero(~np.isfinite(anchors.weights))
        self.spare = 0.0
        if weights is None:
            self.scale = 1 / (n + self.v)  # of V + diag(v) = diag(n + v) − 11ᵀ, inverted by one more number
            self.rest = 1 - float(self.scale.sum())
        else:
            V = -weights[np.ix_(self.free, self.free)].astype(np.float64)
            np.fill_diagonal(V, 0.0)
            total = weights[self.free].sum(axis=1, dtype=np.float64) - weights[self.free, self.free]
            self.spare = _SPARE * (float(total.mean()) if len(total) else 0.0)  # a part without anchors stays near
            np.fill_diagonal(V, total + self.v[:, 0] + self.spare)
            if len(V):
                factorise(V)
            self.V = V

    def at(self, Y: Doubles) -> Doubles:
        """The anchors of free points at the scale that fits the map."""
        A = self.A[self.free]
        own = float((self.v * A * A).sum())
        return A * (float((self.v * A * Y[self.free]).sum()) / own) if self.scaled and own > 0 else A

    def cost(self, Y: Doubles) -> float:
        return float((self.v * np.square(Y[self.free] - self.at(Y))).sum())

    def step(self, moved: Doubles, Y: Doubles) -> Doubles:
        """The map after a step, from ``B(Y) Y``."""
        right = moved[self.free] + self.v * self.at(Y)
        out = Y.copy()
        if not len(self.free):
            return out
        if self.W is None:
            right += self.A[self.pinned].sum(axis=0)
            out[self.free] = self.scale * (right + (self.scale * right).sum(axis=0) / self.rest)
        else:
            right += self.W[np.ix_(self.free, self.pinned)] @ self.A[self.pinned] + self.spare * Y[self.free]
            out[self.free] = solve_by(self.V, right)
        return out


def size_of(D: Singles, weights: Singles | None) -> float:
    """``Σ_{i<j} w δ²``, block by block."""
    step, total = 1024, 0.0
    for start in range(0, len(D), step):
        block = np.square(D[start : start + step], dtype=np.float64)
        total += float((block if weights is None else block * weights[start : start + step]).sum())
    return total / 2


def _pseudo_inverse(weights: Singles | None, n: int) -> Callable[[Doubles], Doubles]:
    """Product with ``V⁺`` on centred maps."""
    if weights is None:
        return lambda moved: moved / n
    V = -weights.astype(np.float64)
    np.fill_diagonal(V, 0.0)
    np.fill_diagonal(V, -V.sum(axis=1))
    V += V.diagonal().mean() / n  # regular: its null vector is the constant
    factorise(V)
    return lambda moved: solve_by(V, moved - moved.mean(axis=0))
