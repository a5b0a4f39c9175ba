"""How a column becomes numbers: fitted once on the training rows, then applied to any rows.

A recipe consists of plain values and arrays, so that a model file can store it.
"""

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data import column_kinds, multi_select, spellings
from lowdim.work.archive_errors import shortened

if TYPE_CHECKING:
    import polars as pl

Floats = NDArray[np.float64]

ACTIONS = ("drop", "number", "yes/no", "onehot", "ordinal", "date", "cyclic", "options", "classes")
LEVELS = ("onehot", "options", "classes")  # actions with a column for each level
NUMBERS = ("standardize", "pooled", "as_is", "robust", "log1p", "ranks", "gower")
_NORMAL_QUARTILES = 1.3489795003921634  # interquartile range of the standard normal distribution
_MOST_KNOTS = 1000  # quantiles that represent a distribution
_LATER = {"unit", "matching"}  # parts that recipes of version 1 of the rules lack
_CIRCLES = {"year": 365.2425, "week": 7.0, "day": 1.0}  # length in days of the cycles of a date


@dataclass(frozen=True)
class Recipe:
    """What is done to one column, with everything that was learned from it."""

    kind: str
    action: str
    done: str
    why: str
    gaps: int = 0  # missing values in the rows of the fit
    missing: str = "error"
    spelling: str = ""
    numbers: str = "as_is"
    mean: float = 0.0  # of the values before they are scaled; fills missing values
    median: float = 0.0
    centre: float = 0.0
    scale: float = 1.0
    weight: float = 1.0
    levels: list[str] = field(default_factory=list)  # of a category, in the order of its columns
    pooled: bool = False  # whether one more column holds all other levels
    shares: Floats = field(default_factory=lambda: np.zeros(0))  # of the rows of each column of a category
    knots: Floats = field(default_factory=lambda: np.zeros(0))  # values of known rank
    heights: Floats = field(default_factory=lambda: np.zeros(0))  # their ranks, from 0 to 1
    circles: list[str] = field(default_factory=list)
    indicator: bool = False  # whether an extra column marks missing values
    indicator_share: float = 0.0
    unit: str = ""  # of numbers in text
    matching: str = ""  # how levels are compared, see ``spellings``

    @property
    def suffixes(self) -> list[str]:
        """Suffixes of the output columns, after the name of the column."""
        if self.action == "drop":
            return []
        names = [""]
        if self.action in ("onehot", "classes"):
            names = [f"={level}" for level in self.levels] + ["=(rare)"] * self.pooled
        elif self.action == "options":
            names = [f"={option}" for option in self.levels]
        elif self.action == "cyclic":
            names += [f" {part} of {circle}" for circle in self.circles for part in ("sin", "cos")]
        return [*names, *[" (missing)"] * self.indicator]

    def refusal(self, column: "pl.Series") -> tuple[str, int]:
        """Why a column cannot be read by this recipe, and the row; an empty reason if it can."""
        import polars as pl

        text = column.dtype == pl.String
        if self.action in ("drop", "onehot", "options") or column.dtype == pl.Null:
            return "", 0
        if self._dates:
            fits, what = (
                text or column.dtype.is_temporal(),
                f"dates as {self.spelling}" if self.spelling and text else "dates",
            )
        elif self.action == "ordinal":
            fits, what = True, f"one of {', '.join(map(repr, self.levels[:10]))}"
        else:
            fits = text or column.dtype.is_numeric() or column.dtype == pl.Boolean
            what = "yes or no" if self.action == "yes/no" else f"numbers in {self.unit!r}" if self.unit else "numbers"
        if not fits:
            return f"must hold {what}; got {column.dtype}", 0
        if self.action in ("number", "classes") and not text:
            return "", 0
        strange = column.is_not_null() & pl.Series(np.isnan(self._values(column)))
        strange = strange & column.is_not_nan() if column.dtype.is_float() else strange
        if not strange.any():
            return "", 0
        row = int(strange.arg_max() or 0)
        return f"must hold {what}; got {shortened(repr(column[row]))}", row

    def encode(self, column: "pl.Series", out: NDArray[Any]) -> NDArray[np.bool_]:
        """Write what the column becomes to ``out`` (n, width); return which rows have a missing value."""
        if self.action in ("onehot", "classes"):
            lost = self._encode_levels(column, out)
        elif self.action == "cyclic":
            lost = self._encode_circles(column, out)
        elif self.action == "options":
            lost = self._encode_options(column, out)
        else:
            values = self._values(column)
            lost = np.isnan(values)
            values[lost] = self.median if self.missing == "median" else self.mean
            out[:, 0] = self._scaled(values) * self.weight
        if self.indicator:
            share = self.indicator_share
            spread = np.sqrt(share * (1 - share)) or 1.0
            marks = lost if self.numbers in ("as_is", "gower") else (lost - share) / spread
            out[:, -1] = marks if self.numbers == "as_is" else marks * self.weight
        return lost

    def unseen(self, column: "pl.Series") -> list[str]:
        """Levels of a column that the fit did not see."""
        if self.action == "options":
            return sorted(multi_select.indicators(as_text(column), self.spelling, self.levels)[1])
        if self.action not in ("onehot", "ordinal") or self.pooled:
            return []
        found = as_text(column).drop_nulls().unique(maintain_order=True).to_list()
        known = spellings.places_of(self.levels, found, self.matching)
        return [level for level in found if level not in known]

    def _values(self, column: "pl.Series") -> Floats:
        """The column as numbers, not scaled yet; a copy that may be changed."""
        if self._dates:
            return column_kinds.days_in(column_kinds.moments_in(column, self.spelling))
        if self.action == "yes/no":
            return np.array(column_kinds.answers_in(column))
        if self.action == "ordinal":
            codes = self._codes(column)
            return np.where(codes < 0, np.nan, codes.astype(np.float64))
        return np.array(column_kinds.numbers_in(column, self.spelling, self.unit))

    @property
    def _dates(self) -> bool:
        """Whether values are points in time."""
        return self.action in ("date", "cyclic") or (self.action == "classes" and self.kind == "date")

    def _scaled(self, values: Floats) -> Floats:
        if self.numbers == "ranks":
            values = np.interp(values, self.knots, self.heights)
        elif self.numbers == "log1p":
            values = np.log1p(values)
        return (values - self.centre) / self.scale

    def _codes(self, column: "pl.Series") -> NDArray[np.intp]:
        """Index of the level of each value, -1 where it is missing or unknown."""
        import polars as pl

        if self.action == "classes":
            values = self._values(column)
            return np.where(np.isnan(values), -1, np.searchsorted(self.knots, values))
        text = as_text(column)
        places = {level: i for i, level in enumerate(self.levels)}
        if self.matching:
            places = spellings.places_of(self.levels, text.drop_nulls().unique().to_list(), self.matching)
        if not places:
            return np.full(len(text), -1, dtype=np.intp)
        codes = text.replace_strict(list(places), list(places.values()), default=-1, return_dtype=pl.Int64)
        return np.array(codes.fill_null(-1).to_numpy(), dtype=np.intp)

    def _encode_levels(self, column: "pl.Series", out: NDArray[Any]) -> NDArray[np.bool_]:
        codes = self._codes(column)
        lost = column_kinds.is_missing(column)
        if self.pooled:
            codes[(codes < 0) & ~lost] = len(self.levels)
        if self.missing == "median":
            codes[lost] = int(np.argmax(self.shares))
        width = len(self.shares)
        known = np.flatnonzero(codes >= 0)
        body = out[:, :width]
        if self.numbers in ("as_is", "gower"):
            full = 0.5 if self.numbers == "gower" else 1.0  # the Manhattan distance of two levels is 1
            body[:] = full * self.shares  # where the level is not known
            body[known] = 0.0
            body[known, codes[known]] = full
        else:  # factor analysis of mixed data: (indicator − share) / √share
            body[:] = 0.0
            body[known] = -np.sqrt(self.shares)
            body[known, codes[known]] += 1.0 / np.sqrt(self.shares[codes[known]])
        body *= self.weight
        return lost

    def _encode_options(self, column: "pl.Series", out: NDArray[Any]) -> NDArray[np.bool_]:
        lost = np.asarray(column.is_null().to_numpy())
        found, _ = multi_select.indicators(as_text(column), self.spelling, self.levels)
        found[lost] = self.shares > 0.5 if self.missing == "median" else self.shares
        if self.numbers == "gower":
            found = found / len(self.shares)
        elif self.numbers != "as_is":  # multiple factor analysis: at most variance 1 in every direction
            found = (found - self.shares) / np.sqrt(self.shares * (1 - self.shares)) / self.scale
        out[:, : len(self.shares)] = found * self.weight
        return lost

    def _encode_circles(self, column: "pl.Series", out: NDArray[Any]) -> NDArray[np.bool_]:
        days = self._values(column)
        lost = np.isnan(days)
        days[lost] = self.median if self.missing == "median" else self.mean
        out[:, 0] = self._scaled(days) * self.weight
        # √2 gives the sine of uniformly distributed dates variance 1
        length = self.weight * (1.0 if self.numbers == "as_is" else np.sqrt(2.0))
        for i, circle in enumerate(self.circles):
            turn = 2.0 * np.pi * (days / _CIRCLES[circle] % 1.0)
            out[:, 1 + 2 * i] = np.where(lost, 0.0, np.sin(turn)) * length
            out[:, 2 + 2 * i] = np.where(lost, 0.0, np.cos(turn)) * length
        return lost


def as_text(column: "pl.Series") -> "pl.Series":
    """Levels of a category as text, whatever type the column has; whole numbers without a decimal point."""
    import polars as pl

    if column.dtype.is_float():
        column = column.fill_nan(None)
        whole = column.cast(pl.Int64, strict=False)
        text = pl.when(whole == column).then(whole.cast(pl.String)).otherwise(column.cast(pl.String))
        return pl.select(text).to_series()
    if column.dtype == pl.Duration:
        raise ValueError("Prepare: a category needs text, numbers or dates; got durations. Treat the column as a date.")
    return column if column.dtype == pl.String else column.cast(pl.String)


def learn_scale(values: Floats, numbers: str) -> tuple[dict[str, Any], str]:
    """Parts of a recipe that scale ``values`` (without the missing ones), and their description."""
    with np.errstate(over="ignore", invalid="ignore"):
        found, words = _scale(values, numbers)
    if not all(np.isfinite(found[name]) for name in ("mean", "centre", "scale")) or not found["scale"] > 0:
        raise ValueError(
            f"numbers that can be scaled in double precision are needed; got values from {values.min():g} to "
            f"{values.max():g}. Rescale the column, or leave it out."
        )
    return found, words


def _scale(values: Floats, numbers: str) -> tuple[dict[str, Any], str]:
    found: dict[str, Any] = {"numbers": numbers, "mean": float(values.mean()), "median": float(np.median(values))}
    if numbers == "as_is":
        return found | {"centre": 0.0, "scale": 1.0}, "kept as it is"
    if numbers == "gower":  # Manhattan distances are shares of the range
        low, high = float(values.min()), float(values.max())
        return found | {"centre": low, "scale": (high - low) or 1.0}, "divided by its range"
    if numbers == "ranks":
        knots, counts = np.unique(values, return_counts=True)
        heights = (np.cumsum(counts) - counts / 2) / len(values)
        if len(knots) > _MOST_KNOTS:
            some = np.linspace(0, len(knots) - 1, _MOST_KNOTS).round().astype(int)
            knots, heights = knots[some], heights[some]
        # uniform on (0, 1) has mean ½ and variance 1/12
        return found | {"knots": knots, "heights": heights, "centre": 0.5, "scale": 12**-0.5}, "replaced by ranks"
    words = "standardised"
    if numbers == "pooled":
        words = "centred and divided by their pooled standard deviation"
    if numbers == "log1p":
        values, words = np.log1p(values), "log(1 + x), then standardised"
    centre, scale = float(values.mean()), float(values.std())
    if numbers == "robust":
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
        if high > low:
            centre, scale = float(middle), float((high - low) / _NORMAL_QUARTILES)
            words = "scaled by median and quartiles"
        else:
            words = "standardised, since its quartiles are equal"
    return found | {"centre": centre, "scale": scale}, words


def learn_levels(column: "pl.Series", most: int, order: list[str] | None) -> tuple[dict[str, Any], int, float]:
    """Levels of a category and their shares; their number, and the share of rows that the kept levels cover."""
    counts = as_text(column).drop_nulls().alias("value").value_counts(name="rows")
    counts = counts.sort("rows", counts.columns[0], descending=[True, False])
    rows = counts["rows"].to_numpy().astype(np.float64)
    pooled = len(counts) > int(most)
    n_kept = int(most) - 1 if pooled else len(counts)
    share = dict(zip(counts[:n_kept, 0].to_list(), (rows[:n_kept] / rows.sum()).tolist(), strict=True))
    place = {level: i for i, level in enumerate(order or [])}
    levels = sorted(share, key=lambda level: (place.get(level, len(place)), level))
    shares = [share[level] for level in levels] + [rows[n_kept:].sum() / rows.sum()] * pooled
    found = {"levels": levels, "pooled": pooled, "shares": np.array(shares)}
    return found, len(counts), float(rows[:n_kept].sum() / rows.sum())


def learn_options(column: "pl.Series", separator: str, most: int) -> tuple[dict[str, Any], int]:
    """Options that some cells hold and some do not, at most ``most``, and their shares; how many others there are.

    ``scale`` is the square root of the largest eigenvalue of the correlations of their indicators.
    """
    text = as_text(column).drop_nulls()
    counts: dict[str, int] = {}
    for cell, rows in text.alias("value").value_counts(name="rows").iter_rows():
        for option in set(multi_select.options_in(cell, separator)):
            counts[option] = counts.get(option, 0) + rows
    varying = sorted((option for option, n in counts.items() if n < len(text)), key=lambda one: (-counts[one], one))
    kept = sorted(varying[: int(most)])
    table, _ = multi_select.indicators(text, separator, kept)
    shares = table.mean(axis=0)
    z = (table - shares) / np.sqrt(shares * (1 - shares))
    largest = float(np.linalg.eigvalsh(z.T @ z / len(z))[-1]) if kept else 1.0
    return {"levels": kept, "shares": shares, "scale": float(np.sqrt(largest))}, len(counts) - len(kept)


def circles_of(moments: "pl.Series") -> list[str]:
    """Cycles of the dates of a column: year and week, and day where they have times."""
    hours = column_kinds.days_in(moments)
    hours = hours[~np.isnan(hours)]
    return ["year", "week", *(["day"] if np.any(hours % 1.0) else [])]


def check_recipe(state: Any) -> Recipe:
    """Recipe from a state read from a file; ValueError unless its parts are consistent."""
    example = asdict(Recipe("", "", "", ""))
    if not isinstance(state, dict) or set(state) | _LATER != set(example) | _LATER:
        raise ValueError("a recipe lacks parts, or has unknown ones")
    for name, value in state.items():
        if type(value) is not type(example[name]) or (isinstance(value, float) and not np.isfinite(value)):
            raise ValueError(f"{name} of a recipe is {value!r}")
    recipe = Recipe(**state)
    text = recipe.levels + recipe.circles
    arrays = [recipe.shares, recipe.knots, recipe.heights]
    good = (
        recipe.action in ACTIONS
        and recipe.numbers in NUMBERS
        and all(isinstance(one, str) for one in text)
        and len(set(recipe.levels)) == len(recipe.levels)
        and set(recipe.circles) <= set(_CIRCLES)
        and all(one.dtype == np.float64 and one.ndim == 1 and np.isfinite(one).all() for one in arrays)
        and len(recipe.knots) == (len(recipe.levels) - 1 if recipe.action == "classes" else len(recipe.heights))
        and (recipe.action != "classes" or bool((recipe.knots[1:] > recipe.knots[:-1]).all()))
        and (len(recipe.knots) > 0 or recipe.numbers != "ranks")
        and recipe.scale > 0
        and (recipe.action not in LEVELS or len(recipe.shares) == len(recipe.levels) + recipe.pooled > 0)
        and bool((recipe.shares > 0).all())
        and (recipe.action != "options" or (bool(recipe.spelling) and bool((recipe.shares < 1).all())))
        and recipe.matching in ("", spellings.CASE, spellings.ANSWERS)
    )
    if not good:
        raise ValueError(f"a recipe of {recipe.kind!r} has inconsistent parts")
    return recipe
