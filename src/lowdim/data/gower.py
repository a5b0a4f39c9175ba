"""Gower's distance between rows of a table: the mean over its columns of distances from 0 to 1.

Numbers and dates differ by ``|x − y|`` as a share of the range of the column, ordered answers by their places, levels
by 1 if they are not the same; a column in which either row has no value does not count (Gower 1971).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from lowdim.data import column_plans, preparation
from lowdim.data.column_kinds import RULES, is_missing
from lowdim.data.column_recipes import Recipe
from lowdim.data.table_columns import Columns, columns_of
from lowdim.work import memory
from lowdim.work.user_warnings import warn

Floats = NDArray[np.float64]
_NAME = "gower_distances"
_ROWS = 2048  # of the result at a time, where values are missing


def gower_distances(X: Any, Y: Any = None, *, plan: dict[str, Any] | None = None) -> Floats:
    """Gower's distances between the rows of tables of numbers, text and dates.

    Without missing values they are the Manhattan distances of ``Prepare("gower")``, which methods compute by
    themselves with ``metric="manhattan"``, for any number of rows; these serve ``metric="precomputed"``.

    Parameters
    ----------
    X : DataFrame of pandas or polars, array or list of rows
        The table. Kinds and ranges of its columns are those of these rows.
    Y : of the same columns, optional
        Rows whose distances to those of ``X`` are wanted; ``X`` by default.
    plan : dict, optional
        Settings for single columns, as in :class:`lowdim.Prepare`; ``weight`` is the weight of a column in the mean.

    Returns
    -------
    array (n_rows_of_Y, n_rows_of_X)
        Distances from 0 to 1 (more where a number of ``Y`` is beyond the range); NaN where two rows have no value in
        the same column.

    Examples
    --------
    >>> import polars as pl
    >>> from lowdim.data import gower_distances
    >>> table = pl.DataFrame({"age": [20, 30, 60, 40], "town": ["Rome", "Oslo", None, "Rome"]})
    >>> gower_distances(table)[0].round(3).tolist()
    [0.0, 0.625, 1.0, 0.25]
    """
    table = columns_of(X, _NAME, minimum=2)
    table.names = _names(X, table)
    defaults = {
        "numbers": "gower", "missing": "mean", "indicators": False, "categories": "onehot", "dates": "number",
        "max_levels": max(table.height, 2), "rules": RULES,
    }  # fmt: skip
    try:
        recipes, _ = preparation.learn(table, column_plans.wishes(defaults, plan, table.names))
    except ValueError as error:
        raise ValueError(str(error).replace("Prepare: ", f"{_NAME}: ", 1)) from None
    pairs = zip(table.names, recipes, strict=True)
    without = [f"{name!r} ({one.why})" for name, one in pairs if one.kind in ("identifier", "text")]
    if without:
        warn(f"{_NAME}: columns without a distance are left out: {', '.join(without)}. Name their kind in plan.")
    other = table
    if Y is not None:
        other = columns_of(Y, _NAME)
        other.names = _names(Y, other)
        if other.names != table.names:
            raise ValueError(
                f"{_NAME}: Y must have the columns of X, {len(table.names)} in this order; got {len(other.names)} "
                "columns, or other names. Select them first."
            )
    n, m = other.height, table.height
    memory.require(8.0 * n * m, f"{_NAME}: {n:,} × {m:,} distances", 'Use Prepare("gower") and metric="manhattan".')
    rows, others = (preparation.encode(recipes, one)[0].astype(np.float64) for one in (table, other))
    known, theirs = (_present(recipes, one) for one in (table, other))
    if known.all() and theirs.all():
        return np.asarray(cdist(others, rows, "cityblock"))
    return _of_present(recipes, others, theirs, rows, known)


def _names(X: Any, table: Columns) -> list[str]:
    return [str(name) for name in X.columns] if hasattr(X, "columns") else table.names


def _present(recipes: list[Recipe], table: Columns) -> NDArray[np.bool_]:
    """Which values of the columns that are used are there (n, columns)."""
    used = [j for j, one in enumerate(recipes) if one.suffixes]
    return np.column_stack([~is_missing(table.series(j)) for j in used])


def _of_present(
    recipes: list[Recipe], A: Floats, there: NDArray[np.bool_], B: Floats, here: NDArray[np.bool_]
) -> Floats:
    """Means over the columns in which both rows have a value."""
    used = [one for one in recipes if one.suffixes]
    weights = np.array([one.weight for one in used])
    ends = np.cumsum([0, *(len(one.suffixes) for one in used)])
    D = np.zeros((len(A), len(B)))
    for start in range(0, len(A), _ROWS):
        rows = slice(start, start + _ROWS)
        for j in range(len(used)):
            part = slice(ends[j], ends[j + 1])
            one = cdist(A[rows, part], B[:, part], "cityblock")
            D[rows] += one * (there[rows, j, None] & here[:, j])
        total = (there[rows] * weights) @ here.T
        with np.errstate(invalid="ignore", divide="ignore"):
            D[rows] = np.where(total > 0, D[rows] / total, np.nan)
    return D
