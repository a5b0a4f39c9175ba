"""Lengths of rows, and rows of length 1."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.work.dispatch import operation


@operation
def squared_norms(X: Any, dtype: Any = None) -> NDArray:
    """``‖x‖²`` of each row, dense or CSR, in another precision where given."""
    if sp.issparse(X):
        X = X if dtype is None else X.astype(dtype)
        return np.asarray(X.multiply(X).sum(axis=1)).ravel().astype(X.dtype)
    return np.einsum("ij,ij->i", X, X, dtype=dtype)


@operation
def unit_rows(X: Any, name: str | None = None) -> Any:
    """Rows of length 1, dense or CSR; rows of zeros stay zero, or are refused if ``name`` is given.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    size = np.sqrt(squared_norms(X, np.float64))
    zero = np.flatnonzero(size == 0)
    if len(zero) and name is not None:
        raise no_direction(name, int(zero[0]))
    size[zero] = 1
    unit = (sp.diags_array(1 / size) @ X).tocsr() if sp.issparse(X) else X / size[:, None].astype(X.dtype)
    return unit.astype(X.dtype, copy=False)


def no_direction(name: str, row: int) -> ValueError:
    """Error for a row of zeros."""
    return ValueError(
        f"{name}: metric='cosine' needs rows that are not all zeros; row {row} is. Drop such rows, "
        "or use metric='euclidean'."
    )
