"""Rows that are equal, found by a fingerprint of their values and then compared."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.work.blocks import row_blocks
from lowdim.work.random import stream


def first_equal(X: Any) -> NDArray[np.int64]:
    """Index (n,) of the first row that equals each row of ``X``, dense or CSR; its own where there is none before.

    >>> first_equal(np.array([[1, 2], [3, 4], [1, 2]]))
    array([0, 1, 0])
    """
    marks = _fingerprints(X)
    _, first, group = np.unique(marks, return_index=True, return_inverse=True)
    first = first[group]
    itself = np.arange(len(first))
    others = np.flatnonzero(first != itself)
    different = ~_equal(X, first[others], X, others)
    first[others[different]] = others[different]
    return first


def match(X: Any, Q: Any) -> NDArray[np.int64]:
    """Index (m,) of the first row of ``X`` that equals each row of ``Q``, or -1.

    >>> match(np.array([[1, 2], [3, 4]]), np.array([[3, 4], [5, 6]]))
    array([ 1, -1])
    """
    known, first = np.unique(_fingerprints(X), return_index=True)
    wanted = _fingerprints(Q)
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    found = np.where(known[place] == wanted, first[place], -1)
    some = np.flatnonzero(found >= 0)
    found[some[~_equal(X, found[some], Q, some)]] = -1
    return found


def _fingerprints(X: Any) -> NDArray[np.uint64]:
    """One number (n,) a row: the bits of its values, each column by a factor of its own, added up modulo 2⁶⁴."""
    factors = stream(0, "fingerprints").integers(2**63, size=X.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    if sp.issparse(X):
        terms = _mixed(X.data.astype(np.float64)) * factors[X.indices]
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
        return sums[X.indptr[1:]] - sums[X.indptr[:-1]]
    marks = np.empty(X.shape[0], np.uint64)
    for rows, block in row_blocks(X, np.float64):
        marks[rows] = _mixed(block) @ factors
    return marks


def _mixed(values: NDArray[np.floating]) -> NDArray[np.uint64]:
    bits = (values + 0.0).view(np.uint64)  # adding turns −0 into 0
    return bits ^ (bits >> np.uint64(29))


def _equal(X: Any, i: NDArray, Q: Any, j: NDArray) -> NDArray[np.bool_]:
    """Whether row i[t] of ``X`` equals row j[t] of ``Q``, for each t."""
    same = np.ones(len(i), bool)
    step = max(1, 2**20 // max(1, X.shape[1]))
    for start in range(0, len(i), step):
        part = slice(start, start + step)
        if sp.issparse(X):
            same[part] = np.diff((X[i[part]] != Q[j[part]]).tocsr().indptr) == 0
        else:
            same[part] = (X[i[part]] == Q[j[part]]).all(axis=1)
    return same
