"""Every method by its defaults on the same rows: what docs/which_method.md says of time and memory."""

from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import System, Task
from lowdim.methods.registry import METHODS

N, D, CLASSES = 5000, 50, 10
TITLE = f"Every method by its defaults, {CLASSES} groups, {N:,}×{D}"


def rows(_, n: int = N) -> Any:
    """Gaussian groups in random order, each of other widths along each column; the last column is the label."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, CLASSES, n)
    centres, widths = 4 * rng.normal(size=(CLASSES, D)), rng.uniform(0.2, 2, (CLASSES, D))
    return np.column_stack([centres[y] + widths[y] * rng.normal(size=(n, D)), y]).astype(np.float32)


def fit(table: Any, method: Any) -> Any:
    """The fitted model and its map."""
    model = method.build({}, n_components=method.components, random_state=0)
    X, y = table[:, :-1], table[:, -1].astype(int)
    return model.fit(X, y), X


def recall(fitted: Any, _: Any) -> float | None:
    """Share of the 15 nearest neighbours that are near in the map of 2,000 rows."""
    from lowdim import quality

    model, X = fitted
    return float(quality.neighborhood_recall(X[:2000], model.transform(X[:2000]), n_neighbors=15))


TASKS = [
    Task(
        "every_method",
        TITLE,
        rows,
        {f"lowdim {method.name}": System(partial(fit, method=method)) for method in METHODS if method.default_rows},
        recall,
        "recall of 15",
        worst=min,
        note="Two components, nine for LDA; the groups are the labels of methods that take labels.",
    ),
]
