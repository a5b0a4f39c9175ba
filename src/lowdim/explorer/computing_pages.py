"""Pages that compute: the module of the core, the rules by which a page reads tables, and the page "Try it".

The module is built by ``make wasm``; where it is not in the package, pages are saved without it and say so.
"""

import base64
import csv
import gzip
import io
import json
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import __version__
from lowdim.comparison.candidates import Ground
from lowdim.data import column_plans, text_formats
from lowdim.data.column_recipes import Recipe
from lowdim.data.datasets import load
from lowdim.data.table import numbered
from lowdim.explorer.forms import form
from lowdim.explorer.message_format import Message
from lowdim.explorer.page_source import alone
from lowdim.explorer.session import Session
from lowdim.methods import registry, table_scaling

# Methods of a page, and those of their parameters that its core takes.
COMPUTED: dict[str, tuple[str, ...]] = {
    "pca": (),
    "tsne": ("perplexity", "early_exaggeration", "exaggeration", "max_iter", "random_state"),
    "umap": (
        "n_neighbors", "min_dist", "spread", "repulsion_strength", "negative_sample_rate", "n_epochs", "random_state",
    ),
    "pacmap": ("n_neighbors", "MN_ratio", "FP_ratio", "max_iter", "random_state"),
}  # fmt: skip
_NO_MODULE = "this installation of lowdim has no module for browsers (make wasm builds it)"
_EXAMPLES = {"digits": "digits, 8 × 8 pixels", "iris": "iris flowers", "wine": "wines", "swissroll": "a rolled sheet"}


MOST_ROWS, PAGE_BYTES = 20_000, 6_000_000  # of a page that computes
_AXES = (50, 30, 20, 12)  # principal scores of each row, the most that fit
_AXES_BYTES = 1_000_000  # of the axes by which new rows get theirs


class NoModuleError(RuntimeError):
    """The package was built without the module for browsers."""


@cache
def module() -> bytes:
    """The compiled core."""
    try:
        return (files("lowdim.explorer") / "static" / "engine.wasm").read_bytes()
    except FileNotFoundError:
        raise NoModuleError(_NO_MODULE) from None


def packed(data: bytes) -> str:
    """Bytes as a page holds them: compressed, in base64."""
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def methods(ground: Ground) -> list[dict[str, Any]]:
    """Forms of the methods that a page computes."""
    found = []
    for name, taken in COMPUTED.items():
        one = form(registry.find(name), ground)
        one["parameters"] = [rule for rule in one["parameters"] if rule["name"] in taken]
        for rule in one["parameters"]:
            rule["choices"] = [word for word in rule["choices"] or [] if word == "auto"]
        found.append(one)
    return found


def rules() -> dict[str, Any]:
    """The rules by which columns are recognised and scaled, as the page's reader takes them."""
    from lowdim.data import column_kinds as kinds

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
        "counted": kinds._COUNTED,
        "different": kinds._DIFFERENT,
        "words": kinds._WORDS,
        "mostly": kinds._MOSTLY,
        "mostLevels": 50,
        "held": column_plans._HELD,
        "many": table_scaling._MANY,
    }


class ScoresTaken:
    """Principal scores of rows as a page holds them: 16-bit fractions of one range, with the axes they came by."""

    def __init__(self, X: Any, k: int) -> None:
        from lowdim.methods.pca import PCA

        rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
        self.k = min(k, rows.shape[1], len(rows) - 1)
        model = PCA(self.k).fit(rows)
        scores = model.transform(rows)
        self.mean, self.axes = np.asarray(model.mean_), np.asarray(model.components_, np.float32)
        self.held = float(np.sum(model.explained_variance_ratio_))
        self.low, self.high = float(scores.min()), float(scores.max())
        span = (self.high - self.low) or 1.0
        self.high = self.low + span
        self.parts = np.round((scores - self.low) / span * 65535).astype(np.uint16)


def why_not(n: int, d: int) -> str:
    """Why a page of n rows cannot compute; empty if it can."""
    if n > MOST_ROWS:
        return f"it has {n:,} rows, and pages that compute hold up to {MOST_ROWS:,}"
    if n < 4:
        return f"a map needs at least 4 rows; it has {n}"
    try:
        module()
    except NoModuleError as error:
        return str(error)
    return "" if d else "it has no columns"


def compute_message(session: Session, room: int) -> tuple[Message | None, str]:
    """What a saved page needs to compute, in ``room`` bytes of text; or None and the reason."""
    n, d = session.n, int(session.X.shape[1])
    if why := why_not(n, d):
        return None, why
    room -= len(packed(module()))
    k = next((k for k in _AXES if 2.0 * n * min(k, d) * 4 / 3 < room), 0)
    if not k:
        return None, f"its rows would make it larger than {PAGE_BYTES / 1e6:g} MB"
    taken = ScoresTaken(session.X, k)
    recipes, refused = new_row_recipes(session)
    if recipes and taken.axes.nbytes > _AXES_BYTES:
        recipes, refused = None, f"{d:,} columns would make it too large"
    fields = {"n": n, "k": taken.k, "low": taken.low, "high": taken.high, "held": taken.held, "refusedNew": refused}
    arrays: dict[str, NDArray] = {"scores": taken.parts}
    if recipes:
        fields["fresh"] = {"recipes": recipes, "mean": taken.mean.tolist(), "rules": rules()}
        arrays["axes"] = taken.axes
    else:
        fields["fresh"] = None
    return Message("compute", None, fields, arrays), ""


def new_row_recipes(session: Session) -> tuple[list[dict[str, Any]] | None, str]:
    """How a page makes features of the columns of new rows; or None and why it cannot."""
    made = session.made
    if made.chain is None:
        names = made.table.names
        plain = {"action": "number", "centre": 0.0, "scale": 1.0, "missing": "error"}
        means = np.asarray(made.X.mean(axis=0)).ravel()
        return [{"name": n, "mean": float(m), "features": [n], **plain} for n, m in zip(names, means, strict=True)], ""
    if made.preparation is None or len(made.steps) > 1:
        return None, "a method that only Python has reduces its columns first"
    prepare = made.preparation
    names = made.table.names or numbered(made.X)
    found = []
    for name, recipe in zip(names, prepare._made, strict=True):
        if why := _beyond(recipe):
            return None, f"column {name!r} is prepared as {why}, which only Python does"
        one = asdict(recipe)
        kept = ("action", "missing", "mean", "centre", "scale", "levels", "pooled")
        features = [f"{name}{suffix}" for suffix in recipe.suffixes]
        entry = {key: one[key] for key in kept} | {"shares": recipe.shares.tolist()}
        found.append({"name": name, "features": features, **entry})
    return found, ""


def _beyond(recipe: Recipe) -> str:
    """What a page's reader does not do with a column; empty if it does all."""
    if recipe.action == "drop":
        return ""
    if recipe.action not in ("number", "onehot"):
        return {"yes/no": "yes and no", "date": "dates", "cyclic": "dates"}.get(recipe.action, "ordered answers")
    if recipe.numbers in ("log1p", "ranks"):
        return recipe.numbers
    if recipe.unit or recipe.spelling not in ("", text_formats.PLAIN):
        return f"numbers with {recipe.unit or recipe.spelling}"
    if recipe.weight != 1.0 or recipe.indicator or recipe.matching or recipe.missing == "median":
        return "its plan says"
    if recipe.action == "onehot" and recipe.numbers == "as_is":
        return "plain indicators"
    return ""


def _example(name: str) -> str:
    X, labels = load(name)
    y = np.zeros(len(X)) if labels is None else labels
    out = io.StringIO()
    writer = csv.writer(out)
    names = getattr(X, "columns", None)
    writer.writerow([*(names if names is not None else [f"x{j}" for j in range(X.shape[1])]), "label"])
    writer.writerows([*(f"{value:.6g}" for value in row), label] for row, label in zip(X, y, strict=True))
    return out.getvalue()


def try_page() -> str:
    """The page "Try it", in one file that loads nothing."""
    ground = Ground(1000, 10, sparse=False, classes=0)
    settings = {
        "version": __version__,
        "rules": rules(),
        "methods": methods(ground),
        "examples": [{"name": name, "words": words} for name, words in _EXAMPLES.items()],
    }
    held = {
        "settings": json.dumps(settings, ensure_ascii=False).replace("<", "\\u003c"),
        "examples": packed(json.dumps({name: _example(name) for name in _EXAMPLES}).encode()),
        "engine": packed(module()),
    }
    return alone("try.js", 'begin(document.getElementById("page"));', "lowdim – try it", '<div id="page"></div>', held)
