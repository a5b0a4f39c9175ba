"""Random samples of rows, drawn by row number."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.work import memory
from lowdim.work.dispatch import operation
from lowdim.work.random import seed_of, stream


@operation
def sample(X: Any, n: int, random_state: Any = None) -> Any:
    """Draw rows without replacement, in their original order.

    Which rows are drawn depends on their number, ``n`` and ``random_state`` alone, not on the blocks of a Dask
    collection: labels drawn by the same seed belong to the same rows.

    Parameters
    ----------
    X : array, DataFrame, sparse matrix, or a Dask array or DataFrame
        The rows. From a Dask collection only the blocks that hold drawn rows are read, after one pass that counts
        the rows if block lengths are unknown.
    n : int
        Number of rows to draw; all of them if there are fewer.
    random_state : int, Generator, RandomState or None
        Seed.

    Returns
    -------
    array, DataFrame or sparse matrix
        The rows, in the memory of this process.

    Examples
    --------
    >>> import lowdim
    >>> X, y = lowdim.data.load("digits")
    >>> lowdim.data.sample(X, 100, random_state=0).shape
    (100, 64)
    """
    whole = X if hasattr(X, "shape") else np.asarray(X)
    ids = drawn(whole.shape[0], n, random_state)
    if hasattr(whole, "iloc"):
        return whole.iloc[ids]
    return (whole.tocsr() if hasattr(whole, "tocsr") else whole)[ids]


def drawn(total: int, n: int, random_state: Any) -> NDArray[np.int64]:
    """Sorted indices of ``n`` of ``total`` rows."""
    if isinstance(n, bool) or not isinstance(n, Integral) or n < 1:
        raise ValueError(f"sample: n must be a whole number of rows, 1 or more; got {n!r}. Pass how many rows to draw.")
    if n >= total:
        return np.arange(total)
    memory.require(8.0 * (total if 50 * n >= total else 6 * n), f"sample: {n:,} of {total:,} rows", "Draw fewer.")
    return np.sort(stream(seed_of(random_state), "sample").choice(total, int(n), replace=False, shuffle=False))
