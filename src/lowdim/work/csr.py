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
        for axis, (positions, size) in enumerate(zip(X.coords, X.shape, strict=True)):
            _demand_whole(positions)
            if len(positions) != len(X.data):
                raise ValueError(f"{len(positions)} positions for {len(X.data)} values")
            _demand_inside(positions, size, "row" if axis == 0 else "column")
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
            f"{len(X.indptr)} starts of {along} {names[0]}s, {len(X.indices)} positions, {len(X.data)} values"
        )
    if X.indptr[0] != 0 or X.indptr[-1] > len(X.data) or (X.indptr[1:] < X.indptr[:-1]).any():
        raise ValueError(f"starts of {names[0]}s that do not increase from 0 to {len(X.data)}")
    _demand_inside(X.indices[: X.indptr[-1]], across, names[1])


def _demand_whole(positions: Any) -> None:
    if not isinstance(positions, np.ndarray) or positions.ndim != 1 or positions.dtype.kind not in "iu":
        raise ValueError(f"places of type {getattr(positions, 'dtype', type(positions).__name__)}")


def _demand_inside(positions: Any, size: int, what: str) -> None:
    if len(positions) and (positions.min() < 0 or positions.max() >= size):
        outside = positions[(positions < 0) | (positions >= size)][0]
        raise ValueError(f"an entry in {what} {outside} of {size} {what}s")
