"""Distributed rows and their distances: sampled rows are sent to all blocks, whose results are combined."""

from dataclasses import replace
from functools import cached_property, partial
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.backends import DASK
from lowdim.backends.dask import validation
from lowdim.backends.dask.graphs import counted, fold, with_lengths
from lowdim.backends.dask.partitioned import Spread, Where
from lowdim.backends.dask.sampling import rows_at
from lowdim.compose import metric_space
from lowdim.relate import neighbors
from lowdim.relate.row_norms import unit_rows
from lowdim.work import memory, thread_limit
from lowdim.work.blockwise import float_dtype

_STRIP_BYTES = 2**26  # of distances at a time
_SOME = 1000  # default number of rows sampled


@DASK.implements(metric_space.both)
def both(who: str, X: Any, Y: Any, metric: str) -> tuple["SpreadSpace", "SpreadSpace"]:
    """The two spaces, with the same number of rows; unknown lengths of blocks are counted, in a pass."""
    if metric == "precomputed":
        raise ValueError(
            f"{who}: metric='precomputed' does not accept Dask collections. Pass the rows, and a metric of them."
        )
    rows = [with_lengths(validation.rows(A, who, called=called, minimum=3)) for A, called in ((X, "X"), (Y, "Y"))]
    if rows[0].shape[0] != rows[1].shape[0]:
        raise ValueError(
            f"{who}: Y must have one row for each of the {rows[0].shape[0]:,} rows of X; got {rows[1].shape[0]:,}. "
            "Pass the same samples in the same order."
        )
    return SpreadSpace(who, rows[0], metric), SpreadSpace(who, rows[1])


class SpreadSpace:
    """The methods of ``compose.metric_space.Space`` that measures use, for rows in blocks: one pass over them each."""

    def __init__(self, who: str, X: Spread, metric: str = "euclidean") -> None:
        self.name, self.metric, self.n = who, metric, int(X.shape[0])
        self.dtype = float_dtype(X.dtype)
        self.X = replace(X, opened=partial(_opened, opened=X.opened, metric=metric, dtype=self.dtype))
        self.products = False
        self.affordable = min(self.n, _SOME)

    def nearest(self, k: int, sample: Any) -> NDArray[np.int64]:
        """The ``k`` nearest other rows (m, k) of each row of the sample, by (distance, index)."""
        ids = sample.where
        state = 16.0 * len(ids) * k
        found = fold(self.X, _nearest, _nearer, self._at(ids), ids, k, self._direct, state=state, stage="neighbours")
        return found.indices

    def ranks(self, sample: Any, targets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rank (m, k), from 1, of each of the ``targets`` (m, k) among all other rows by (distance, index)."""
        asked = _Asked(self._at(sample.where), sample.where, targets, self._between(sample, targets))
        return 1 + fold(self.X, _closer, add, asked, self._direct, state=8.0 * targets.size, stage="ranks")

    def apart(self, sample: Any, others: NDArray[np.int64]) -> NDArray[np.float64]:
        """Distances (m, k) between each row of the sample and its own ``others`` (m, k)."""
        D = self._between(sample, others)
        return np.square(D) / 2 if self.metric == "cosine" else D

    def strips(self, sample: Any, name: str) -> Any:  # noqa: ARG002  # Space's
        """Refuse measures that need all distances of a row at once."""
        raise TypeError(
            f"{self.name}: all distances of each row are needed at once, which Dask collections do not support. Use "
            "trustworthiness, continuity, neighborhood_recall or lcmc, or measure lowdim.data.sample(X, n, seed) and "
            "the same rows of Y."
        )

    def _between(self, sample: Any, others: NDArray[np.int64]) -> NDArray[np.float64]:
        """Distances in the metric of the opened rows."""
        Q = self._at(sample.where).astype(np.float64)
        ids, at = np.unique(others, return_inverse=True)
        T, at = self._at(ids), at.reshape(others.shape)
        D = np.empty(others.shape)
        for j in range(others.shape[1]):
            gap = Q - T[at[:, j]]
            D[:, j] = np.abs(gap).sum(axis=1) if self.metric == "manhattan" else np.sqrt(np.square(gap).sum(axis=1))
        return D

    @property
    def _direct(self) -> str:
        """Metric of the opened rows, which have length 1 for the cosine."""
        return "euclidean" if self.metric == "cosine" else self.metric

    @cached_property
    def _lengths(self) -> tuple[int, ...]:
        return self.X.lengths or counted(self.X.X, self.name)

    def _at(self, ids: NDArray[np.intp]) -> NDArray:
        """Rows with these numbers, in the memory of this process."""
        memory.require(
            2.0 * self.dtype.itemsize * len(ids) * self.X.width,
            f"{self.name}: {len(ids):,} rows of {self.X.width:,} columns",
            "Pass a smaller sample.",
        )
        order, back = np.unique(ids, return_inverse=True)
        rows = rows_at(self.X.X, order, self._lengths)
        return np.asarray(self.X.opened(rows, Where(-1, None)).rows[back])


class _Block(NamedTuple):
    """Rows of a block and the number of the first."""

    rows: NDArray
    start: int
    shape: tuple[int, ...]


class _Near(NamedTuple):
    """Nearest rows (m, k) so far, by (distance, index), and their distances."""

    indices: NDArray[np.int64]
    distances: NDArray[np.float64]


class _Asked(NamedTuple):
    """Sampled rows, their numbers, and the rows to rank with their distances."""

    rows: NDArray
    ids: NDArray[np.intp]
    targets: NDArray[np.int64]
    distances: NDArray[np.float64]


def _opened(block: Any, where: Where, *, opened: Any, metric: str, dtype: np.dtype) -> _Block:
    rows = np.ascontiguousarray(opened(block, where), dtype)
    if metric == "cosine":
        rows = unit_rows(rows)
    return _Block(rows, where.start or 0, rows.shape)


def _nearest(block: _Block, Q: NDArray, ids: NDArray[np.intp], k: int, metric: str) -> _Near:
    found = neighbors.nearest(block.rows, min(k + 1, len(block.rows)), queries=Q, metric=metric, how="exact")
    indices = found.indices.astype(np.int64) + block.start
    distances = np.where(indices == ids[:, None], np.inf, found.distances.astype(np.float64))
    return _first(indices, distances, k)


def _nearer(a: _Near, b: _Near) -> _Near:
    k = max(a.indices.shape[1], b.indices.shape[1])
    return _first(np.hstack([a.indices, b.indices]), np.hstack([a.distances, b.distances]), k)


def _first(indices: NDArray[np.int64], distances: NDArray[np.float64], k: int) -> _Near:
    order = np.lexsort((indices, distances), axis=1)[:, :k]
    return _Near(np.take_along_axis(indices, order, 1), np.take_along_axis(distances, order, 1))


def _closer(block: _Block, asked: _Asked, metric: str) -> NDArray[np.int64]:
    """Number of rows of a block that rank before each target (m, k)."""
    X, m, n = block.rows, len(asked.ids), len(block.rows)
    out = np.empty(asked.targets.shape, np.int64)
    step = max(1, _STRIP_BYTES // (8 * n))
    numbers = block.start + np.arange(n)
    for start in range(0, m, step):
        part = slice(start, min(m, start + step))
        D = np.empty((part.stop - part.start, n))
        if metric == "manhattan":
            _native.manhattan(
                asked.rows[part].astype(np.float64), X.astype(np.float64), D, n_threads=thread_limit.current()
            )
        else:
            _native.euclidean(asked.rows[part], X, D, root=True, n_threads=thread_limit.current())
        for i in range(part.start, part.stop):
            d, targets, lengths = D[i - start], asked.targets[i], asked.distances[i]
            d[numbers == asked.ids[i]] = np.inf
            ordered = np.sort(d)
            first, last = (np.searchsorted(ordered, lengths, side) for side in ("left", "right"))
            here = (targets >= block.start) & (targets < block.start + n)
            own = np.where(here, d[np.clip(targets - block.start, 0, n - 1)], np.inf)
            out[i] = first - (own < lengths)  # a target is not before itself, even after rounding
            for j in np.flatnonzero(last > first):  # ties in distance: by number
                out[i, j] += np.count_nonzero((d == lengths[j]) & (numbers < targets[j]))
    return out
