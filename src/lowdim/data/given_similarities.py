"""Similarities between rows that the caller has computed: affinities of t-SNE, a fuzzy graph of UMAP."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

_ROUNDING = 1e-5  # difference of both directions that is due to float32, in the largest similarity


class Similarities(NamedTuple):
    """Symmetric similarities as sparse rows: starts (n + 1,), columns and values, above 0, none on the diagonal."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float32]


def taken(S: Any, name: str, what: str, most: float = np.inf) -> Similarities:
    """Similarities from a sparse or dense matrix (n, n), or from starts, columns and values; ``what`` names them.

    Entries of the diagonal are left out. Values above ``most`` are refused, and so is a row without any.

    >>> taken(np.array([[0.0, 2.0], [2.0, 0.0]]), "TSNE", "affinities").values
    array([2., 2.], dtype=float32)
    """
    A = demand_similarities(S, name, what, most)
    lonely = np.flatnonzero(np.diff(A.indptr) == 0)
    if len(lonely):
        raise ValueError(
            f"{name}: {what} must relate each row to another; row {lonely[0]} has none above 0. Drop such rows."
        )
    return Similarities(A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data.astype(np.float32))


def demand_similarities(S: Any, name: str, what: str, most: float = np.inf) -> sp.csr_array:
    """Sparse rows of similarities, without zeros or a diagonal; refused unless symmetric and from 0 to ``most``."""
    A, ascending = _matrix(S, f"{name}: {what} must be")
    if len(A.shape) != 2 or A.shape[0] != A.shape[1] or A.shape[0] < 2:
        raise ValueError(f"{name}: {what} must be a square matrix of 2 rows or more; got {A.shape}. Pass all rows.")
    least, largest = (float(A.data.min()), float(A.data.max())) if A.nnz else (0.0, 0.0)
    if not (least >= 0 and largest <= most and np.isfinite(largest)):
        limit = "0 or more, and finite" if most == np.inf else f"from 0 to {most:g}"
        raise ValueError(f"{name}: {what} must be {limit}; got values from {least:g} to {largest:g}. Correct them.")
    if not A.data.all() or A.diagonal().any():
        A = A - sp.diags_array(A.diagonal(), format="csr")
        A.eliminate_zeros()
    apart = abs(ascending - ascending.T)
    if apart.nnz and apart.max() > _ROUNDING * largest:
        raise ValueError(f"{name}: {what} must be symmetric; they differ by {apart.max():g}. Pass (S + S.T) / 2.")
    return A


def _matrix(S: Any, needs: str) -> tuple[sp.csr_array, sp.csr_array]:
    """A sparse float64 matrix of what was given, in its order and in ascending order."""
    try:
        if isinstance(S, tuple):
            starts, columns, values = (np.array(part) for part in S)
            n = len(starts) - 1
            A = sp.csr_array((values.astype(np.float64), columns, starts), shape=(n, n))
            A.check_format(full_check=True)
        else:
            A = sp.csr_array(S if sp.issparse(S) else np.asarray(S), dtype=np.float64, copy=True)
        ascending = A.copy()
        ascending.sum_duplicates()
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{needs} a SciPy matrix, an array, or starts, columns and values of sparse rows; got "
            f"{type(S).__name__} ({error}). Pass one of them."
        ) from None
    # As given where it can be: the sums of a descent depend on the order.
    return (A if A.nnz == ascending.nnz else ascending), ascending
