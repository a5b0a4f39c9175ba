"""Samples of rows of a Dask collection, in the memory of this process."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.backends import DASK
from lowdim.backends.dask.graphs import counted, take
from lowdim.data import sampling as numpy_sampling
from lowdim.data.sampling import drawn
from lowdim.work import memory


@DASK.implements(numpy_sampling.sample)
def sample(X: Any, n: int, random_state: Any = None) -> Any:
    """Rows by their numbers among all, for any blocks; the seed is drawn before anything is read."""
    lengths = counted(X, "sample")
    ids = drawn(sum(lengths), n, random_state)
    width = X.shape[1] if X.ndim == 2 else 1
    memory.require(16.0 * len(ids) * width, f"sample: {len(ids):,} rows of {width:,} columns", "Draw fewer rows.")
    return rows_at(X, ids, lengths)


def rows_at(X: Any, ids: NDArray[np.int64], lengths: Sequence[int]) -> Any:
    """Rows with these ascending numbers, of a collection whose blocks have these lengths."""
    parts = take(X, ids, lengths, "sample")
    if not parts:
        raise ValueError("sample: rows are needed; got a collection without any. Check how it was read.")
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts)
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)
