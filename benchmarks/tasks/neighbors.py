"""Exact neighbours of all rows beside faiss: MNIST along 50 axes and whole, and data that cannot be pruned."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from benchmarks.task import System, Task
from lowdim.data import load

_K = 91
_FEW = 10  # neighbours in few dimensions


def _mnist(_: Path) -> np.ndarray:
    return np.divide(load("mnist")[0], 255, dtype=np.float32)


def _mnist50(folder: Path) -> np.ndarray:
    from lowdim import PCA

    return np.ascontiguousarray(PCA(50).fit_transform(_mnist(folder)))


def _mnist_low(folder: Path, axes: int) -> np.ndarray:
    return np.ascontiguousarray(_mnist50(folder)[:, :axes])


def _gaussian(_: Path) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((70_000, 50), dtype=np.float32)


def lowdim(X: np.ndarray, how: str = "exact", k: int = _K) -> Any:
    from lowdim.relate.neighbors import nearest

    found = nearest(X, k, how=how)
    return X, found.indices, found.distances


def groups(X: np.ndarray) -> Any:
    """The search of many dimensions, also where a tree is what lowdim takes."""
    from lowdim.relate import partition

    return X, *partition.of(X, None, 0).nearest(_FEW, None)


def tree(X: np.ndarray) -> Any:
    from scipy.spatial import KDTree

    distances, indices = KDTree(X).query(X, _FEW + 1, workers=2)
    return X, indices, distances


def sklearn(X: np.ndarray) -> Any:
    from sklearn.neighbors import NearestNeighbors

    return X, *NearestNeighbors(n_neighbors=_FEW, n_jobs=2).fit(X).kneighbors()[::-1]


def faiss(X: np.ndarray) -> Any:
    import faiss as peer

    index = peer.IndexFlatL2(X.shape[1])
    index.add(X)
    distances, indices = index.search(X, _K + 1)
    return X, indices, np.sqrt(np.maximum(distances, 0))


def hnsw(X: np.ndarray) -> Any:
    import faiss as peer

    index = peer.IndexHNSWFlat(X.shape[1], 16)
    index.hnsw.efConstruction, index.hnsw.efSearch = 80, 128
    index.add(X)
    distances, indices = index.search(X, _K + 1)
    return X, indices, np.sqrt(np.maximum(distances, 0))


def recall(found: Any, _: Any) -> float:
    """Share of 300 rows' neighbours that are no farther than the last true one, by distances in float64."""
    X, indices, distances = found
    k = _FEW if distances.shape[1] <= _FEW + 1 else _K
    rows = np.random.default_rng(1).choice(len(X), 300, replace=False)
    right = 0
    for i, D in zip(rows, cdist(X[rows], X, "sqeuclidean"), strict=True):
        D[i] = np.inf
        last = np.partition(D, k - 1)[k - 1]
        right += min(k, int((D[indices[i][indices[i] != i]] <= last * (1 + 1e-12)).sum()))
    return right / (len(rows) * k)


def _task(name: str, title: str, data: Any, needs: str | None, systems: dict[str, System], rounds: int) -> Task:
    return Task(name, title, data, systems, recall, "recall", worst=min, needs=needs, warm_up=2000, rounds=rounds)


_BOTH = {"lowdim": System(lowdim), "faiss flat": System(faiss, once=True)}

TASKS = [
    _task(
        "neighbors-mnist50",
        "Exact 91 neighbours, MNIST along 50 axes, 70,000×50",
        _mnist50,
        "mnist",
        {
            **_BOTH,
            "lowdim, approximate": System(partial(lowdim, how="approximate")),
            "faiss HNSW": System(hnsw, once=True),
        },
        2,
    ),
    _task(
        "neighbors-gaussian",
        "Exact 91 neighbours, isotropic Gaussian, 70,000×50, nothing to prune",
        _gaussian,
        None,
        _BOTH,
        2,
    ),
    _task("neighbors-mnist784", "Exact 91 neighbours, MNIST, 70,000×784", _mnist, "mnist", _BOTH, 1),
    *(
        _task(
            f"neighbors-low{d}",
            f"Exact 10 neighbours, MNIST along {d} axes, 70,000×{d}",
            partial(_mnist_low, axes=d),
            "mnist",
            {
                "lowdim": System(partial(lowdim, how="auto", k=_FEW)),
                "lowdim, by groups": System(groups),
                "SciPy KDTree": System(tree),
                "scikit-learn": System(sklearn, once=d > 3),
            },
            2,
        )
        for d in (3, 5, 8)
    ),
]
