"""Isomap and LLE beside scikit-learn's: time, memory, and the same map."""

from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import System, Task

K = 2


def _mnist50(folder, n):
    """The first n digits in 50 principal components, computed once a call."""
    from lowdim import PCA, data

    path = folder / "mnist50.npy"
    if not path.is_file():
        X, _ = data.load("mnist")
        np.save(path, PCA(50, random_state=0).fit_transform(X).astype(np.float32))
    return np.ascontiguousarray(np.load(path, mmap_mode="r")[:n])


def _roll(_):
    from lowdim import data

    return data.load("swissroll", n_samples=20_000)[0]


def isomap(X, **params) -> Any:
    from lowdim import Isomap

    return Isomap(K, n_neighbors=10, random_state=0, **params).fit(X)


def sklearn_isomap(X) -> Any:
    from sklearn.manifold import Isomap

    return Isomap(n_components=K, n_neighbors=10, n_jobs=-1).fit(X)


def lle(X, n_neighbors) -> Any:
    from lowdim import LLE

    return LLE(K, n_neighbors=n_neighbors, random_state=0).fit(X)


def sklearn_lle(X, n_neighbors) -> Any:
    from sklearn.manifold import LocallyLinearEmbedding

    return LocallyLinearEmbedding(n_components=K, n_neighbors=n_neighbors, random_state=0, n_jobs=-1).fit(X)


def agreement(fitted, reference) -> float:
    """Least correlation of a coordinate with the reference, up to sign."""
    Y = fitted.embedding_
    return float(min(abs(np.corrcoef(Y[:, j], reference[:, j])[0, 1]) for j in range(Y.shape[1])))


def unexplained(fitted, _) -> float | None:
    found = getattr(fitted, "residual_variance_", None)
    return None if found is None else float(found[-1])


def cost(fitted, _) -> float:
    return float(fitted.reconstruction_error_)


TASKS = [
    Task(
        "isomap",
        "Isomap, MNIST in 50 dimensions, 10,000 rows, 10 neighbours, k = 2",
        partial(_mnist50, n=10_000),
        {"lowdim": System(isomap), "scikit-learn": System(sklearn_isomap)},
        agreement,
        "correlation with scikit-learn's coordinates",
        worst=min,
        reference=lambda X: sklearn_isomap(X).embedding_,
        needs="mnist",
        warm_up=2000,
    ),
    Task(
        "isomap_large",
        "Isomap, MNIST in 50 dimensions, 10 neighbours, k = 2: 30,000 rows exactly",
        partial(_mnist50, n=30_000),
        {
            "lowdim, exact": System(isomap, once=True),
            "lowdim, 1,000 landmarks": System(partial(isomap, landmarks=1000)),
        },
        unexplained,
        "residual variance",
        needs="mnist",
        warm_up=2000,
        note="Distances of 1.8 GB, each pair once. The residual variance with landmarks is that of their distances.",
    ),
    Task(
        "isomap_landmarks",
        "Isomap, MNIST in 50 dimensions, all 70,000 rows, 10 neighbours, k = 2, 1,000 landmarks",
        partial(_mnist50, n=70_000),
        {"lowdim": System(partial(isomap, landmarks=1000))},
        unexplained,
        "residual variance",
        needs="mnist",
        warm_up=2000,
        note="scikit-learn has no landmarks; its distances would take 39 GB.",
    ),
    Task(
        "lle",
        "LLE, MNIST in 50 dimensions, 10,000 rows, 10 neighbours, k = 2",
        partial(_mnist50, n=10_000),
        {
            "lowdim": System(partial(lle, n_neighbors=10)),
            "scikit-learn": System(partial(sklearn_lle, n_neighbors=10)),
        },
        cost,
        "cost of the map (lower is better)",
        needs="mnist",
        warm_up=2000,
    ),
    Task(
        "lle_roll",
        "LLE, swiss roll, 20,000 rows, 12 neighbours, k = 2",
        _roll,
        {
            "lowdim": System(partial(lle, n_neighbors=12)),
            "scikit-learn": System(partial(sklearn_lle, n_neighbors=12)),
        },
        cost,
        "cost of the map (lower is better)",
        warm_up=2000,
    ),
]
