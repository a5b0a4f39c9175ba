"""How positions change with each column: the result of ``explain``, and derivatives by differences."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.relate.moments import column_moments
from lowdim.work import memory
from lowdim.work.blockwise import float_dtype
from lowdim.work.rows import dense

if TYPE_CHECKING:
    import polars as pl

Floats = NDArray[np.float64]
STEP = {"float32": 1e-2, "float64": 1e-3}  # of central differences, in standard deviations: distances are in float32
_AT_ONCE = 2**24  # numbers of perturbed rows held at a time


@dataclass(frozen=True)
class Explanation:
    """How the positions of rows change with each column; returned by ``explain``. Its text is a sentence.

    Attributes
    ----------
    jacobian : array (n_samples, n_components, n_features)
        Change of each coordinate for one unit more of each column; NaN for rows that are not ``resolved``.
    positions : array (n_samples, n_components)
        Positions that the derivatives belong to. Of rows of the fit: where the row would be placed as a new one.
    scale : array (n_features,)
        Standard deviation of each column.
    columns : tuple of str
        Names of the columns.
    resolved : array (n_samples,) of bool
        Whether the loss of the row has a minimum that moves smoothly with its values.
    """

    jacobian: Floats
    positions: Floats
    scale: Floats
    columns: tuple[str, ...]
    resolved: NDArray[np.bool_]

    @cached_property
    def sensitivity(self) -> Floats:
        """Array (n_samples, n_features): how far a row moves for one standard deviation of each column."""
        return np.sqrt((self.jacobian**2).sum(axis=1)) * self.scale

    @cached_property
    def table(self) -> "pl.DataFrame":
        """Columns by their ``sensitivity``, its share of all, and the motion for one standard deviation.

        All are medians over the rows: a few rows between two clusters move very far.
        """
        import polars as pl

        seen = self.resolved
        far = np.median(self.sensitivity[seen], axis=0) if seen.any() else np.full(len(self.columns), np.nan)
        along = np.median(self.jacobian[seen] * self.scale, axis=0) if seen.any() else self.jacobian[:1].sum(axis=0)
        order = np.argsort(-far, kind="stable")
        motion = {f"toward_{j}": values[order] for j, values in enumerate(along)}
        share = far / (far.sum() or 1.0)
        names = [self.columns[j] for j in order]
        return pl.DataFrame({"column": names, "sensitivity": far[order], "share": share[order], **motion})

    def __str__(self) -> str:
        count, rows = int(self.resolved.sum()), f"{len(self.resolved):,} row" + "s" * (len(self.resolved) != 1)
        if not count:
            return f"No position of {rows} moves smoothly with its values."
        first = self.table.head(3)
        told = ", ".join(f"{name} ({share:.0%})" for name, share in zip(first["column"], first["share"], strict=True))
        left = "" if count == len(self.resolved) else f"; {len(self.resolved) - count:,} could not be resolved"
        return f"{rows} move most with {told} of {len(self.columns):,} columns{left}."


def explained(model: Any, X: Any, scale: Any, jacobian: Callable[[Any], tuple[Floats, Floats]]) -> Explanation:
    """Explanation of validated rows, by a function that gives positions and Jacobians."""
    m, d = X.shape
    k = model._n_features_out
    memory.require(
        32.0 * m * k * d, f"{model._name}: derivatives of {m:,} rows by {d:,} columns", "Pass fewer rows at a time."
    )
    positions, slopes = jacobian(X)
    sizes = _scales(model, X, scale)
    names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(d)])
    resolved = np.asarray(np.isfinite(slopes).all(axis=(1, 2)))
    return Explanation(slopes, positions, sizes, tuple(map(str, names)), resolved)


def _scales(model: Any, X: Any, given: Any) -> Floats:
    """Standard deviations (d,): those given, of the rows of the fit where the model has them, or of ``X``."""
    if given is not None:
        sizes = np.asarray(given, np.float64)
        if sizes.shape != (X.shape[1],) or not np.isfinite(sizes).all() or (sizes < 0).any():
            raise ValueError(
                f"{model._name}: scale must hold one number of 0 or more for each of the {X.shape[1]} columns; got "
                f"shape {sizes.shape}. Pass X.std(axis=0) of your data."
            )
        return sizes
    rows = getattr(model, "_rows", None)
    rows = X if rows is None or rows.shape[1] != X.shape[1] else rows
    return np.ones(X.shape[1]) if rows.shape[0] < 2 else np.sqrt(column_moments(rows).variance)


def by_differences(
    X: Any, place: Callable[[Any, NDArray[np.intp]], NDArray], steps: Floats, center: NDArray
) -> tuple[Floats, Floats]:
    """Positions, and Jacobians (m, k, d) by central differences of ``place(rows, number of the row each is)``.

    ``steps`` (d,) or (m, d) are added to one column at a time, and taken off it.
    """
    m, d = X.shape
    steps = np.broadcast_to(steps, (m, d))
    out = np.empty((m, center.shape[1], d))
    each = max(1, min(d, _AT_ONCE // (2 * d)))
    for i in range(m):
        row = dense(X[[i]])
        for start in range(0, d, each):
            some = np.arange(start, min(d, start + each))
            moved = np.repeat(row, 2 * len(some), axis=0)
            at = np.arange(len(some))
            moved[at, some] += steps[i, some].astype(moved.dtype)
            moved[at + len(some), some] -= steps[i, some].astype(moved.dtype)
            gaps = moved[at, some].astype(np.float64) - moved[at + len(some), some]
            Y = np.asarray(place(moved, np.full(2 * len(some), i)), np.float64)
            out[i, :, some] = (Y[: len(some)] - Y[len(some) :]) / gaps[:, None]
    return np.asarray(center, np.float64), out


def small_steps(model: Any, X: Any) -> Floats:
    """Steps (d,) of central differences of a smooth map."""
    sizes = _scales(model, X, None)
    usual = float(sizes.mean()) or 1.0
    return STEP[float_dtype(X.dtype).name] * np.where(sizes > 1e-6 * usual, sizes, usual)


def chained(outer: Explanation, inner: Explanation) -> Explanation:
    """Derivatives of one map after another."""
    slopes = np.einsum("mko,mod->mkd", outer.jacobian, inner.jacobian)
    return Explanation(slopes, outer.positions, inner.scale, inner.columns, outer.resolved & inner.resolved)
