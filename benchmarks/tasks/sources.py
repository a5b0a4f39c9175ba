"""Independent components of MNIST beside scikit-learn's."""

from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import System, Task
from benchmarks.tasks.manifold import _mnist50


def _rows(folder: Any) -> np.ndarray:
    return np.ascontiguousarray(_mnist50(folder, 70_000), np.float32)


def lowdim(X: Any, **options: Any) -> Any:
    from lowdim import FastICA

    return FastICA(random_state=0, max_iter=500, **options).fit(X), X


def sklearn(X: Any, **options: Any) -> Any:
    from sklearn.decomposition import FastICA

    return FastICA(whiten="unit-variance", random_state=0, max_iter=500, **options).fit(X), X


def negentropy(fitted: Any, _: Any) -> float:
    """``Σ (E[log cosh s] − E[log cosh ν])²`` over the sources, each of variance 1, with a Gaussian ν."""
    model, X = fitted
    S = np.asarray(model.transform(X), np.float64)
    S = np.abs(S / S.std(axis=0))
    return float(np.square((S + np.log1p(np.exp(-2 * S)) - np.log(2)).mean(axis=0) - 0.37456718).sum())


TASKS = [
    Task(
        "ica-mnist",
        "FastICA, 50 sources of 50 principal components of MNIST, 70,000×50 float32",
        _rows,
        {
            "lowdim": System(lowdim),
            "scikit-learn": System(sklearn, once=True),
            "lowdim, exp": System(partial(lowdim, fun="exp")),
            "lowdim, cube": System(partial(lowdim, fun="cube")),
        },
        negentropy,
        "negentropy",
        worst=min,
        needs="mnist",
        warm_up=2000,
        note="By the contrast log cosh where no other is named, to one tolerance (1e-4). Quality: by log cosh; more "
        "is better.",
    ),
]
