"""Factor analysis beside scikit-learn's."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.task import System, Task
from lowdim.data import load

K = 6


def _satimage(_: Path) -> np.ndarray:
    return load("satimage")[0].astype(np.float64)


def lowdim(X: Any) -> Any:
    from lowdim import FactorAnalysis

    return FactorAnalysis(K).fit(X), X


def sklearn(X: Any, **options: Any) -> Any:
    from sklearn.decomposition import FactorAnalysis

    return FactorAnalysis(K, random_state=0, **options).fit(X), X


def likelihood(fitted: Any, _: Any) -> float:
    """Mean log-likelihood of the rows."""
    model, X = fitted
    return float(model.score(X))


TASKS = [
    Task(
        "factors-satimage",
        "Factor analysis, 6 factors of satellite pixels, 6,435×36 float64",
        _satimage,
        {
            "lowdim": System(lowdim),
            "scikit-learn, lapack": System(partial(sklearn, svd_method="lapack")),
            "scikit-learn, randomized": System(sklearn),
        },
        likelihood,
        "log-likelihood a row",
        worst=min,
        needs="satimage",
        note="To one tolerance of the log-likelihood; more is better.",
    ),
]
