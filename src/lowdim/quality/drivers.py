"""Which columns set a group of rows apart: chosen on some rows, measured on others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.compose.metric_space import rows_of
from lowdim.data import options
from lowdim.quality.measure import measuring
from lowdim.relate.moments import column_moments
from lowdim.work.random import seed_of, stream
from lowdim.work.rows import take

if TYPE_CHECKING:
    import polars as pl

_LEAST = 4  # rows inside and outside, so that each half has two
_RULES = {"top": options.integer(1), "random_state": options.seed, "n_jobs": options.jobs}


@dataclass(frozen=True)
class Drivers:
    """Columns that set a group apart; returned by :func:`drivers`. Its text is a sentence.

    Attributes
    ----------
    table : polars DataFrame
        ``column``, ``effect`` (difference of the means over the standard deviation within, Cohen's d), its standard
        ``error``, and the means ``inside`` and ``outside``, all on rows that did not choose the columns.
    size : int
        Number of rows in the group.
    held_out : int
        Number of rows that the effects were measured on.
    """

    table: "pl.DataFrame"
    size: int
    held_out: int

    def __str__(self) -> str:
        clear = [row for row in self.table.head(3).iter_rows(named=True) if abs(row["effect"]) > 2 * row["error"]]
        if not clear:
            return f"No column sets the {self.size:,} rows apart beyond chance on {self.held_out:,} held-out rows."
        told = ", ".join(f"{'high' if row['effect'] > 0 else 'low'} {row['column']}" for row in clear)
        return f"The {self.size:,} rows have {told} (on {self.held_out:,} held-out rows)."


def drivers(
    X: Any,
    group: Any,
    *,
    held_out: Any = None,
    names: Sequence[str] | None = None,
    top: int = 10,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Drivers:
    """Rank columns by how far they set a group of rows apart.

    The largest of many differences is too large by chance. So columns are chosen on one part of the rows, and their
    effects measured on the other. If the group itself was drawn on a map of these rows, the columns that made the map
    differ by construction: then pass rows as ``held_out`` that the map was not fitted on, placed by ``transform``.

    Parameters
    ----------
    X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        All rows.
    group : array (n_samples,) of bool, or array of row numbers
        The rows of the group.
    held_out : array (n_samples,) of bool, or array of row numbers, optional
        Rows that measure the effects; a random half by default.
    names : sequence of str, optional
        Names of the columns; those of a DataFrame by default.
    top : int, default 10
        Number of columns.
    random_state : int, Generator, RandomState or None, default 0
        Seed of the halves.
    n_jobs : int, default None
        Number of threads; None uses all cores.

    Returns
    -------
    Drivers
        ``.table``, one line per column.

    Examples
    --------
    >>> from lowdim import data, quality
    >>> X, y = data.load("iris")
    >>> print(quality.drivers(X, y == 0, names=["sepal l.", "sepal w.", "petal l.", "petal w."], top=2))
    The 50 rows have low petal l., low petal w. (on 75 held-out rows).
    """
    import polars as pl

    with measuring("drivers", _RULES, top=top, random_state=random_state, n_jobs=n_jobs) as who:
        called = [str(name) for name in (names if names is not None else getattr(X, "columns", []))]
        X = rows_of(who, X, "X", minimum=2 * _LEAST)
        n, d = X.shape
        called = called or [f"x{j}" for j in range(d)]
        if len(called) != d:
            raise ValueError(f"{who}: names must hold one name per column ({d}); got {len(called)}. Correct them.")
        inside = mask_of(who, group, n, "group")
        if min(inside.sum(), n - inside.sum()) < _LEAST:
            raise ValueError(
                f"{who}: at least {_LEAST} rows in the group and {_LEAST} outside are needed; got {int(inside.sum())} "
                f"of {n}. Choose more."
            )
        if held_out is None:
            held = np.zeros(n, bool)
            numbers = stream(seed_of(random_state), "halves")
            for rows in (np.flatnonzero(inside), np.flatnonzero(~inside)):
                held[rows[numbers.permutation(len(rows))[: -(-len(rows) // 2)]]] = True
        else:
            held = mask_of(who, held_out, n, "held_out")
        for part, what in ((held, "held out"), (~held, "left to choose columns")):
            if min((part & inside).sum(), (part & ~inside).sum()) < 2:
                raise ValueError(f"{who}: 2 rows inside and 2 outside the group must be {what}. Pass more rows.")
        chosen = np.argsort(-np.abs(_effects(X, inside, ~held)[0]), kind="stable")[:top]
        effect, error, means, others = (one[chosen] for one in _effects(X, inside, held))
        order = np.argsort(-np.abs(effect), kind="stable")
        columns = {"effect": effect, "error": error, "inside": means, "outside": others}
        table = {"column": [called[chosen[j]] for j in order]} | {name: one[order] for name, one in columns.items()}
        return Drivers(pl.DataFrame(table), int(inside.sum()), int(held.sum()))


def mask_of(who: str, given: Any, n: int, name: str) -> NDArray[np.bool_]:
    """Rows given as a mask or by their numbers, as a mask (n,)."""
    rows = np.asarray(given)
    if rows.dtype == bool and rows.shape == (n,):
        return rows
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or (len(rows) and not 0 <= rows.min() <= rows.max() < n):
        raise ValueError(
            f"{who}: {name} must be {n:,} booleans, or row numbers from 0 to {n - 1}; got {rows.dtype} of shape "
            f"{rows.shape}. Pass y == label, for example."
        )
    mask = np.zeros(n, bool)
    mask[rows] = True
    return mask


def _effects(X: Any, inside: NDArray[np.bool_], rows: NDArray[np.bool_]) -> tuple[NDArray[np.float64], ...]:
    """Cohen's d (d,) of all columns on some rows, its standard error, and the means inside and outside."""
    parts = [np.flatnonzero(rows & one) for one in (inside, ~inside)]
    (a, b), (m, n) = (column_moments(take(X, part)) for part in parts), map(len, parts)
    within = np.sqrt(((m - 1) * a.variance + (n - 1) * b.variance) / (m + n - 2))
    gap = a.mean - b.mean
    most = np.where(gap == 0, 0.0, np.sign(gap) * np.inf)
    effect = np.divide(gap, within, out=most, where=within > 0)
    error = np.sqrt((m + n) / (m * n) + np.where(np.isfinite(effect), effect, 0.0) ** 2 / (2 * (m + n - 2)))
    return effect, error, a.mean, b.mean
