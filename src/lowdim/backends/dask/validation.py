"""Validation of Dask collections: what is known before reading here, the rest by the task that reads a block."""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.backends import DASK
from lowdim.backends.dask.graphs import cut_like, is_array, lengths_of
from lowdim.backends.dask.partitioned import Spread, Where
from lowdim.data import validation


def rows(X: Any, name: str, *, sparse: bool = False, minimum: int = 1, called: str = "X") -> Spread:
    """Validated rows of a Dask collection."""
    return validated_rows(X, name, sparse=sparse, minimum=minimum, scan=True, called=called)


@DASK.implements(validation.validated_rows)
def validated_rows(
    X: Any,
    name: str,
    *,
    sparse: bool,
    minimum: int,
    scan: bool,  # noqa: ARG001
    called: str,
    gaps: bool = False,
) -> Spread:
    """Rows of a Dask collection; ``scan`` has no effect: the task that reads a block checks its values."""
    if gaps:
        raise TypeError(
            f"{name}: rows with gaps must be in one memory; got a Dask collection. Fit a sample of the rows, "
            "X.sample(...).compute(), and transform blocks by X.map_partitions(model.transform)."
        )
    if isinstance(X, Spread):
        return X
    lengths = lengths_of(X)
    if not is_array(X):
        if X.ndim != 2:
            raise ValueError(f"{name}: {called} must be a table; got a Dask Series. Pass a DataFrame: X.to_frame().")
        seen = validation.rows(X._meta_nonempty, name, called=called)
        opened = partial(open_block, name=name, called=called, dtype=seen.dtype)
        return Spread(X, seen.dtype, seen.shape[1], None, name, minimum, False, opened)
    _demand_uncut(X, name, called)
    if lengths is not None and sum(lengths) < minimum:
        raise ValueError(
            f"{name}: at least {minimum} samples (rows) are needed; got {sum(lengths)} (shape {X.shape}). "
            "Pass more rows."
        )
    is_sparse = sp.issparse(X._meta)
    if is_sparse and not sparse:
        raise TypeError(
            f"{name}: sparse data was passed, but {called} must be dense here; got sparse blocks. Make them dense: "
            "X.map_blocks(lambda block: block.toarray())."
        )
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{name}: {called} must hold numbers; got {X.dtype}. Convert it, as by X.astype('float64').")
    opened = partial(open_block, name=name, called=called, dtype=X.dtype, sparse=is_sparse)
    return Spread(X, X.dtype, int(X.shape[1]), lengths, name, minimum, is_sparse, opened)


def _demand_uncut(X: Any, name: str, called: str) -> None:
    """Refuse arrays that are not two-dimensional, or whose columns are split."""
    if X.ndim != 2:
        raise ValueError(
            f"{name}: Expected 2D array; got a Dask array of {X.ndim} dimensions. Rows are samples, columns "
            "are features."
        )
    if not X.shape[1]:
        raise ValueError(f"{name}: {called} must have a column; got shape {X.shape}. Pass at least one column.")
    if len(X.chunks[1]) > 1:
        raise ValueError(
            f"{name}: blocks of {called} must hold whole rows; got columns split into {len(X.chunks[1])} chunks. "
            f"Call {called}.rechunk({{1: -1}}), with smaller chunks of rows if necessary."
        )


def open_block(block: Any, where: Where, *, name: str, called: str, dtype: np.dtype, sparse: bool = False) -> Any:
    """Checked rows of one block, in the task that read it."""
    found = validation.rows(block, name, sparse=sparse, scan=False, called=called)
    validation.demand_finite(name, found, found, called, getattr(block, "columns", None), where)
    if found.dtype == dtype:
        return found
    if not np.can_cast(found.dtype, dtype, "same_kind"):
        raise ValueError(
            f"{name}: blocks must have the dtype of the collection; block {where.block} of {called} holds "
            f"{found.dtype}, not {dtype}. Convert them alike, as by {called}.astype('float64')."
        )
    return found.astype(dtype)


@DASK.implements(validation.outline)
def outline(X: Any) -> Any:
    """Object that holds the column names: a DataFrame of two placeholder rows."""
    return X if isinstance(X, Spread) or is_array(X) else X._meta_nonempty


def beside(name: str, values: Any, X: Spread, called: str) -> Any:
    """``values`` with an entry for each row of ``X``, in the same blocks."""
    if not hasattr(values, "to_delayed"):
        if X.lengths is None:
            raise ValueError(
                f"{name}: {called} must be a Dask collection here, since the lengths of the blocks of X are unknown. "
                "Take it from the same DataFrame, or call X.compute_chunk_sizes() of an array first."
            )
        return cut_like(validation.one_a_row(name, values, sum(X.lengths), called, "entry"), X)
    blocks, lengths = int(values.npartitions), lengths_of(values)
    if values.ndim > 1 and is_array(values):
        _demand_uncut(values, name, called)
    unlike = X.lengths is not None and lengths is not None and lengths != X.lengths
    if blocks != X.n_blocks or unlike:
        cut = f"({', '.join(map(str, (lengths or ())[:4]))}{', …' if blocks > 4 else ''})" if lengths else "unknown"
        raise ValueError(
            f"{name}: {called} must be chunked as X is, in {X.n_blocks:,} blocks of equal lengths; got {blocks:,} of "
            f"lengths {cut}. Call {called}.rechunk({{0: X.chunks[0]}}), or take both from one DataFrame."
        )
    return values


@DASK.implements(validation.weights)
def weights(name: str, sample_weight: Any, X: Spread) -> Any:
    """Sample weights, in the blocks of the rows, or None; each block is checked where it is read."""
    return None if sample_weight is None else beside(name, sample_weight, X, "sample_weight")


def block_weights(name: str, block: Any, X: NDArray) -> Any:
    """Checked weights of the rows of one block; all may be 0 there."""
    given = np.asarray(block)
    return (
        np.zeros(len(given)) if given.dtype.kind in "biuf" and not given.any() else validation.weights(name, given, X)
    )


@DASK.implements(validation.second_view)
def second_view(name: str, y: Any, X: Any, n_columns: int | None = None, given: Any = None) -> Spread:  # noqa: ARG001
    """The second view as rows of its own, in the blocks of ``X``."""
    if y is None:
        validation.targets(name, None, X)
    values = beside(name, y, X, "y") if isinstance(X, Spread) else y
    if values.ndim == 1:
        values = values[:, None] if is_array(values) else values.to_frame()
    found = rows(values, name, called="y")
    if n_columns is not None and found.width != n_columns:
        raise ValueError(f"{name}: y must have the {n_columns} columns that fit saw; got {found.width}. Match them.")
    return found
