"""MDS, Laplacian eigenmaps and the variants of LLE beside scikit-learn's: time, memory, and how good the map is."""

from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import System, Task
from benchmarks.tasks.manifold import _mnist50

K = 2


def _roll(_, n):
    """Rows of a swiss roll with the places they have when it is unrolled, arc length by height."""
    from lowdim import data

    X, t = data.load("swissroll", n_samples=n, noise=0.0)
    length = (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2
    return np.column_stack([X, length])


def mds(X, **params) -> Any:
    from lowdim import MDS

    return MDS(K, tol=0, max_iter=300, random_state=0, **params).fit(X)


def sklearn_mds(X) -> Any:
    from sklearn.manifold import MDS

    # eps=0: all 300 iterations, as ours.
    return MDS(K, n_init=1, init="random", max_iter=300, eps=0, normalized_stress=True, random_state=0).fit(X)


def laplacian(X) -> Any:
    from lowdim import LaplacianEigenmaps

    return LaplacianEigenmaps(K, n_neighbors=10, weights="binary", random_state=0).fit(X)


def sklearn_laplacian(X) -> Any:
    from sklearn.manifold import SpectralEmbedding

    return SpectralEmbedding(K, affinity="nearest_neighbors", n_neighbors=10, random_state=0, n_jobs=-1).fit(X)


def _tree(_, n):
    """Rows of a tree, and without noise."""
    from lowdim import data

    return np.column_stack([data.load("tree", n_samples=n)[0], data.load("tree", n_samples=n, noise=0.0)[0]])


def phate(XC) -> Any:
    from lowdim import PHATE

    return PHATE(random_state=0).fit_transform(XC[:, : XC.shape[1] // 2]), XC


def phate_phate(XC) -> Any:
    from phate import PHATE

    return PHATE(random_state=0, n_jobs=-1, verbose=0).fit_transform(XC[:, : XC.shape[1] // 2]), XC


def along_the_tree(fitted, _) -> float:
    """Rank correlation of distances on the map with those along the tree without noise."""
    from scipy.stats import spearmanr

    from lowdim import Isomap

    (Y, XC), rng = fitted, np.random.default_rng(0)
    some = rng.permutation(len(Y))[:1500]
    D = Isomap(K, n_neighbors=10).fit(XC[some, XC.shape[1] // 2 :]).dist_matrix_
    i, j = rng.integers(0, len(some), (2, 100_000))
    return float(spearmanr(D[i, j], np.linalg.norm(Y[some[i]] - Y[some[j]], axis=1))[0])


def lle(X, variant) -> Any:
    from lowdim import LLE

    return LLE(K, n_neighbors=12, method=variant, random_state=0).fit(X[:, :3] if X.shape[1] == 4 else X)


def sklearn_lle(X, variant) -> Any:
    from sklearn.manifold import LocallyLinearEmbedding

    return LocallyLinearEmbedding(n_components=K, n_neighbors=12, method=variant, random_state=0, n_jobs=-1).fit(
        X[:, :3]
    )


def stress(fitted, X) -> float:
    """√(Σ (δ − d)² / Σ δ²) over pairs, the same formula for all."""
    from scipy.spatial.distance import pdist

    if len(X) > 5000:
        return float(fitted.stress_)
    d, e = pdist(np.asarray(X, np.float64)), pdist(np.asarray(fitted.embedding_, np.float64))
    return float(np.sqrt(np.square(d - e).sum() / np.square(d).sum()))


def residual(fitted, _) -> float:
    """Largest ``‖L u − λ u‖`` of the map on its own graph."""
    import scipy.sparse as sp

    if hasattr(fitted, "residual_"):
        return float(fitted.residual_)
    V = sp.csr_array(fitted.affinity_matrix_)
    V.setdiag(0)
    degrees = V.sum(axis=1)
    root = 1 / np.sqrt(degrees)
    U = fitted.embedding_ / root[:, None]
    U /= np.linalg.norm(U, axis=0)
    image = U - root[:, None] * (V @ (root[:, None] * U))
    values = np.einsum("ij,ij->j", U, image)
    return float(np.linalg.norm(image - U * values, axis=0).max() / 2)


def distortion(fitted, X) -> float:
    """Share of the unrolled sheet's variance that no linear map of the coordinates explains."""
    T = X[:, [3, 1]] - X[:, [3, 1]].mean(axis=0)
    T /= T.std(axis=0)
    Y = fitted.embedding_ - fitted.embedding_.mean(axis=0)
    return float(np.square(T - Y @ np.linalg.lstsq(Y, T, rcond=None)[0]).sum() / np.square(T).sum())


def left(fitted, _) -> float:
    return float(fitted.residual_)


def itself(X):
    return X


TASKS = [
    Task(
        "mds",
        "Metric MDS, MNIST in 50 dimensions, 3,000 rows, 300 iterations, k = 2",
        partial(_mnist50, n=3000),
        {"lowdim": System(mds), "scikit-learn": System(sklearn_mds, once=True)},
        stress,
        "stress (lower is better)",
        reference=itself,
        needs="mnist",
        warm_up=1600,
    ),
    Task(
        "mds_large",
        "Metric MDS, MNIST in 50 dimensions, 20,000 rows, 300 iterations, k = 2",
        partial(_mnist50, n=20_000),
        {"lowdim": System(mds, once=True)},
        stress,
        "stress (lower is better)",
        reference=itself,
        needs="mnist",
        warm_up=1600,
        rounds=1,
        note="One array of 1.6 GB.",
    ),
    Task(
        "laplacian_eigenmaps",
        "Laplacian eigenmaps, MNIST in 50 dimensions, 10,000 rows, 10 neighbours, k = 2",
        partial(_mnist50, n=10_000),
        {"lowdim": System(laplacian), "scikit-learn": System(sklearn_laplacian)},
        residual,
        "residual of the eigenvectors, relative to 2",
        needs="mnist",
        warm_up=2000,
    ),
    Task(
        "phate",
        "PHATE, a tree of ten branches in 100 dimensions, 20,000 rows, 2,000 landmarks, k = 2",
        partial(_tree, n=20_000),
        {"lowdim": System(phate), "phate": System(phate_phate, once=True)},
        along_the_tree,
        "rank correlation with distances along the tree",
        worst=min,
        warm_up=2000,
    ),
    *(
        Task(
            f"lle_{variant}",
            f"LLE, variant {variant}, swiss roll, 10,000 rows, 12 neighbours, k = 2",
            partial(_roll, n=10_000),
            {
                "lowdim": System(partial(lle, variant=variant)),
                "scikit-learn": System(partial(sklearn_lle, variant=variant)),
            },
            distortion,
            "share of the sheet left unexplained (lower is better)",
            reference=itself,
            warm_up=2000,
        )
        for variant in ("ltsa", "modified", "hessian")
    ),
    *(
        Task(
            f"lle_{variant}_mnist",
            f"LLE, variant {variant}, MNIST in 50 dimensions, 4,000 rows, 12 neighbours, k = 2",
            partial(_mnist50, n=4000),
            {"lowdim": System(partial(lle, variant=variant))},
            left,
            "residual of the eigenvectors",
            needs="mnist",
            warm_up=1000,
            note="scikit-learn ends with 'Factor is exactly singular'.",
        )
        for variant in ("ltsa", "hessian")
    ),
]
