"""Selection of features beside scikit-learn's SequentialFeatureSelector."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.task import System, Task
from lowdim.data import load

Rows = tuple[np.ndarray, np.ndarray]


def _digits(_: Path) -> Rows:
    return load("digits")


def _wine_quality(_: Path) -> Rows:
    """Eleven measurements, their squares and their logarithms."""
    X, y = load("wine_quality")
    X = np.asarray(X, dtype=np.float64)
    return np.hstack([X, X**2, np.log1p(X)]), np.asarray(y, dtype=np.float64)


def _estimator(name: str) -> Any:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LinearRegression
    from sklearn.neighbors import KNeighborsClassifier

    return {"knn": KNeighborsClassifier(3), "lda": LinearDiscriminantAnalysis(), "linear": LinearRegression()}[name]


def lowdim(data: Rows, name: str, size: int, direction: str) -> Any:
    from lowdim import SequentialFeatureSelector

    return SequentialFeatureSelector(_estimator(name), n_features_to_select=size, direction=direction).fit(*data)


def sklearn(data: Rows, name: str, size: int, direction: str, n_jobs: int | None = None) -> Any:
    from sklearn.feature_selection import SequentialFeatureSelector

    return SequentialFeatureSelector(
        _estimator(name), n_features_to_select=size, direction=direction, cv=5, n_jobs=n_jobs
    ).fit(*data)


def score(fitted: Any, _: Any, name: str, data: Any) -> float | None:
    """Cross-validated score of the chosen set by plain refits."""
    from sklearn.model_selection import cross_val_score

    if fitted is None:
        return None
    X, y = data(Path())
    return float(cross_val_score(_estimator(name), X[:, fitted.get_support()], y, cv=5).mean())


def _task(label: str, title: str, data: Any, name: str, size: int, direction: str, **options: Any) -> Task:
    terms = {"name": name, "size": size, "direction": direction}
    return Task(
        f"selection-{label}",
        f"Selection, {title}",
        data,
        {
            "lowdim": System(partial(lowdim, **terms)),
            "scikit-learn": System(partial(sklearn, **terms), once=True),
        }
        | (
            {}
            if name == "lda"  # its threads get in each other's way: minutes
            else {"scikit-learn n_jobs=-1": System(partial(sklearn, **terms, n_jobs=-1), once=True)}
        ),
        partial(score, name=name, data=data),
        "score",
        worst=min,
        warm_up=None,
        **options,
    )


TASKS = [
    _task("knn", "digits, 3-NN, 10 of 64 forward, 5 folds", _digits, "knn", 10, "forward",
          note="Distances between digits tie; each system breaks ties its own way."),
    _task("linear", "wine quality, least squares, 10 of 33 forward, 5 folds", _wine_quality, "linear", 10, "forward",
          needs="wine_quality"),
    _task("lda", "digits, LDA, 64 to 54 backward, 5 folds", _digits, "lda", 54, "backward"),
]  # fmt: skip
