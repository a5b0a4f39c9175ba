"""Distances given by the caller: between all rows, or between classes."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from lowdim.data.options import Rule
from lowdim.work.backend_arrays import to_numpy
from lowdim.work.dispatch import operation

_STRIP = 1024  # rows per block
_NEARLY = 1e-5  # below 1 by rounding


@operation
def demand_distances(D: Any, name: str) -> None:
    """Refuse a matrix unless it holds distances: square, symmetric, non-negative, with a zero diagonal."""
    n, m = D.shape
    needs = f"{name}: metric='precomputed' needs the distances between all pairs of rows, "
    if n != m:
        raise ValueError(f"{needs}a square matrix (n_samples, n_samples); got {D.shape}. Pass all of them.")
    if sp.issparse(D):
        _demand_graph(D, name)
        return
    largest = max(1e-300, float(D.max()))
    eps = float(np.finfo(D.dtype if D.dtype.kind == "f" else np.float64).eps)
    for start in range(0, n, _STRIP):
        stop = min(n, start + _STRIP)
        strip = D[start:stop]
        if strip.min() < 0:
            i, j = np.unravel_index(int(strip.argmin()), strip.shape)
            raise ValueError(f"{needs}0 or more; got {strip[i, j]:g} between rows {start + i} and {j}. Correct it.")
        own = np.abs(np.diagonal(D)[start:stop])
        if own.max() > 1e3 * eps * largest:
            row = start + int(own.argmax())
            raise ValueError(
                f"{needs}0 from each to itself; got {own.max():g} for row {row}. Pass distances, not kernels."
            )
        apart = np.abs(strip[:, :stop].astype(np.float64) - D[:stop, start:stop].T)
        if apart.max() > 1e3 * eps * largest:
            i, j = np.unravel_index(int(apart.argmax()), apart.shape)
            raise ValueError(
                f"{needs}symmetric; got {D[start + i, j]:g} and {D[j, start + i]:g} between rows {start + i} and {j}. "
                "Pass (D + D.T) / 2 if the difference means nothing."
            )


@operation
def find_zero(D: Any, name: str) -> NDArray[np.int64]:
    """Index (m,) of the first row at distance 0 by the distances ``D`` (m, n), −1 where there is none.

    Negative distances are refused; ``name`` is the estimator that the error names.
    """
    if sp.issparse(D):  # an entry that is not stored is unknown, not 0
        rows = np.repeat(np.arange(D.shape[0]), np.diff(D.indptr))
        least, found = np.zeros(D.shape[0]), np.full(D.shape[0], -1, np.int64)
        np.minimum.at(least, rows, D.data)
        demand_new_distances(least, name)
        zeros = np.flatnonzero(D.data == 0)[::-1]
        found[rows[zeros]] = D.indices[zeros]
        return found
    first = D.argmin(axis=1)
    least = D[np.arange(len(D)), first]
    demand_new_distances(least, name)
    return np.where(least == 0, first, -1)


def first_equal(D: Any, name: str) -> NDArray[np.int64]:
    """Index (n,) of the first training row that equals each: those joined by distances of 0.

    >>> first_equal(np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 2.0], [0.0, 2.0, 0.0]]), "Isomap")
    array([0, 1, 0])
    """
    found, own = to_numpy(find_zero(D, name)), np.arange(D.shape[0])
    first = np.where(found < 0, own, np.minimum(found, own))
    while not np.array_equal(first, first[first]):
        first = first[first]
    return first


def least_stored(D: Any) -> int:
    """Fewest neighbours that a sparse graph of distances stores for a row, besides itself."""
    own = np.repeat(np.arange(D.shape[0]), np.diff(D.indptr)) == D.indices
    return int(np.diff(np.concatenate([[0], np.cumsum(~own)])[D.indptr]).min())


def _demand_graph(D: Any, name: str) -> None:
    """Refuse a sparse graph with negative distances, or with a nonzero one from a row to itself."""
    needs = f"{name}: metric='precomputed' needs distances in a sparse graph of neighbours, "
    if D.nnz and D.data.min() < 0:
        raise ValueError(f"{needs}0 or more; got {D.data.min():g}. Pass distances, not weights.")
    own = D.diagonal()
    if own.any():
        row = int(np.flatnonzero(own)[0])
        raise ValueError(f"{needs}0 from each to itself; got {own[row]:g} for row {row}. Pass distances, not weights.")
    if D.nnz and D.data.max() <= 1 and D.data.min() < 1 and (D.max(axis=1).toarray() > 1 - _NEARLY).all():
        raise ValueError(
            f"{needs}not similarities; got values up to 1 with a 1 in every row, as in a fuzzy graph. Pass "
            "the distances, or this one to UMAP as fit(graph=…) or to TSNE as fit(affinities=…)."
        )


def demand_new_distances(least: Any, name: str) -> None:
    """Refuse distances of new rows to the training rows if the ``least`` (m,) of a row is below 0."""
    below = np.flatnonzero(least < 0)
    if len(below):
        raise ValueError(
            f"{name}: metric='precomputed' needs distances to the training rows, 0 or more; got {least[below[0]]:g} in "
            f"row {below[0]}. Correct it."
        )


def demand_known_distances(D: Any, name: str, *, missing: bool, square: bool = True) -> NDArray[np.bool_] | None:
    """Refuse values that are not distances (NaN only if ``missing``); mask of the known ones, None if all are known.

    With ``square``, distances between all pairs of rows; otherwise between new rows and the training rows.
    """
    known = ~np.isnan(D) if D.dtype.kind == "f" else None
    if known is not None and known.all():
        known = None
    if known is not None and not missing:
        row, column = np.argwhere(~known)[0]
        raise ValueError(
            f"{name}: all distances are needed here; got NaN at row {row}, column {column}. Pass kind='metric', which "
            "leaves out those that are not known."
        )
    full = D if known is None else np.where(known, D, 0.0)
    if not np.isfinite(full).all():
        row, column = np.argwhere(~np.isfinite(full))[0]
        raise ValueError(
            f"{name}: distances must be finite; got {full[row, column]} at row {row}, column {column}. Pass NaN for "
            "one that is not known."
        )
    if not square:
        demand_new_distances(full.min(axis=1), name)
        return known
    if known is not None and full.shape[0] == full.shape[1] and not (known == known.T).all():
        row, column = np.argwhere(known != known.T)[0]
        raise ValueError(
            f"{name}: a distance must be known in both directions or in neither; got only one of those between "
            f"rows {row} and {column}. Pass both."
        )
    demand_distances(full, name)
    return known


def demand_weights(weights: Any, known: Any, n: int, name: str, kind: str) -> NDArray[np.float32]:
    """Weights (n, n), 0 on the diagonal and where not ``known``; refused if they cannot determine a map."""
    if weights is None:
        W = np.ones((n, n), np.float32)
    else:
        if kind == "classical":
            raise ValueError(f"{name}: kind='classical' has no weights; got some. Pass kind='metric'.")
        W = np.array(weights, dtype=np.float64)
        if W.shape != (n, n) or not np.isfinite(W).all() or W.min() < 0 or not np.allclose(W, W.T):
            raise ValueError(
                f"{name}: weights must be a symmetric array of shape ({n}, {n}), finite, 0 or more; got shape {W.shape}"
                + (f" with values from {W.min():g} to {W.max():g}. Correct them." if W.shape == (n, n) else ".")
            )
        W = (W / (W.max() or 1.0)).astype(np.float32)
    if known is not None:
        W *= known
    np.fill_diagonal(W, 0.0)
    count = connected_components(sp.csr_array(W > 0), directed=False)[0]
    if count > 1:
        raise ValueError(
            f"{name}: the distances must connect all rows; those that are known and have a positive weight leave "
            f"{count:,} connected components. Give more of them a positive weight."
        )
    return W


def _is_square(value: Any) -> bool:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return array.ndim == 2 and array.shape[0] == array.shape[1] > 0


given_class_distances = Rule(_is_square, "a square array of the distances between classes")


def demand_class_distances(C: Any, n_classes: int, name: str) -> None:
    """Refuse distances between classes that do not match the labels, or are not distances."""
    C = np.asarray(C, dtype=np.float64)
    if len(C) != n_classes:
        raise ValueError(
            f"{name}: class_distance must have a row for each of the {n_classes} classes; got {len(C)}. Order them as "
            "the sorted labels."
        )
    if not np.isfinite(C).all() or C.min() < 0 or np.diagonal(C).any() or not np.allclose(C, C.T):
        raise ValueError(
            f"{name}: class_distance must be finite, symmetric, 0 or more, and 0 on the diagonal; got {C.tolist()}. "
            "Correct it, or pass None."
        )
