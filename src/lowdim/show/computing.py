"""What a page needs to compute: the compiled core, principal scores of the rows, and how new rows get theirs.

The core is built by ``make wasm``; where it is not in the package, pages are written without it and say so.
"""

import base64
import gzip
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lowdim.data import (
    answer_scales,
    column_kinds,
    column_plans,
    multi_select,
    number_units,
    spellings,
    text_formats,
)
from lowdim.data.column_recipes import LEVELS, Recipe
from lowdim.methods import table_scaling
from lowdim.methods.pca import PCA
from lowdim.methods.prepared_table import PreparedTable

# Methods of a page, and those of their parameters that its core takes.
COMPUTED: dict[str, tuple[str, ...]] = {
    "pca": (),
    "tsne": ("perplexity", "early_exaggeration", "exaggeration", "max_iter", "random_state"),
    "umap": (
        "n_neighbors", "min_dist", "spread", "repulsion_strength", "negative_sample_rate", "n_epochs", "random_state",
    ),
    "pacmap": ("n_neighbors", "MN_ratio", "FP_ratio", "max_iter", "random_state"),
}  # fmt: skip
MOST_ROWS, PAGE_BYTES = 20_000, 6_000_000  # of a page that computes
_LEAST_ROWS = 4
_AXES = (50, 30, 20, 12)  # principal scores of each row, the most that fit
_AXES_BYTES = 1_000_000  # of the axes by which new rows get theirs
_NO_MODULE = "this installation of lowdim has no module for browsers (make wasm builds it)"


class NoModuleError(RuntimeError):
    """The package was built without the module for browsers."""


@cache
def module() -> bytes:
    """The compiled core."""
    try:
        return (files("lowdim") / "explorer" / "static" / "engine.wasm").read_bytes()
    except FileNotFoundError:
        raise NoModuleError(_NO_MODULE) from None


def packed(data: bytes) -> str:
    """Bytes as a page holds them: compressed, in base64."""
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


@cache
def packed_module() -> str:
    """The compiled core as a page holds it."""
    return packed(module())


class Computing(NamedTuple):
    """Principal scores (n, k) as 16-bit fractions from ``low`` to ``high``, and their share of the variance.

    ``fresh`` says how features of new rows are made, None with a reason in ``refused``; ``axes`` (k, d) then make
    scores of them.
    """

    scores: NDArray[np.uint16]
    low: float
    high: float
    held: float
    fresh: dict[str, Any] | None
    refused: str
    axes: NDArray[np.float32] | None

    @property
    def fields(self) -> dict[str, Any]:
        """All but the arrays."""
        n, k = self.scores.shape
        told = {"n": n, "k": k, "low": self.low, "high": self.high, "held": self.held}
        return told | {"fresh": self.fresh, "refusedNew": self.refused}


def computing(X: Any, made: PreparedTable, room: float) -> Computing | str:
    """What a page of the rows ``X``, prepared from a table, needs to compute in ``room`` bytes; or why it does not."""
    n, d = X.shape
    if n > MOST_ROWS:
        return f"it has {n:,} rows, and pages that compute hold up to {MOST_ROWS:,}"
    if n < _LEAST_ROWS:
        return f"a map needs at least {_LEAST_ROWS} rows; it has {n}"
    try:
        room -= len(packed_module())
    except NoModuleError as error:
        return str(error)
    k = next((k for k in _AXES if 2.0 * n * min(k, d) * 4 / 3 < room), 0)
    if not k:
        return f"its rows would make it larger than {PAGE_BYTES / 1e6:g} MB"
    rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
    model = PCA(min(k, d, n - 1)).fit(rows)
    scores = model.transform(rows)
    axes = np.asarray(model.components_, np.float32)
    recipes, refused = recipes_of(made)
    if recipes and axes.nbytes > _AXES_BYTES:
        recipes, refused = None, f"its {d:,} columns would make it too large"
    fresh = {"recipes": recipes, "mean": np.asarray(model.mean_).tolist(), "rules": rules()} if recipes else None
    low = float(scores.min())
    high = low + (float(np.ptp(scores)) or 1.0)
    parts = np.round((scores - low) / (high - low) * 65535).astype(np.uint16)
    held = float(np.sum(model.explained_variance_ratio_))
    return Computing(parts, low, high, held, fresh, refused, axes if recipes else None)


def rules() -> dict[str, Any]:
    """The rules by which columns are recognised and scaled, as the page's reader takes them."""
    styles = {
        name: {"pattern": text_formats._PATTERNS[name], "groups": text_formats._GROUPS[name]}
        for name in (text_formats.COMMAS, text_formats.THOUSANDS)
    }
    return {
        "missing": text_formats.MISSING,
        "numbers": styles,
        "decimalCommas": text_formats.COMMAS,
        "thousands": text_formats.THOUSANDS,
        "dates": text_formats.DATE_FORMATS,
        "yes": text_formats._YES,
        "no": text_formats._NO,
        "languages": [sorted(words) for words in text_formats._LANGUAGES],
        "counted": column_kinds._COUNTED,
        "different": column_kinds._DIFFERENT,
        "words": column_kinds._WORDS,
        "mostly": column_kinds._MOSTLY,
        "mostLevels": 50,
        "folded": column_kinds._FOLDED,
        "unit": number_units._PATTERN,
        "units": sorted(number_units._KNOWN | number_units._CODES | set(number_units._SIGNS)),
        "fewUnits": number_units._FEW,
        "scales": answer_scales._KNOWN,
        "between": f"^(?:{answer_scales._BETWEEN})",
        "mostAnswers": answer_scales._MOST,
        "numbered": answer_scales._NUMBERED.pattern,
        "bracketed": answer_scales._IN_BRACKETS.pattern,
        "steps": answer_scales._STEPS,
        "separators": multi_select.SEPARATORS,
        "several": multi_select._SEVERAL,
        "longOption": multi_select._LONG,
        "mostCells": multi_select._MOST_VALUES,
        "shortCode": spellings._SHORT,
        "held": column_plans._HELD,
        "many": table_scaling._MANY,
    }


def recipes_of(made: PreparedTable) -> tuple[list[dict[str, Any]] | None, str]:
    """How a page makes features of the columns of new rows; or None and why it cannot."""
    names = made.table.names
    if made.scale:
        return None, "its columns are scaled in a way that only Python knows"
    if made.chain is None:
        plain = {"action": "number", "centre": 0.0, "scale": 1.0, "missing": "error", "mean": 0.0}
        return [{"name": name, "features": [name], **plain} for name in names], ""
    if made.preparation is None or len(made.steps) > 1:
        return None, "a method that only Python has reduces its columns first"
    found = []
    for name, recipe in zip(names, made.preparation._made, strict=True):
        if why := _beyond(recipe):
            return None, f"column {name!r} holds {why}, which only Python prepares"
        one = asdict(recipe)
        kept = ("action", "missing", "mean", "centre", "scale", "levels", "pooled", "spelling", "unit", "matching")
        entry = {key: one[key] for key in kept} | {"shares": recipe.shares.tolist()}
        found.append({"name": name, "features": [f"{name}{suffix}" for suffix in recipe.suffixes], **entry})
    return found, ""


def _beyond(recipe: Recipe) -> str:
    """What a page's reader does not do with a column; empty if it does all."""
    if recipe.action == "drop":
        return ""
    if recipe.action not in ("number", "yes/no", "date", "ordinal", "onehot", "options"):
        return {"cyclic": "cycles of dates"}.get(recipe.action, f"values prepared as {recipe.action}")
    if recipe.numbers in ("log1p", "ranks") or (recipe.action in LEVELS and recipe.numbers in ("as_is", "gower")):
        return f"values prepared as {recipe.numbers}"
    if recipe.action == "date" and recipe.spelling not in ("", *text_formats.DATE_FORMATS):
        return "dates of another format"
    if recipe.weight != 1.0 or recipe.indicator or recipe.missing == "median":
        return "values with settings of their own"
    return ""
