"""Products of large dense matrices by many threads, with the same bits for any number of them.

A BLAS that shares a product among its threads sums in another order for each number of them, and its threads go on
turning for a while afterwards, on cores that the next kernel needs. So the product is cut into pieces by its shape
alone, and each piece is one call of BLAS by one thread.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from typing import Any, TypeVar

import numpy as np

from lowdim.work import jobs

_SMALL = 2e6  # multiplications up to which threads gain nothing
_TILE, _THIN = 256, 128  # side of a piece; rows of one that is narrow
_PARTS = 16  # of a sum over rows

Piece = TypeVar("Piece")


def multiply(A: Any, B: Any, out: Any = None) -> Any:
    """``A B``, into ``out`` where given; arrays that are not NumPy's multiply themselves.

    >>> multiply(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    if not isinstance(A, np.ndarray):
        return A @ B
    (m, d), n = A.shape, B.shape[1]
    if out is None:
        out = np.empty((m, n), np.result_type(A, B))
    with jobs.alone():
        if float(m) * d * n <= _SMALL:
            return np.matmul(A, B, out=out)
        high = _THIN if n <= _TILE else min(m, _TILE)
        wide = _THIN if m <= _TILE < n else min(n, _TILE)
        tiles = [(slice(i, i + high), slice(j, j + wide)) for i in range(0, m, high) for j in range(0, n, wide)]
        each_piece(tiles, lambda tile: np.matmul(A[tile[0]], B[:, tile[1]], out=out[tile]))
    return out


def inner(A: Any, B: Any) -> Any:
    """``Aᵀ B`` of tall arrays (n, p) and (n, q), summed over the same parts of the rows whatever the threads.

    >>> inner(np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    if not isinstance(A, np.ndarray):
        return A.T @ B
    n, p, q = len(A), A.shape[1], B.shape[1]
    with jobs.alone():
        if float(n) * p * q <= _SMALL:
            return A.T @ B
        parts = np.empty((_PARTS, p, q), np.result_type(A, B))

        def part(i: int) -> None:
            rows = slice(n * i // _PARTS, n * (i + 1) // _PARTS)
            np.matmul(A[rows].T, B[rows], out=parts[i])

        each_piece(range(_PARTS), part)
    return parts.sum(axis=0)


def each_piece(pieces: Iterable[Piece], run: Callable[[Piece], Any]) -> None:
    """Call ``run`` with every piece, by as many threads as are in force; what one raises is raised here.

    >>> done = []
    >>> each_piece([1, 2], done.append)
    >>> sorted(done)
    [1, 2]
    """
    todo = deque(pieces)

    def work() -> None:
        try:
            while todo:
                try:
                    piece = todo.popleft()
                except IndexError:  # another thread took the last
                    return
                run(piece)
        except BaseException:
            todo.clear()
            raise

    others = [_pool().submit(copy_context().run, work) for _ in range(min(jobs.current(), len(todo)) - 1)]
    try:
        work()
    finally:
        errors = [other.exception() for other in others if not other.cancel()]
    for error in errors:
        if error is not None:
            raise error


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1024, thread_name_prefix="lowdim")


if hasattr(os, "register_at_fork"):  # a forked process has none of the threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
