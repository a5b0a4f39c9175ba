"""An approximate neighbour search for many rows: a forest and neighbours of neighbours, natively, on rows of bytes.

Rows are read in the type they came in, block by block: no copy of them as floats is made. How far to search is decided
by the neighbours that a sample of rows has found (``cpp/include/lowdim/near_graph.hpp``).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.relate.row_norms import no_direction, squared_norms
from lowdim.work import memory, thread_limit
from lowdim.work.blockwise import float_dtype, row_blocks
from lowdim.work.products import multiply
from lowdim.work.value_limits import SQUARES

_KINDS = ("float16", "float32", "float64", "uint8")  # types of rows that the search reads
_TREES, _ROUNDS = 32, 3  # at the most
_LEAF = 256  # rows of a leaf that meet each other, at the least
_BY_TREES, _TARGET = 0.92, 0.97  # share of the neighbours to find by trees, and in all
_SPARE = 8  # candidates beyond k that are ranked exactly
_WAYS = 24  # neighbours by way of which others are met
_LINE = 64  # bytes, in multiples of which rows are held
# Seconds on one core, of pairs in the exact search and of rows in this one. They only compare the two.
_PAIR, _FEW, _PAIR_FEW, _PAIR_COLUMN = 1.5e-10, 32, 1e-11, 8e-13
_ROW, _ROW_COLUMN, _ROW_NEIGHBORS = 14e-6, 8e-9, 50.0
_GAIN = 1.5  # by which this search must be the faster one


@dataclass(frozen=True)
class Rows:
    """Rows as the search reads them: ``(values − means) / norms``, the last two by row, None where there are none."""

    values: NDArray[Any]
    means: NDArray[np.float64] | None
    norms: NDArray[np.float64] | None

    def parts(self) -> tuple[Any, ...]:
        """In the form that the kernels take."""
        return self.values, self.means, self.norms

    def take(self, ids: NDArray) -> "Rows":
        """The rows of these numbers."""
        means, norms = (None if A is None else A[ids] for A in (self.means, self.norms))
        return Rows(np.ascontiguousarray(self.values[ids]), means, norms)

    def blocks(self) -> Iterator[tuple[slice, NDArray[np.floating]]]:
        """Blocks of rows that are compared, as floats."""
        for rows, block in row_blocks(self.values, float_dtype(self.values.dtype)):
            if self.means is not None:
                block = block - self.means[rows, None].astype(block.dtype)
            yield rows, block if self.norms is None else block / self.norms[rows, None].astype(block.dtype)


def is_faster(n: int, m: int, d: int, k: int, *, itself: bool) -> bool:
    """Whether this search should be clearly faster than the exact one, by the sizes alone.

    >>> is_faster(1_000_000, 1_000_000, 768, 15, itself=True), is_faster(10_000, 10_000, 768, 15, itself=True)
    (True, False)
    """
    pair = _PAIR_FEW if d <= _FEW else _PAIR * min(1.0, d / 100) + _PAIR_COLUMN * d
    exact = pair * float(n) * m
    rows = float(n if itself else n + m)
    return exact > _GAIN * rows * (_ROW + _ROW_COLUMN * d) * (1 + k / _ROW_NEIGHBORS)


def readable(X: Any) -> NDArray[Any]:
    """Rows in C order, in their own type where the search reads it and as floats otherwise."""
    X = X.view(np.uint8) if X.dtype == bool else X
    return np.ascontiguousarray(X, X.dtype.name if X.dtype.name in _KINDS else float_dtype(X.dtype))


def prepared(X: Any, queries: Any, metric: str) -> tuple[Rows, Rows | None]:
    """Rows and queries whose Euclidean distances, or half of their squares, are those of the metric."""
    X = readable(X)
    Q = None if queries is None else readable(queries)
    if Q is not None and (Q.dtype == np.float64) != (X.dtype == np.float64):
        Q = Q.astype(float_dtype(X.dtype))
    if metric in ("cosine", "correlation"):
        return _by_direction(X, metric), None if Q is None else _by_direction(Q, metric)
    for A in (X, Q):
        if A is not None and A.dtype.name in ("float32", "float64"):
            SQUARES.demand("Neighbours", max(float(np.abs(block).max()) for _, block in row_blocks(A, A.dtype)))
    return Rows(X, None, None), None if Q is None else Rows(Q, None, None)


def _by_direction(X: NDArray, metric: str) -> Rows:
    means = np.zeros(len(X)) if metric == "correlation" else None
    norms = np.empty(len(X))
    for rows, block in row_blocks(X, float_dtype(X.dtype)):
        if means is not None:
            flat = np.flatnonzero((block[:, :1] == block).all(axis=1))
            if len(flat):
                raise constant_row(rows.start + int(flat[0]))
            means[rows] = block.mean(axis=1, dtype=np.float64)
            block = (block - means[rows, None]).astype(block.dtype)
        norms[rows] = np.sqrt(squared_norms(block, np.float64))
    if metric == "cosine" and not norms.all():
        raise no_direction("Neighbours", int(np.argmin(norms)))
    return Rows(X, means, norms)


def constant_row(row: int) -> ValueError:
    """Error for a row whose values are all equal, which correlates with nothing."""
    return ValueError(
        f"Neighbours: every row must vary for metric='correlation'; row {row} is constant. Drop such rows, or "
        "use metric='euclidean'."
    )


def nearest(
    X: Rows, Q: Rows | None, k: int, seed: int, tick: Any
) -> tuple[NDArray[np.int32], NDArray[np.float32], float]:
    """Indices and distances (m, k) of neighbours, and the share of the true ones among them on a sample."""
    (n, d), asking = X.values.shape, X if Q is None else Q
    keep, every = k + _SPARE, n + (0 if Q is None else len(Q.values))
    held = (d + 12 + _LINE - 1) // _LINE * _LINE
    memory.require(
        float(every) * (held + 16 * keep + 4 * min(k, _WAYS) + 40) + 24.0 * len(asking.values) * k,
        f"The approximate search among {n:,} rows",
        "Use fewer neighbours or rows.",
    )
    indices, distances, chosen, farthest = _native.near_graph(
        X.parts(),
        None if Q is None else Q.parts(),
        k=k,
        trees=_TREES,
        leaf=max(_LEAF, 2 * k),
        rounds=_ROUNDS,
        keep=keep,
        by_trees=_BY_TREES,
        target=_TARGET,
        seed=seed % 2**64,
        n_threads=thread_limit.current(),
        tick=tick,
    )
    unsure = np.isnan(farthest)
    if unsure.any():
        farthest[unsure] = _farthest(X, asking, chosen[unsure], k, itself=Q is None)
    # By distances: of equally far rows any will do.
    return indices, distances, float((distances[chosen] <= farthest[:, None]).mean())


def _farthest(X: Rows, asking: Rows, ids: NDArray[np.int32], k: int, *, itself: bool) -> NDArray[np.float32]:
    """Distances (m,) of the last of the true neighbours of some of the rows that ask."""
    found, distances = _exact(X, asking.take(ids), k + itself)
    if not itself:
        return distances[:, -1]
    mine = (found == ids[:, None]).argmax(axis=1)  # the last where a row is among more equal ones than k
    mine[(found != ids[:, None]).all(axis=1)] = k
    return distances[np.arange(k + 1) != mine[:, None]].reshape(-1, k)[:, -1]


def _exact(X: Rows, Q: Rows, k: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Nearest rows of a few queries: candidates by products in float32, ranked by their distances."""
    wide = min(len(X.values), k + _SPARE)
    asked = np.concatenate([block.copy() for _, block in Q.blocks()])
    origin = asked.mean(axis=0, dtype=np.float64)  # products of rows about a common point lose less
    scale = 1 / max(1.0, float(np.abs(asked).max()))
    asked = np.ascontiguousarray((scale * (asked - origin)).T, np.float32)
    best, which = np.empty((len(Q.values), 0), np.float32), np.empty((len(Q.values), 0), np.int32)
    for rows, block in X.blocks():
        block = np.ascontiguousarray(scale * (block - origin), np.float32)
        scores = (squared_norms(block)[:, None] / 2 - multiply(block, asked)).T
        some = min(wide, len(block))
        near, keys = _native.smallest(np.ascontiguousarray(scores), some, n_threads=thread_limit.current())
        best, which = np.hstack([best, keys]), np.hstack([which, near + np.int32(rows.start)])
        if best.shape[1] > wide:
            kept = np.argpartition(best, wide - 1, axis=1)[:, :wide]
            best, which = np.take_along_axis(best, kept, axis=1), np.take_along_axis(which, kept, axis=1)
    return _native.rank_candidates(
        X.parts(), Q.parts(), np.ascontiguousarray(which), k=k, n_threads=thread_limit.current()
    )
