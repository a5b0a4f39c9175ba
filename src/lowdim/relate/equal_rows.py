"""Equal rows: a new row that equals a training row takes its position in the map."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.work.backend_arrays import to_numpy
from lowdim.work.blockwise import float_dtype, row_blocks
from lowdim.work.dispatch import operation

# Mixes all bits of a number (the last steps of the generator SplitMix64).
_MIX = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))
# Types whose equal numbers have equal bits, but for 0 and −0, the bits of the latter.
_BITS: dict[str, tuple[Any, int]] = {
    "float16": (np.uint16, 1 << 15),
    "float32": (np.uint32, 1 << 31),
    "float64": (np.uint64, 1 << 63),
    "uint8": (np.uint8, 0),
}


@operation
def find_equal(X: Any, queries: Any) -> NDArray[np.int64]:
    """Index (m,) of the first row of ``X`` equal to each query, −1 where there is none.

    Rows are compared as floats, in the precision of ``X`` or in float32, by a hash of their bits, then entry by entry.

    >>> find_equal(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[3.0, 4.0], [3.0, 5.0]]))
    array([ 1, -1])
    """
    same = queries is X
    queries = X if same else queries.astype(float_dtype(X.dtype), copy=False)
    keys = _keys_of_words(X) if same and not sp.issparse(X) and X.dtype.isnative and X.dtype.name in _BITS else _keys(X)
    if same and len(np.unique(keys)) == len(keys):
        return np.arange(len(keys))
    wanted = keys if same else _keys(queries)
    order = np.argsort(keys, kind="stable")
    place = np.searchsorted(keys[order], wanted)
    out = np.full(queries.shape[0], -1, np.int64)
    left = np.arange(queries.shape[0])
    while True:  # one pass, unless different rows have the same hash
        left = left[place[left] < len(order)]
        left = left[keys[order[place[left]]] == wanted[left]]
        if not len(left):
            return out
        found = order[place[left]]
        equal = _are_equal(X, found, queries, left)
        out[left[equal]] = found[equal]
        left = left[~equal]
        place[left] += 1


def all_differ(distances: Any, how: str) -> bool:
    """Whether Euclidean ``distances`` (n, k) of neighbours, found by this search, prove that no two rows are equal.

    >>> all_differ(np.array([[1.0], [1.0]]), "exact"), all_differ(np.array([[0.0], [0.0]]), "exact")
    (True, False)
    """
    return how in ("exact", "tree") and float(to_numpy(distances[:, :1]).min()) > 0


def _are_equal(X: Any, rows: NDArray, queries: Any, asking: NDArray) -> NDArray[np.bool_]:
    """Whether rows of ``X`` and queries are equal, pair by pair."""
    out = np.empty(len(rows), bool)
    for some in np.array_split(np.arange(len(rows)), 1 + len(rows) * X.shape[1] // 2**22):
        A, B = X[rows[some]], queries[asking[some]]
        if sp.issparse(A) or sp.issparse(B):
            out[some] = np.asarray(abs(sp.csr_array(A) - sp.csr_array(B)).sum(axis=1)).ravel() == 0
        else:
            out[some] = (A == B).all(axis=1)
    return out


@operation
def merge_equal(Y: NDArray[np.float32], first: NDArray[np.int64]) -> NDArray[np.float32]:
    """Map in which equal rows have the mean of their positions; ``first`` (n,) is the first row equal to each.

    >>> merge_equal(np.array([[0.0], [1.0], [4.0]], np.float32), np.array([0, 0, 2])).ravel()
    array([0.5, 0.5, 4. ], dtype=float32)
    """
    if np.array_equal(first, np.arange(len(first))):
        return Y
    counts = np.bincount(first, minlength=len(first))
    sums = np.stack([np.bincount(first, weights=column, minlength=len(first)) for column in Y.T], axis=1)
    return np.ascontiguousarray((sums[first] / counts[first][:, None]).astype(np.float32))


def _keys(X: Any) -> NDArray[np.uint64]:
    """Sum of each row's bits, scrambled and weighted by column, modulo 2⁶⁴: the order of summing does not matter.

    Scrambled, because simple numbers such as 1.0 end in zeros, and so would their products with any weights.
    """
    odd = np.random.Generator(np.random.Philox(0)).integers(2**64, size=X.shape[1], dtype=np.uint64) | np.uint64(1)
    dtype = float_dtype(X.dtype)
    whole = np.uint32 if dtype.itemsize == 4 else np.uint64
    keys = np.empty(X.shape[0], np.uint64)
    for rows, block in row_blocks(X, dtype):
        keys[rows] = _mixed((block + block.dtype.type(0)).view(whole).astype(np.uint64), odd)  # −0 becomes 0
    return keys


def _keys_of_words(X: NDArray) -> NDArray[np.uint64]:
    """The same of eight bytes at a time, for rows that are compared with each other alone."""
    bits, minus = _BITS[X.dtype.name]
    each = 8 // X.dtype.itemsize
    words = -(-X.shape[1] // each)
    odd = np.random.Generator(np.random.Philox(0)).integers(2**64, size=words, dtype=np.uint64) | np.uint64(1)
    keys = np.empty(X.shape[0], np.uint64)
    for rows, block in row_blocks(X, X.dtype):
        whole = np.zeros((len(block), words * each), bits)
        whole[:, : X.shape[1]] = block.view(bits)
        if minus:
            whole[whole == minus] = 0  # −0 becomes 0
        keys[rows] = _mixed(whole.view(np.uint64), odd)
    return keys


def _mixed(bits: NDArray[np.uint64], odd: NDArray[np.uint64]) -> NDArray[np.uint64]:
    for shift, factor in _MIX:
        bits ^= bits >> shift
        bits *= factor
    bits ^= bits >> np.uint64(31)
    bits *= odd
    return bits.sum(axis=1, dtype=np.uint64)
