"""From prepared columns back to a column of a table: the numbers, or the most likely level of each row."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.column_recipes import Recipe

if TYPE_CHECKING:
    import polars as pl

_DAY = 86_400e6  # in microseconds


def column(recipe: Recipe, Z: NDArray[np.float64]) -> "pl.Series":
    """Column whose preparation by ``recipe`` is closest to ``Z`` (n, width).

    >>> made = Recipe("number", "number", "", "", numbers="standardize", centre=5.0, scale=2.0)
    >>> column(made, np.array([[0.5]])).to_list()
    [6.0]
    """
    import polars as pl

    Z = Z / recipe.weight if recipe.weight else np.zeros_like(Z)
    if recipe.action in ("onehot", "classes", "options"):
        return _levels(recipe, Z[:, : len(recipe.shares)])
    values = _unscaled(recipe, Z[:, 0])
    if recipe.action == "yes/no":
        return pl.Series(values=values > 0.5)
    if recipe.action == "ordinal":
        places = np.clip(np.rint(values), 0, len(recipe.levels) - 1).astype(int)
        return pl.Series(values=[recipe.levels[place] for place in places])
    if recipe.action in ("date", "cyclic"):
        return pl.Series(values=np.rint(values * _DAY).astype("M8[us]"))
    return pl.Series(values=values)


def _unscaled(recipe: Recipe, values: NDArray[np.float64]) -> NDArray[np.float64]:
    values = values * recipe.scale + recipe.centre
    if recipe.numbers == "ranks":
        return np.interp(values, recipe.heights, recipe.knots)
    return np.expm1(values) if recipe.numbers == "log1p" else values


def _levels(recipe: Recipe, Z: NDArray[np.float64]) -> "pl.Series":
    import polars as pl

    p = recipe.shares
    names = [*recipe.levels, "(rare)"]
    if recipe.action == "options":
        found: Any = Z if recipe.numbers == "as_is" else Z * recipe.scale * np.sqrt(p * (1 - p)) + p
        return pl.Series(
            values=[recipe.spelling.join(names[j] for j in np.flatnonzero(row > 0.5)) for row in found],
            dtype=pl.String,
        )
    found = Z if recipe.numbers in ("as_is", "gower") else Z * np.sqrt(p) + p
    return pl.Series(values=[names[j] for j in np.argmax(found, axis=1)], dtype=pl.String)
