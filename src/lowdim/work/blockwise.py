"""Arrays are read block by block, so that no integer or foreign array is ever copied as a whole to floats."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

_BLOCK_BYTES = 2**21  # small enough for the cache, large enough for BLAS

Floats = NDArray[np.floating]


def float_dtype(dtype: Any) -> np.dtype:
    """Floating type that results have for data of ``dtype``: float32 where it holds every value, else float64.

    Types of other libraries are recognised by name, such as ``torch.float32``.

    >>> float_dtype(np.dtype("uint8")), float_dtype(np.dtype("int64"))
    (dtype('float32'), dtype('float64'))
    """
    if not isinstance(dtype, np.dtype):
        dtype = np.dtype(str(dtype).rpartition(".")[2].replace("bfloat16", "float16"))
    return np.dtype(np.float32 if np.can_cast(dtype, np.float32) else np.float64)


def row_blocks(
    X: Any, dtype: np.dtype | type, less: Floats | None = None, width: int = 1
) -> Iterator[tuple[slice, Floats]]:
    """Yield (rows, X[rows] − less as a C-ordered ``dtype`` array), where ``less`` (d,) is 0 unless given.

    A block is small; ``width`` is the number of values that a row becomes, where that is more than it has.

    The array may be a view of ``X`` or a buffer that the next block overwrites: read it, do not keep or change it.
    Sparse rows are densified a block at a time.
    """
    if sp.issparse(X):
        X = X.tocsr()
    n, d = X.shape
    step = max(1, min(n, _BLOCK_BYTES // (np.dtype(dtype).itemsize * max(1, d, width))))
    buffer = np.empty((0, d), dtype)
    for start in range(0, n, step):
        rows = slice(start, min(n, start + step))
        block = X[rows].toarray() if sp.issparse(X) else X[rows]
        if less is None and block.dtype == dtype and block.dtype.isnative and is_ready(block):
            yield rows, block
            continue
        if not len(buffer):
            buffer = np.empty((step, d), dtype)
        out = buffer[: len(block)]
        if less is None:
            np.copyto(out, block, casting="unsafe")
        else:
            np.subtract(block, less, out=out, dtype=dtype, casting="unsafe")
        yield rows, out


def column_blocks(X: Any, dtype: np.dtype | type) -> Iterator[tuple[slice, Floats]]:
    """Yield (columns, X[:, columns] as a ``dtype`` array); the counterpart of :func:`row_blocks` for wide data."""
    for columns, block in row_blocks(X.T, dtype):
        yield columns, block.T


def is_ready(block: NDArray[Any]) -> bool:
    """Whether kernels take an array as it is: in C order and aligned, which arrays from a network need not be."""
    return bool(block.flags.c_contiguous and block.flags.aligned)
