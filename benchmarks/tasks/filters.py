"""Filters beside scikit-learn, skrebate and mrmr_selection."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.task import System, Task


@dataclass(frozen=True)
class Rows:
    """Features without ties, and labels or numbers."""

    X: np.ndarray
    y: np.ndarray

    def __getitem__(self, part: Any) -> "Rows":
        rows = part[0] if isinstance(part, tuple) else part
        return Rows(self.X[part], self.y[rows])


def _rows(_: Path, n: int, d: int, numbers: bool) -> Rows:
    """A tenth of the features says something about the target, less and less."""
    random = np.random.default_rng(0)
    y = random.normal(size=n) if numbers else random.integers(0, 5, n)
    X = random.normal(size=(n, d))
    told = d // 10
    X[:, :told] += np.linspace(1.0, 0.05, told) * (
        y[:, None] if numbers else np.sin(np.outer(y, np.arange(1, told + 1)))
    )
    return Rows(X, y)


def lowdim(rows: Rows, by: str, **options: Any) -> Any:
    from lowdim import RankFeatures

    return RankFeatures(by, random_state=0, **options).fit(rows.X, rows.y).scores_


def sklearn(rows: Rows, name: str, **options: Any) -> Any:
    from sklearn import feature_selection

    found = getattr(feature_selection, name)(rows.X, rows.y, **options)
    return found[0] if isinstance(found, tuple) else found


def skrebate(rows: Rows) -> Any:
    from skrebate import ReliefF

    return ReliefF(n_neighbors=10, n_features_to_select=1, n_jobs=-1).fit(rows.X, rows.y).feature_importances_


def apart(found: Any, _: Any, data: Any, name: str) -> float | None:
    """Largest difference from scikit-learn's scores, in units of the largest."""
    from sklearn import feature_selection

    rows = data(Path())
    options = {"random_state": 0, "n_jobs": -1} if name.startswith("mutual") else {}
    reference = getattr(feature_selection, name)(rows.X, rows.y, **options)
    reference = reference[0] if isinstance(reference, tuple) else reference
    return float(np.abs(found - reference).max() / np.abs(reference).max())


def told(found: Any, _: Any, d: int) -> float | None:
    """Share of the features that say something among as many of the best."""
    best = np.argsort(-found)[: d // 10]
    return float((best < d // 10).mean())


def _scikit_learn(name: str, title: str, by: str, function: str, n: int, d: int, **options: Any) -> Task:
    data = partial(_rows, n=n, d=d, numbers=function.endswith("regression"))
    slow = function.startswith("mutual")
    jobs = {"n_jobs": -1} if slow else {}
    systems = {
        "lowdim": System(partial(lowdim, by=by)),
        f"scikit-learn{' n_jobs=-1' if slow else ''}": System(partial(sklearn, name=function, **jobs), once=slow),
    }
    return Task(
        f"filters-{name}",
        f"Filters, {title}, {n:,}×{d:,}",
        data,
        systems,
        partial(apart, data=data, name=function),
        "difference from scikit-learn",
        **options,
    )


TASKS = [
    _scikit_learn(
        "information",
        "mutual information with labels",
        "mutual_info",
        "mutual_info_classif",
        10_000,
        500,
        note="scikit-learn adds small noise to break ties, of which there are none here.",
    ),
    _scikit_learn(
        "information-numbers", "mutual information with numbers", "mutual_info", "mutual_info_regression", 5000, 100
    ),
    _scikit_learn("anova", "ANOVA F", "anova", "f_classif", 10_000, 500),
    Task(
        "filters-relief",
        "Filters, ReliefF, 1,500×100",
        partial(_rows, n=1500, d=100, numbers=False),
        {"lowdim": System(partial(lowdim, by="relief")), "skrebate": System(skrebate, once=True)},
        partial(told, d=100),
        "true features found",
        worst=min,
        note="All rows of both; lowdim draws 2,000 from more.",
    ),
]
