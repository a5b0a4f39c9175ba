"""Measures of maps: trustworthiness, R_NX curves and the silhouette, of MNIST's first two components."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.task import System, Task
from lowdim import PCA
from lowdim.data import load

Map = tuple[np.ndarray, np.ndarray, np.ndarray]


def _mapped(_: Path, rows: int) -> Map:
    X, y = load("mnist")
    X = np.divide(X[:rows], 255, dtype=np.float32)
    return X, PCA(2).fit_transform(X), y[:rows]


def trustworthiness(data: Map) -> float:
    from lowdim import quality

    return quality.trustworthiness(data[0], data[1], 10)


def sklearn_trustworthiness(data: Map) -> float:
    from sklearn.manifold import trustworthiness

    return trustworthiness(data[0], data[1], n_neighbors=10)


def rnx_auc(data: Map, **options: Any) -> float:
    from lowdim import quality

    return quality.rnx_auc(data[0], data[1], **options)


def silhouette(data: Map) -> float:
    from lowdim import quality

    return quality.silhouette(data[1], data[2])


def sklearn_silhouette(data: Map) -> float:
    from sklearn.metrics import silhouette_score

    return silhouette_score(data[1], data[2])


def value(found: float, _: Any) -> float:
    return float(found)


def error(found: Any, _: Any) -> dict[str, str]:
    """Of measures that know it."""
    return {"standard error": f"{getattr(found, 'error', 0.0):.1g}"}


TASKS = [
    Task(
        "quality-trustworthiness-10000",
        "Trustworthiness, MNIST float32, 10,000×784, k = 10",
        partial(_mapped, rows=10_000),
        {"lowdim": System(trustworthiness), "scikit-learn": System(sklearn_trustworthiness, once=True)},
        value,
        "value",
        needs="mnist",
        warm_up=None,
    ),
    Task(
        "quality-trustworthiness-70000",
        "Trustworthiness, MNIST float32, 70,000×784, k = 10",
        partial(_mapped, rows=70_000),
        {"lowdim": System(trustworthiness, once=True)},
        value,
        "value",
        needs="mnist",
        warm_up=None,
        rounds=1,
        note="scikit-learn stores the distances and their order, 78 GB, and cannot run this. All rows are looked at.",
    ),
    Task(
        "quality-rnx",
        "Area under R_NX, MNIST float32, 5,000×784",
        partial(_mapped, rows=5000),
        {"lowdim": System(rnx_auc), "lowdim, sample of 1000": System(partial(rnx_auc, sample=1000))},
        value,
        "value",
        needs="mnist",
        warm_up=None,
    ),
    Task(
        "quality-silhouette",
        "Silhouette, two components of MNIST, 20,000×2, 10 classes",
        partial(_mapped, rows=20_000),
        {"lowdim": System(silhouette), "scikit-learn": System(sklearn_silhouette)},
        value,
        "value",
        needs="mnist",
        warm_up=None,
    ),
    Task(
        "quality-silhouette-70000",
        "Silhouette, two components of MNIST, 70,000×2, 10 classes",
        partial(_mapped, rows=70_000),
        {"lowdim": System(silhouette)},
        value,
        "value",
        needs="mnist",
        warm_up=None,
        rounds=1,
    ),
    Task(
        "quality-rnx-70000",
        "Area under R_NX, MNIST float32, 70,000×784, 1,000 rows sampled",
        partial(_mapped, rows=70_000),
        {"lowdim": System(rnx_auc)},
        value,
        "value",
        needs="mnist",
        warm_up=None,
        rounds=1,
        note="Chosen by itself: each sampled row is sorted among all 70,000.",
        details=error,
    ),
]
