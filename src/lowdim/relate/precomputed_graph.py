"""Neighbours in a precomputed sparse graph of distances, as scikit-learn's ``KNeighborsTransformer`` produces it.

An entry that is not stored is unknown, not 0. A stored 0 is a distance, on the diagonal that of a row to itself.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def edges(D: Any, itself: bool) -> tuple[NDArray, NDArray, NDArray]:
    """Rows, columns and distances of the stored entries, row by row and nearest first, ties by column.

    With ``itself``, the columns are the rows themselves, and distances from a row to itself are left out.
    """
    rows = np.repeat(np.arange(D.shape[0]), np.diff(D.indptr))
    columns, distances = D.indices, D.data
    if itself:
        others = rows != columns
        rows, columns, distances = rows[others], columns[others], distances[others]
    order = np.lexsort((columns, distances, rows))
    return rows[order], columns[order].astype(np.int32), distances[order]


def nearest(D: Any, k: int, *, itself: bool) -> tuple[NDArray[np.int32], NDArray]:
    """The ``k`` nearest (m, k) of those stored for each row, and their distances; an error where there are fewer."""
    rows, columns, distances = edges(D, itself)
    counts = np.bincount(rows, minlength=D.shape[0])
    if counts.min(initial=k) < k:
        short = int(counts.argmin())
        raise ValueError(
            f"metric='precomputed' with a sparse graph needs at least {k} neighbours stored for each row besides "
            f"itself; got {counts[short]} for row {short}. Store more of them, or ask for fewer neighbours (a lower "
            "n_neighbors or perplexity)."
        )
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    chosen = starts[:, None] + np.arange(k)
    return columns[chosen], distances[chosen]


def within(D: Any, radius: float, *, itself: bool) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray]:
    """Those stored within the radius: starts, columns and distances."""
    rows, columns, distances = edges(D, itself)
    near = distances <= radius
    counts = np.bincount(rows[near], minlength=D.shape[0])
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), columns[near], distances[near]
