"""Rows and their distances: neighbours, ranks and distances in one space, in blocks of rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data import validation
from lowdim.relate import neighbors
from lowdim.relate.row_norms import squared_norms, unit_rows
from lowdim.work import memory, thread_limit
from lowdim.work.backend_arrays import to_numpy
from lowdim.work.blockwise import float_dtype, row_blocks
from lowdim.work.dispatch import backend_of, operation, require_one_device
from lowdim.work.progress import stage
from lowdim.work.rows import searchable, take
from lowdim.work.value_limits import SQUARES

_STRIP_BYTES = 2**26  # of distances at a time
_ROUNDING = 1e-14  # of a squared distance from products
_WHOLE_WORK = 5e12  # products up to which all rows are used: 70,000 rows of 784 features
_WHOLE_STRIPS = 5e10  # the same where distances are computed in blocks
_SOME = 5000  # rows sampled beyond that


@dataclass(frozen=True)
class SampledRows:
    """Rows that a measure uses: all of them, or some drawn without replacement."""

    n: int
    rows: NDArray[np.intp] | None

    def __len__(self) -> int:
        return self.n if self.rows is None else len(self.rows)

    @property
    def where(self) -> NDArray[np.intp]:
        """Positions of the rows."""
        return np.arange(self.n) if self.rows is None else self.rows


def rows_of(who: str, X: Any, called: str, *, sparse: bool = True, minimum: int = 3) -> Any:
    """Rows of a measure, validated."""
    if getattr(X, "ndim", 2) != 2:
        advice = f"Pass {called}.reshape(-1, 1) if that is one column." if X.ndim == 1 else "Flatten each row."
        raise ValueError(
            f"{who}: {called} must be two-dimensional, rows by columns; got shape {tuple(X.shape)}. {advice}"
        )
    return validation.rows(X, who, sparse=sparse, minimum=minimum, called=called)


def demand_same_length(who: str, A: Any, B: Any, names: tuple[str, str] = ("X", "Y")) -> None:
    """Raise ValueError unless both have a row for each sample."""
    if A.shape[0] != B.shape[0]:
        raise ValueError(
            f"{who}: {names[1]} must have one row for each of the {A.shape[0]:,} rows of {names[0]}; got "
            f"{B.shape[0]:,}. Pass the same samples in the same order."
        )


class Space:
    """Samples and a metric. Cosine distances are kept as rows of length 1: half their squared Euclidean distance."""

    def __init__(self, who: str, X: Any, metric: str = "euclidean") -> None:
        self.metric, self.n = metric, int(X.shape[0])
        self.sparse = sp.issparse(X)
        if backend_of(X) is not None and metric not in ("euclidean", "cosine"):
            raise ValueError(
                f"{who}: metric={metric!r} has no version for tensors, only 'euclidean' and 'cosine'. Use one of "
                "these, or convert the rows to NumPy."
            )
        self.X: Any = searchable(X, float_dtype(X.dtype))
        if isinstance(X, np.ndarray):  # whose distances are computed natively, not by a search
            self.X = np.asarray(self.X, float_dtype(X.dtype))
        if metric != "precomputed":
            self._demand_range(who)
        if metric == "cosine":
            self.X = unit_rows(self.X, who)
        if metric == "precomputed":
            self._demand_distances(who)
        if metric == "manhattan" and self.sparse:
            raise TypeError(
                f"{who}: dense rows are needed for metric='manhattan'; got a {type(X).__name__}. Pass "
                "X.toarray() if it fits in memory."
            )

    @property
    def products(self) -> bool:
        """Whether the order of distances is that of Euclidean distances between dense rows."""
        return self.metric in ("euclidean", "cosine") and not self.sparse

    @cached_property
    def _turned(self) -> Any:
        """Sparse columns in float64, and the squared norms of the rows."""
        X = self.X.astype(np.float64)
        return X.T.tocsr(), squared_norms(X)

    def _demand_range(self, who: str) -> None:
        """Refuse values whose squares leave the range of float64; those of float32 cannot."""
        values = self.X.data if self.sparse else self.X
        if float_dtype(values.dtype) == np.float32 or not len(values):
            return
        SQUARES.demand(who, max(float(values.max()), -float(values.min())), "values must be within")

    def _demand_distances(self, who: str) -> None:
        if self.sparse or self.X.shape[1] != self.n or self.X.min() < 0:
            kind = "a sparse matrix" if self.sparse else f"shape {self.X.shape}, smallest value {self.X.min():g}"
            raise ValueError(
                f"{who}: X must be a dense square array of distances, none negative, for "
                f"metric='precomputed'; got {kind}. Pass distances, or choose another metric."
            )

    def nearest(self, k: int, sample: SampledRows) -> NDArray[np.int32]:
        """The ``k`` nearest other rows (m, k) of each row of the sample, by (distance, index)."""
        metric = "euclidean" if self.metric == "cosine" else self.metric
        if sample.rows is None:
            return to_numpy(neighbors.nearest(self.X, k, metric=metric, how="exact").indices)
        queries = take(self.X, sample.rows)
        found = to_numpy(neighbors.nearest(self.X, k + 1, queries=queries, metric=metric, how="exact").indices)
        others = found != sample.rows[:, None]
        others[others.all(axis=1), -1] = False  # duplicates may have replaced it among the nearest
        return found[others].reshape(len(sample), k)

    def apart(self, sample: SampledRows, others: NDArray[np.int32]) -> NDArray[np.float64]:
        """Distances (m, k) between each row of the sample and its own ``others`` (m, k)."""
        rows = sample.where
        if self.metric == "precomputed":
            return self.X[rows[:, None], others].astype(np.float64)
        if self.products:
            squares = _native.squared_distances(self.X, others, rows=sample.rows, n_threads=thread_limit.current())
            return squares / 2 if self.metric == "cosine" else np.sqrt(squares)
        first, second = np.repeat(rows, others.shape[1]), others.ravel()
        out = np.empty(len(first))
        held = 1 + self.X.nnz // self.n if self.sparse else self.X.shape[1]
        step = max(1, _STRIP_BYTES // (32 * held))
        for start in range(0, len(first), step):
            part = slice(start, start + step)
            gap = abs(self.X[first[part]].astype(np.float64) - self.X[second[part]])
            out[part] = (gap if self.metric == "manhattan" else gap.multiply(gap)).sum(axis=1)
        lengths = out if self.metric == "manhattan" else out / 2 if self.metric == "cosine" else np.sqrt(out)
        return lengths.reshape(others.shape)

    def ranks(self, sample: SampledRows, targets: NDArray[np.int32]) -> NDArray[np.int32]:
        """Rank (m, k), from 1, of each of the ``targets`` (m, k) among all other rows by (distance, index)."""
        if self.products:
            size = 4 * self.X.shape[1] * (self.n + (0 if sample.rows is None else len(sample))) + 16 * targets.size
            memory.require(size, f"ranks of {len(sample):,} rows", "Pass sample=1000, or fewer rows.", self.X)
            return ranks_among(self.X, targets, sample.rows) + 1
        out = np.empty(targets.shape, np.int32)
        for part, D in self.strips(sample, "ranks"):
            out[part] = _native.ranks_in(D, targets[part], n_threads=thread_limit.current()) + 1
        return out

    def strips(self, sample: SampledRows, name: str) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Yield (rows, D): distances from some rows of the sample to all, infinite to themselves.

        The block may be overwritten, and the next one overwrites it.
        """
        rows = sample.where
        most = max(1, _STRIP_BYTES // (8 * self.n))
        step = -(-len(rows) // -(-len(rows) // most))  # as few blocks as with the most rows, of one size
        buffer = np.empty((step, self.n))
        with stage(name, total=len(rows)) as tick:
            for start in range(0, len(rows), step):
                part = slice(start, min(len(rows), start + step))
                D = buffer[: part.stop - part.start]
                self._fill(rows[part], D)
                D[np.arange(len(D)), rows[part]] = np.inf
                yield part, D
                tick(part.stop)

    def class_sums(
        self, sample: SampledRows, codes: NDArray[np.int32], counts: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Sums (m, C) of the distances between each row of the sample and the rows of each class."""
        out = np.empty((len(sample), len(counts)))
        order = np.argsort(codes, kind="stable")
        starts = np.concatenate([[0], np.cumsum(counts)])
        if self.products:
            root, Q = self.metric == "euclidean", self.X if sample.rows is None else self.X[sample.rows]
            with stage("sums by class", total=len(sample)) as tick:
                _native.class_distances(
                    Q, self.X[order], starts, out, root=root, n_threads=thread_limit.current(), tick=tick
                )
            return out if root else out / 2
        for part, D in self.strips(sample, "sums by class"):
            D[np.arange(len(D)), sample.where[part]] = 0
            out[part] = np.add.reduceat(D[:, order], starts[:-1], axis=1)
        return out

    def _fill(self, rows: NDArray[np.intp], D: NDArray[np.float64]) -> None:
        Q: Any = self.X[rows]
        if self.metric == "precomputed":
            D[:] = Q
        elif self.metric == "manhattan":
            for columns, block in row_blocks(self.X, np.float64):
                _native.manhattan(Q.astype(np.float64), block, D[:, columns], n_threads=thread_limit.current())
        elif self.products:
            _native.euclidean(Q, self.X, D, root=self.metric == "euclidean", n_threads=thread_limit.current())
        else:
            turned, squares = self._turned
            size = squares[rows][:, None] + squares
            np.subtract(size, 2 * (Q.astype(np.float64) @ turned).toarray(), out=D)
            D[_ROUNDING * size > D] = 0  # equal rows
            if self.metric == "euclidean":
                np.sqrt(D, out=D)
        if self.metric == "cosine":
            D /= 2


@operation
def ranks_among(X: Any, targets: NDArray[np.int32], rows: NDArray[np.intp] | None) -> NDArray[np.int32]:
    """How many other rows are nearer, by (distance, index), to each of ``rows`` (None: all) than its targets (m, k).

    >>> ranks_among(np.array([[0.0], [1.0], [5.0]]), np.array([[2]], np.int32), np.array([0]))
    array([[1]], dtype=int32)
    """
    with stage("ranks", total=1000) as tick:
        return _native.ranks(X, targets, rows=rows, n_threads=thread_limit.current(), tick=tick)


@operation(on=1, any_backend=True)
def both(who: str, X: Any, Y: Any, metric: str) -> tuple[Space, Space]:
    """The two spaces, with the same number of rows."""
    require_one_device(who, X, Y, "X and Y")
    X, Y = rows_of(who, X, "X"), rows_of(who, Y, "Y", sparse=False)
    demand_same_length(who, X, Y)
    return Space(who, X, metric), Space(who, Y)


def affordable(space: Space, most: float = _WHOLE_WORK) -> int:
    """Rows whose distances to all others take reasonable time, up to ``most`` differences of features."""
    if hasattr(space, "affordable"):  # of distributed rows
        return int(space.affordable)
    work = space.n**2 * max(32, space.X.shape[1])
    return space.n if work <= (most if space.products else _WHOLE_STRIPS) else _SOME


@operation
def common_neighbors(
    X: Space, Y: Space, sample: SampledRows, weights: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Sums over the rows of c_i(K), the neighbours among the K nearest of both spaces, and of c_i(K)², K = 1 … n − 2.

    The third is Σ_K weights_K c_i(K) of each row (m,).
    """
    n = X.n
    total, squares, scores = np.zeros(n - 2, np.int64), np.zeros(n - 2, np.int64), np.empty(len(sample))
    for (rows, A), (_, B) in zip(X.strips(sample, "ranks in X"), Y.strips(sample, "ranks in Y"), strict=True):
        scores[rows] = _native.common_neighbors(A, B, weights, total, squares, n_threads=thread_limit.current())
    return total, squares, scores
