"""Principal component pursuit beside the same steps with a full singular value decomposition, the usual way."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.task import System, Task

N, D, RANK = 200, 1000, 10


def _rows(_: Path) -> Any:
    rng = np.random.default_rng(0)
    L = rng.normal(size=(N, RANK)) @ rng.normal(size=(RANK, D))
    return L + np.where(rng.random((N, D)) < 0.05, 30 * rng.normal(size=(N, D)), 0.0), L


def lowdim(data: Any) -> Any:
    from lowdim import RobustPCA

    return RobustPCA(center=False).fit(data[0]).components_, data[1]


def textbook(data: Any) -> Any:
    X, weight = data[0], max(N, D) ** -0.5
    first = np.linalg.norm(X, 2)
    Y, S, mu = X / max(first, np.abs(X).max() / weight), np.zeros_like(X), 1.25 / first
    V = np.empty(0)
    for _ in range(200):
        U, s, V = np.linalg.svd(X - S + Y / mu, full_matrices=False)
        s = np.maximum(s - 1 / mu, 0)
        L = (U * s) @ V
        A = X - L + Y / mu
        S = np.sign(A) * np.maximum(np.abs(A) - weight / mu, 0)
        Y = Y + mu * (X - L - S)
        mu = min(1.2 * mu, 1.25e7 / first)
        if np.linalg.norm(X - L - S) <= 1e-7 * np.linalg.norm(X):
            break
    return V[: np.count_nonzero(s)], data[1]


def missed(fitted: Any, _: Any) -> float:
    """Share of the low-rank part outside the directions found."""
    U, L = fitted
    return float(np.linalg.norm(L - L @ U.T @ U) / np.linalg.norm(L))


TASKS = [
    Task(
        "robust-pca",
        f"RobustPCA, rank {RANK} and 5 % errors, {N}×{D:,} float64",
        _rows,
        {"lowdim": System(lowdim), "by full SVD, NumPy": System(textbook, once=True)},
        missed,
        "low rank missed",
        warm_up=None,
        note="scikit-learn has no such method; the second system takes the same steps with NumPy's singular values.",
    ),
]
