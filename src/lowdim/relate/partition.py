"""Rows prepared for the native neighbour search: rotated, scaled and sorted into groups.

What makes an exact search fast (it changes the time, never the result):

- rows along their principal axes, so that the distance over the first coordinates, a lower bound, is nearly all of it;
- groups about the centres of k-means, so that far groups are skipped and near ones searched first.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.relate.moments import moments
from lowdim.relate.row_norms import squared_norms
from lowdim.work import memory, thread_limit
from lowdim.work.blockwise import row_blocks
from lowdim.work.products import centres as centres_of
from lowdim.work.products import group, inner, multiply
from lowdim.work.random import stream
from lowdim.work.value_limits import SQUARES

Singles = NDArray[np.float32]

# The rule behind the groups, which searches without Python share.
_PLAIN = _native.GROUPS_PLAIN  # multiplications below which there is nothing to gain
_WIDEST = 512  # columns up to which all axes are computed
_AT_LEAST = _native.GROUPS_LEAST  # coordinates per stage
AXES = _native.GROUPS_AXES  # coordinates that k-means uses
_EACH = _native.GROUPS_EACH  # rows per centre in the sample of k-means
_SAMPLE = 20_000  # rows that give the axes
_LEADING, _FEWER, _STEPS = 256, 4096, 3  # of wider rows: axes, rows that give them, and steps that find them


@dataclass(frozen=True)
class GroupedRows:
    """Rows as the search reads them: rotated and scaled, original, and their order by groups."""

    values: Singles
    exact: NDArray
    order: NDArray[np.int32]
    starts: NDArray[np.int64]

    def parts(self) -> tuple[Any, ...]:
        """In the form that the kernels take."""
        return self.values, self.exact, self.order, self.starts


@dataclass(frozen=True)
class Parts:
    """Points, queries (None: the points) and the groups both are sorted into."""

    points: GroupedRows
    queries: GroupedRows | None
    centres: Singles
    stages: NDArray[np.int64]
    scale: float

    @property
    def groups(self) -> int:
        """Number of groups."""
        return len(self.centres)

    def _given(self) -> dict[str, Any]:
        return {"queries": None if self.queries is None else self.queries.parts(), "n_threads": thread_limit.current()}

    def nearest(self, k: int, tick: Any) -> tuple[NDArray[np.int32], Singles]:
        """Indices and distances (m, k)."""
        return _native.nearest(self.points.parts(), self.centres, self.stages, k=k, tick=tick, **self._given())

    def within(
        self, radius: float, most: int, tick: Any
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], Singles] | None:
        """Counts (m), indices and distances of the points within ``radius``; None if they are more than ``most``."""
        given = self._given() | {"radius": radius, "scale": self.scale, "most": most, "tick": tick}
        return _native.within(self.points.parts(), self.centres, self.stages, **given)


def of(X: NDArray, Q: NDArray | None, seed: int) -> Parts:
    """Parts of the dense rows ``X`` and queries ``Q`` (None: the rows themselves)."""
    (n, d), m = X.shape, len(X if Q is None else Q)
    needed = 8.0 * (n + (0 if Q is None else m)) * d + (16.0 * min(n, 2 * _FEWER) * d if d > _WIDEST else 0.0)
    memory.require(needed, f"The search among {n:,} rows", "Reduce the columns by PCA first.")
    mean = X[:: max(1, n // _SAMPLE)].mean(axis=0, dtype=np.float64).astype(X.dtype)
    most = float(np.max([_largest(A, mean) for A in (X, Q) if A is not None]))
    SQUARES.demand("Neighbours", most)
    scale = 2.0 ** -np.ceil(np.log2(most * np.sqrt(d))) if most > 0 else 1.0
    plain = float(n) * m * d < _PLAIN
    axes, stages = (None, np.array([d])) if plain or d < 2 * _AT_LEAST else _axes(X, mean)
    values = [None if A is None else _turned(A, mean, scale, axes) for A in (X, Q)]
    Z = values[0]
    assert Z is not None
    centres = np.zeros((1, d), np.float32)
    if not plain:
        # In the first axes alone: centres are zero in the others, so the nearest centre is the same over all axes.
        found = _centres(Z[:, :AXES], seed)
        centres = np.zeros((len(found), d), np.float32)
        centres[:, :AXES] = found
    points = _grouped(Z, X, centres)
    queries = None if Q is None or values[1] is None else _grouped(values[1], Q, centres)
    return Parts(points, queries, centres, stages.astype(np.int64), float(scale))


def _largest(X: NDArray, mean: NDArray) -> float:
    with np.errstate(over="ignore", invalid="ignore"):  # the caller refuses the result
        return float(np.max([np.abs(block).max() for _, block in row_blocks(X, X.dtype, less=mean)]))


def _turned(X: NDArray, mean: NDArray, scale: float, axes: Any) -> Singles:
    """``scale (X − mean)`` in float32, along the axes where there are any."""
    Z = np.empty(X.shape, np.float32)
    for rows, block in row_blocks(X, X.dtype, less=mean):
        block = np.ldexp(block, int(np.log2(scale)))  # a product would overflow in float32 for subnormal values
        Z[rows] = block if axes is None else axes(block)
    return Z


def _axes(X: NDArray, mean: NDArray) -> tuple[Any, NDArray]:
    """How blocks turn to principal axes of some rows, by descending variance, and the coordinates where stages end."""
    if X.shape[1] > _WIDEST:
        return _leading_axes(X, mean)
    with thread_limit.alone():
        values, vectors = np.linalg.eigh(moments(X[:: max(1, len(X) // _SAMPLE)]).scatter)
    d, largest = len(values), float(values[-1])
    if not 0 < largest < np.inf:
        return None, np.array([d])
    axes = np.ascontiguousarray(vectors[:, ::-1], X.dtype)
    return lambda block: multiply(block, axes), _native.stages(np.ascontiguousarray(values[::-1]))


def _leading_axes(X: NDArray, mean: NDArray) -> tuple[Any, NDArray]:
    """The same for wide rows: the leading axes, and any orthonormal directions across these.

    All axes would take ``d³`` operations and turning rows to them ``d²`` each. Reflections take the first unit vectors
    to the leading axes, and rows turn by ``x − ((x W) T) Wᵀ``.
    """
    S = X[:: max(1, len(X) // _FEWER)] - mean
    largest, (s, d) = float(np.abs(S).max()), S.shape
    r = min(_LEADING, s // 2, d // 2)
    if not 0 < largest < np.inf or r < _AT_LEAST:
        return None, np.array([d])
    S = S.astype(np.float32) / np.float32(largest) if largest > 1e-30 else S / largest
    V = stream(0, "axes").standard_normal((d, r)).astype(S.dtype)
    with thread_limit.alone():
        for _ in range(_STEPS):
            V = np.linalg.qr(inner(S, multiply(S, V)))[0]
        values, turn = np.linalg.eigh(inner(*(2 * [multiply(S, V)])).astype(np.float64))
        reflected, sizes = np.linalg.qr(V.astype(np.float64) @ turn[:, ::-1], mode="raw")
        W = np.tril(reflected.T, -1)
        np.fill_diagonal(W, 1.0)
        W[:, sizes == 0] = 0.0  # nothing to reflect
        sizes[sizes == 0] = 1.0
        T = np.linalg.inv(np.triu(W.T @ W, 1) + np.diag(1 / sizes))
        left, right = (np.ascontiguousarray(A, X.dtype) for A in (W @ T, W.T))
    rest = max(0.0, float(squared_norms(S, np.float64).sum()) - float(values.sum())) / (d - r)
    variances = np.concatenate([np.maximum(values[::-1], 0.0), np.full(d - r, rest)])
    return lambda block: block - multiply(multiply(block, left), right), _native.stages(variances)


def _centres(Z: Singles, seed: int) -> Singles:
    """Centres (c, d) of some steps of k-means on a sample; the same for any number of threads."""
    count = _native.groups(len(Z))
    return centres_of(Z[stream(seed, "centres").permutation(len(Z))[: _EACH * count]], count)


def _grouped(Z: Singles, exact: NDArray, centres: Singles) -> GroupedRows:
    return GroupedRows(Z, exact, *group(Z, centres))
