"""How much each column says about a target, one column at a time, for one or many targets of the same rows.

Products, for F and for correlations, are computed where the rows are; columns are sorted, and neighbours found, in
NumPy.

Targets are rows of a matrix (t, n): the target itself and, for tests, its permutations. Scores are (d, t).
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.relate.gram import Centred
from lowdim.relate.moments import column_moments, moments
from lowdim.relate.neighbors import nearest
from lowdim.work import thread_limit
from lowdim.work.backend_arrays import to_numpy
from lowdim.work.blockwise import column_blocks, row_blocks
from lowdim.work.dispatch import operation
from lowdim.work.progress import stage
from lowdim.work.random import stream

Doubles = NDArray[np.float64]
Codes = NDArray[np.int32]
_MOVED = 2**22  # values of columns that leave a device at a time
_AT_ONCE = 512  # sums of classes that are added up together
_QUERIES = 2000  # rows that ReliefF draws
_MATRIX = 4000  # columns up to which all correlations are computed at once
_REPEATED = 20  # how often a value of a discrete column occurs, on average


def f_of_labels(X: Any, targets: Codes, n_classes: int) -> Doubles:
    """F statistics of an analysis of variance between the classes 0 … C − 1.

    >>> f_of_labels(np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([[0, 0, 1, 1]], np.int32), 2)
    array([[18.]])
    """
    (n, d), M, out = X.shape, column_moments(X), np.empty((X.shape[1], len(targets)))
    step = max(1, _AT_ONCE // n_classes)
    counts = np.bincount(targets[0], minlength=n_classes).astype(np.float64)
    for start in range(0, len(targets), step):
        some = targets[start : start + step] + n_classes * np.arange(len(targets[start : start + step]))[:, None]
        sums = class_sums(X, M.mean, some, len(some) * n_classes)
        between = (np.square(sums).reshape(d, len(some), n_classes) / counts).sum(axis=2)
        within = np.maximum(M.variance[:, None] * n - between, 0.0)
        out[:, start : start + step] = (between / (n_classes - 1)) / (within / (n - n_classes))
    return out


@operation
def class_sums(X: Any, mean: Doubles, codes: NDArray[np.integer], count: int) -> Doubles:
    """Sums (d, count) of the centred rows of each class; a row is in one class of each row of ``codes`` (t, n).

    >>> class_sums(np.array([[1.0], [2.0], [6.0]]), np.array([3.0]), np.array([[0, 0, 1]]), 2)
    array([[-3.,  3.]])
    """
    sums = np.zeros((X.shape[1], count))
    for rows, Z in row_blocks(X, np.float64, less=mean):
        wide = rows.stop - rows.start
        places = (codes[:, rows].T.ravel(), np.repeat(np.arange(wide), len(codes)))
        H = sp.csc_array((np.ones(len(places[0])), places), shape=(count, wide))
        sums += (H @ Z).T
    return sums


def _columns(X: Any) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Blocks of columns in NumPy, where they are sorted, whatever the rows are."""
    if isinstance(X, np.ndarray) or sp.issparse(X):
        yield from column_blocks(X, np.float64)
        return
    n, d = X.shape
    step = max(1, _MOVED // n)
    for start in range(0, d, step):
        columns = slice(start, min(d, start + step))
        yield columns, to_numpy(X[:, columns]).astype(np.float64)


def f_of_numbers(X: Any, targets: Doubles) -> Doubles:
    """F statistics ``(n − 2) r² / (1 − r²)`` of the correlations r with numbers.

    >>> f_of_numbers(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([[0.0, 2.0, 1.0, 3.0]])).round(3)
    array([[3.556]])
    """
    n, M = X.shape[0], column_moments(X)
    y = targets - targets.mean(axis=1, keepdims=True)
    y /= np.sqrt(np.square(y).sum(axis=1, keepdims=True))
    r2 = np.square(Centred(X, M.mean, np.sqrt(np.where(M.variance > 0, M.variance, 1.0))).pull(y.T)).T / n
    return np.asarray((n - 2) * r2 / np.maximum(1.0 - r2, np.finfo(float).tiny))


def discrete_columns(X: Any) -> NDArray[np.bool_]:
    """Columns (d,) whose values repeat: on average each occurs ``_REPEATED`` times.

    >>> discrete_columns(np.stack([np.arange(40) % 2, np.arange(40)], axis=1))
    array([ True, False])
    """
    out = np.empty(X.shape[1], bool)
    for columns, block in _columns(X):
        found = np.sort(block, axis=0)
        out[columns] = (np.diff(found, axis=0) > 0).sum(axis=0) + 1 <= X.shape[0] / _REPEATED
    return out


def information(X: Any, targets: Any, n_classes: int, discrete: NDArray[np.bool_], k: int) -> Doubles:
    """Mutual information in nats; ``targets`` are classes, or numbers where ``n_classes`` is 0.

    By k nearest neighbours (Kraskov and others 2004; Ross 2014), and by counts between discrete columns and classes.
    """
    out = np.empty((X.shape[1], len(targets)))
    if not n_classes:
        targets = targets / targets.std(axis=1, keepdims=True)
    with stage("mutual information", total=X.shape[1]) as tick:
        for columns, block in _columns(X):
            C, kind = np.array(block.T, np.float64, order="C"), discrete[columns]
            part = out[columns]
            near: dict[str, Any] = {"n_threads": thread_limit.current(), "k": k}
            if n_classes:
                part[~kind] = _native.information_with_labels(
                    C[~kind], np.ascontiguousarray(targets), n_classes=n_classes, **near
                )
            else:
                spread = C[~kind].std(axis=1, keepdims=True)
                C[~kind] /= np.where(spread > 0, spread, 1.0)
                part[~kind] = _native.information_with_numbers(C[~kind], np.ascontiguousarray(targets), **near)
            for j in np.flatnonzero(kind):
                part[j] = _of_discrete(C[j], targets, n_classes, k)
            tick(columns.stop)
    return out


def _of_discrete(column: Doubles, targets: Any, n_classes: int, k: int) -> Doubles:
    """The same of one discrete column."""
    values, places = np.unique(column, return_inverse=True)
    codes: Codes = places.astype(np.int32)
    if not n_classes:
        return np.asarray(
            _native.information_with_labels(
                np.ascontiguousarray(targets), codes[None], len(values), k, n_threads=thread_limit.current()
            )[:, 0]
        )
    n, size = len(codes), len(values) * n_classes
    counts = np.stack([np.bincount(codes * n_classes + y, minlength=size) for y in targets.astype(np.int64)])
    P = counts.reshape(len(targets), len(values), n_classes) / n
    expected = P.sum(axis=2, keepdims=True) * P.sum(axis=1, keepdims=True)
    terms = np.where(P > 0, P * np.log(np.where(P > 0, P, 1.0) / np.where(P > 0, expected, 1.0)), 0.0)
    return np.maximum(terms.sum(axis=(1, 2)), 0.0)


def relief_of_labels(X: Any, y: Codes, n_classes: int, k: int, seed: int) -> Doubles:
    """ReliefF (Kononenko 1994), (d,): how much more a column differs between near rows of other classes than of one.

    Columns are divided by their ranges; near is by city-block distances. Above ``_QUERIES`` rows that many are drawn.
    """
    Z = _by_ranges(X)
    asked = np.sort(stream(seed, "relief").permutation(len(Z))[:_QUERIES])
    shares, out = np.bincount(y, minlength=n_classes) / len(y), np.zeros(Z.shape[1])
    members = [np.flatnonzero(y == c) for c in range(n_classes)]
    with stage("ReliefF", total=n_classes) as tick:
        for c in range(n_classes):
            rows = asked[y[asked] == c]
            for e in range(n_classes):
                near = min(k, len(members[e]) - (c == e))
                if not len(rows) or not near:
                    continue
                apart = _differences(Z, rows, members[e], near) / (near * len(asked))
                out += -apart if c == e else shares[e] / (1 - shares[c]) * apart
            tick(c + 1)
    return out


def relief_of_numbers(X: Any, y: Doubles, k: int, seed: int) -> Doubles:
    """RReliefF (Robnik-Šikonja and Kononenko 1997), (d,), for a target of numbers."""
    Z, target = _by_ranges(X), _by_ranges(y[:, None])
    asked = np.sort(stream(seed, "relief").permutation(len(Z))[:_QUERIES])
    near = min(k, len(Z) - 1)
    found = _others(Z, asked, np.arange(len(Z)), near)
    changed, both, total = np.zeros(Z.shape[1]), np.zeros(Z.shape[1]), 0.0
    for j in range(near):
        apart = np.abs(Z[asked] - Z[found[:, j]])
        steps = np.abs(target[asked] - target[found[:, j]])
        changed, both, total = changed + apart.sum(axis=0), both + (apart * steps).sum(axis=0), total + steps.sum()
    pairs = float(near * len(asked))
    return np.asarray(both / max(total, np.finfo(float).tiny) - (changed - both) / max(pairs - total, 1e-300))


def _by_ranges(X: Any) -> Doubles:
    """Columns from 0 to 1, in NumPy."""
    X = to_numpy(X).astype(np.float64)
    low, high = X.min(axis=0), X.max(axis=0)
    return np.asarray((X - low) / np.where(high > low, high - low, 1.0))


def _others(Z: Doubles, rows: NDArray[np.intp], among: NDArray[np.intp], k: int) -> NDArray[np.intp]:
    """The k nearest of the rows ``among`` to each of ``rows``, itself left out."""
    found = nearest(Z[among], min(k + 1, len(among)), Z[rows], metric="manhattan").indices
    places = among[found]
    itself = places == rows[:, None]
    itself[~itself.any(axis=1), -1] = True  # the farthest, where the row itself is not among them
    if places.shape[1] == k:
        return np.asarray(places)
    return np.asarray(places[~itself].reshape(len(rows), -1))


def _differences(Z: Doubles, rows: NDArray[np.intp], among: NDArray[np.intp], k: int) -> Doubles:
    """Sum (d,) of ``|z − z'|`` over the k nearest ``among`` of each of ``rows``."""
    found, out = _others(Z, rows, among, k), np.zeros(Z.shape[1])
    for j in range(found.shape[1]):
        out += np.abs(Z[rows] - Z[found[:, j]]).sum(axis=0)
    return out


def correlations(X: Any) -> Callable[[NDArray[np.intp]], Doubles]:
    """Function from numbers of columns (c,) to their correlations (c, d) with all columns, 0 for constant ones.

    >>> correlations(np.array([[0.0, 1.0], [1.0, 0.0]]))(np.array([0]))
    array([[ 1., -1.]])
    """
    if X.shape[1] <= _MATRIX:
        return partial(np.take, _correlation_matrix(X), axis=0)
    M = column_moments(X)
    varies, scale = M.variance > 0, np.sqrt(np.where(M.variance > 0, M.variance, 1.0))

    def of(columns: NDArray[np.intp]) -> Doubles:
        some = X[:, columns]
        some = some.toarray() if sp.issparse(some) else to_numpy(some)
        some = some.astype(np.float64)
        found = Centred(X, M.mean, scale).pull((some - M.mean[columns]) / scale[columns]) / X.shape[0]
        return np.asarray(np.clip(np.where(varies, found, 0.0), -1.0, 1.0))

    return of


def _correlation_matrix(X: Any) -> Doubles:
    M = moments(X)
    spread = np.sqrt(np.diag(M.scatter))
    rate = np.where(spread > 0, 1.0 / np.where(spread > 0, spread, 1.0), 0.0)
    return np.asarray(np.clip(M.scatter * rate * rate[:, None], -1.0, 1.0))


def redundancies(X: Any) -> Callable[[int], Doubles]:
    """Function from a column to the information (d,) in nats that normal columns of its correlations share with it."""
    found = correlations(X)

    def of(j: int) -> Doubles:
        r2 = np.square(found(np.array([j]))[0])
        return np.asarray(-0.5 * np.log1p(-np.minimum(r2, 1 - 1e-12)))

    return of
