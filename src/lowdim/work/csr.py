"""Consistency of sparse matrices: no index may be out of bounds."""

from typing import Any

import numpy as np


def demand_sound(X: Any) -> None:
    """Raise ValueError unless the arrays of a sparse matrix (CSR, CSC, BSR or COO) are consistent.

    SciPy checks only part of this, and its routines, like ours, do not check their input.

    >>> import scipy.sparse as sp
    >>> X = sp.csr_array(np.eye(2))
    >>> X.indices[0] = 7
    >>> demand_sound(X)
    Traceback (most recent call last):
    ...
    ValueError: an entry in column 7 of 2 columns
    """
    if X.format == "coo":
        for axis, (places, size) in enumerate(zip(X.coords, X.shape, strict=True)):
            _demand_whole(places)
            if len(places) != len(X.data):
                raise ValueError(f"{len(places)} places for {len(X.data)} values")
            _demand_inside(places, size, "row" if axis == 0 else "column")
    elif X.format in ("csr", "csc", "bsr"):
        _demand_compressed(X)


def _demand_compressed(X: Any) -> None:
    names = ("column", "row") if X.format == "csc" else ("row", "column")
    along, across = X.shape[::-1] if X.format == "csc" else X.shape
    if X.format == "bsr":
        along, across = along // X.blocksize[0], across // X.blocksize[1]
    _demand_whole(X.indptr)
    _demand_whole(X.indices)
    if len(X.indptr) != along + 1 or len(X.indices) != len(X.data):
        raise ValueError(
            f"{len(X.indptr)} starts of {along} {names[0]}s, {len(X.indices)} places, {len(X.data)} values"
        )
    if X.indptr[0] != 0 or X.indptr[-1] > len(X.data) or (X.indptr[1:] < X.indptr[:-1]).any():
        raise ValueError(f"starts of {names[0]}s that do not increase from 0 to {len(X.data)}")
    _demand_inside(X.indices[: X.indptr[-1]], across, names[1])


def _demand_whole(places: Any) -> None:
    if not isinstance(places, np.ndarray) or places.ndim != 1 or places.dtype.kind not in "iu":
        raise ValueError(f"places of type {getattr(places, 'dtype', type(places).__name__)}")


def _demand_inside(places: Any, size: int, what: str) -> None:
    if len(places) and (places.min() < 0 or places.max() >= size):
        outside = places[(places < 0) | (places >= size)][0]
        raise ValueError(f"an entry in {what} {outside} of {size} {what}s")
