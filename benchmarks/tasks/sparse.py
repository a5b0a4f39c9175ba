"""Sparse PCA and neighbourhood components beside scikit-learn's."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.task import System, Task
from lowdim.data import load

K = 10


def _digits(_: Path) -> np.ndarray:
    return load("digits")[0]


def lowdim(X: Any) -> Any:
    from lowdim import SparsePCA

    return SparsePCA(K, alpha=0.05).fit(X), X


def sklearn(X: Any, **options: Any) -> Any:
    from sklearn.decomposition import SparsePCA

    return SparsePCA(K, alpha=3.0, random_state=0, **options).fit(X), X


def explained(fitted: Any, _: Any) -> float:
    """Share of the variance in the span of the components."""
    model, X = fitted
    Z = X - X.mean(axis=0)
    U = np.linalg.svd(model.components_, full_matrices=False)[2]
    return float(np.square(Z @ U.T).sum() / np.square(Z).sum())


def used(fitted: Any, _: Any) -> dict[str, str]:
    return {"non-zero loadings": str(int(np.count_nonzero(fitted[0].components_)))}


def _labelled(_: Path) -> Any:
    X, y = load("digits")
    return X.astype(np.float64) / 16, y


def nca(data: Any) -> Any:
    from lowdim import NCA

    return NCA(5, max_iter=50).fit(*data), data


def sklearn_nca(data: Any) -> Any:
    from sklearn.neighbors import NeighborhoodComponentsAnalysis

    return NeighborhoodComponentsAnalysis(5, init="pca", max_iter=50, random_state=0).fit(*data), data


def accuracy(fitted: Any, _: Any) -> float:
    """Expected accuracy of stochastic neighbours, by its definition."""
    model, (X, y) = fitted
    Y = np.asarray(model.transform(X), np.float64)
    D = np.square(Y).sum(axis=1)[:, None] + np.square(Y).sum(axis=1) - 2 * Y @ Y.T
    np.fill_diagonal(D, np.inf)
    P = np.exp(-(D - D.min(axis=1, keepdims=True)))
    return float((P * (y[:, None] == y)).sum(axis=1).__truediv__(P.sum(axis=1)).mean())


TASKS = [
    Task(
        "sparse-pca",
        f"SparsePCA, {K} components of digits, 1,797×64 float64",
        _digits,
        {
            "lowdim": System(lowdim),
            "scikit-learn lars": System(sklearn),
            "scikit-learn cd": System(partial(sklearn, method="cd")),
        },
        explained,
        "variance explained",
        worst=min,
        details=used,
        note="Penalties by which about as many loadings are not 0. scikit-learn penalises a dictionary, lowdim the "
        "regressions of the principal components.",
    ),
    Task(
        "nca",
        "NCA, 5 dimensions of digits, 1,797×64 float64, 50 iterations",
        _labelled,
        {"lowdim": System(nca), "scikit-learn": System(sklearn_nca)},
        accuracy,
        "expected accuracy",
        worst=min,
        note="From the same principal directions; expected accuracy of stochastic neighbours, on the rows of the fit.",
    ),
]
