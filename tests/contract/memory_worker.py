"""Prints what each method asked for and what it took, each case in a process of its own.

``PYTHONPATH=. python tests/contract/memory_worker.py NAME …`` in the root of the repository.
"""

import ctypes
import gc
import json
import os
import sys
import warnings
from importlib.util import find_spec

import numpy as np
import scipy.sparse as sp

import lowdim
from benchmarks.memory import Resident, field
from lowdim.work import memory

# The C library keeps freed blocks by a limit that grows with them: rows of one case would change the others.
ctypes.CDLL(None).mallopt(ctypes.c_int(-3), ctypes.c_int(131_072))  # M_MMAP_THRESHOLD

_WARM = 600  # rows of a first fit, which loads libraries and starts threads


def gaussian(n, d):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.integers(3, size=n)


def sheet(n):
    rng = np.random.default_rng(0)
    u, v = rng.random((2, n))
    return np.stack([(1 + u) * np.cos(4 * u), 3 * v, (1 + u) * np.sin(4 * u)], axis=1), rng.integers(3, size=n)


def pixels(n, d):
    rng = np.random.default_rng(0)
    return (rng.integers(0, 256, (n, d)) / np.float32(255)).astype(np.float32), rng.integers(3, size=n)


def gaps(n, d):
    X, y = gaussian(n, d)
    X[np.random.default_rng(1).random(X.shape) < 0.3] = np.nan
    return X, y


def codes(n, d):
    rng = np.random.default_rng(0)
    return rng.integers(0, 10, (n, d)), rng.integers(3, size=n)


def two_views(n, d):
    """Parts of one array: freeing a large one here would change how the C library allocates in every case."""
    first, second = np.random.default_rng(0).normal(size=(2, n, d))
    return first, second


def counts(n, d):
    """Sparse counts, one in twenty."""
    rng = np.random.default_rng(0)
    return sp.random_array((n, d), density=0.05, random_state=rng, format="csr", dtype=np.float64), rng.integers(
        3, size=n
    )


LOW_RANK = {"approximation": "rpcholesky", "rank": 100, "gamma": 1e-3, "random_state": 0}
CASES = {
    "pca": (lowdim.PCA, {"n_components": 10}, gaussian(2500, 1200)),
    "pca, all": (lowdim.PCA, {"svd_solver": "covariance"}, gaussian(2500, 1200)),
    "nmf": (lowdim.NMF, {"n_components": 20, "max_iter": 5, "random_state": 0}, pixels(4000, 2000)),
    "nmf, sparse": (lowdim.NMF, {"n_components": 20, "max_iter": 5, "random_state": 0}, counts(40_000, 2000)),
    "fast_ica": (lowdim.FastICA, {"max_iter": 2, "tol": 1.0, "random_state": 0}, gaussian(60_000, 100)),
    "factor_analysis": (lowdim.FactorAnalysis, {"n_components": 5, "tol": 1e9}, gaussian(2500, 1000)),
    "factor_analysis, wide": (lowdim.FactorAnalysis, {"n_components": 5, "tol": 1e9}, gaussian(900, 2500)),
    "robust_pca": (lowdim.RobustPCA, {"max_iter": 3, "tol": 0.9}, gaussian(2000, 600)),
    "sparse_pca": (lowdim.SparsePCA, {"max_iter": 1, "tol": 1e9}, gaussian(2500, 1200)),
    "nca": (lowdim.NCA, {"n_components": 2, "max_iter": 2, "tol": 1e9}, gaussian(20_000, 60)),
    "lda": (lowdim.LDA, {}, gaussian(2500, 1000)),
    "pca, svd": (lowdim.PCA, {"n_components": 10, "svd_solver": "svd"}, gaussian(3000, 1000)),
    "pca, gaps": (lowdim.PCA, {"n_components": 10, "missing": "em", "max_iter": 3}, gaps(20_000, 300)),
    "pca, gaps in wide rows": (lowdim.PCA, {"n_components": 10, "missing": "em", "max_iter": 3}, gaps(1500, 3500)),
    "pca, many components and gaps": (
        lowdim.PCA,
        {"n_components": 40, "missing": "em", "max_iter": 3},
        gaps(6000, 500),
    ),
    "kl": (lowdim.KLExpansion, {}, gaussian(3000, 1500)),
    "kl, few": (lowdim.KLExpansion, {"n_components": 10}, gaussian(2500, 1000)),
    "kl, wide": (lowdim.KLExpansion, {"n_components": 10}, gaussian(900, 2500)),
    "famd": (lowdim.FAMD, {}, gaussian(20_000, 200)),
    "famd, few rows": (lowdim.FAMD, {}, gaussian(2500, 1000)),
    "mca": (lowdim.MCA, {}, codes(10_000, 100)),
    "kernel_pca": (lowdim.KernelPCA, {"eigen_solver": "krylov"}, gaussian(3500, 10)),
    "kernel_pca, dense": (lowdim.KernelPCA, {"eigen_solver": "dense"}, gaussian(2000, 10)),
    "kernel_pca, inverse": (lowdim.KernelPCA, {"fit_inverse_transform": True}, gaussian(2500, 10)),
    "kernel_pca, refined": (lowdim.KernelPCA, LOW_RANK | {"refine": 1}, gaussian(8000, 1000)),
    "kernel_pca, pixels": (lowdim.KernelPCA, LOW_RANK, pixels(20_000, 1000)),
    "kernel_pca, pixels refined": (lowdim.KernelPCA, LOW_RANK | {"refine": 1}, pixels(8000, 3000)),
    "kernel_lda": (lowdim.KernelLDA, {}, gaussian(2000, 10)),
    "cca": (lowdim.CCA, {}, two_views(2500, 1000)),
    "pls": (lowdim.PLSRegression, {}, two_views(2500, 1000)),
    "pls_canonical": (lowdim.PLSCanonical, {}, two_views(2500, 1000)),
    "truncated_svd": (lowdim.TruncatedSVD, {"n_components": 10}, gaussian(2500, 1200)),
    "gaussian_projection": (lowdim.GaussianRandomProjection, {"n_components": 390}, gaussian(700, 4000)),
    "sparse_projection": (lowdim.SparseRandomProjection, {"n_components": 2000}, gaussian(700, 20_000)),
    "kernel_cca": (lowdim.KernelCCA, {}, (gaussian(1500, 10)[0], gaussian(1500, 10)[0][::-1].copy())),
    "mds": (lowdim.MDS, {"max_iter": 5}, gaussian(2000, 10)),
    "laplacian": (lowdim.LaplacianEigenmaps, {}, gaussian(20_000, 10)),
    "laplacian, banded": (lowdim.LaplacianEigenmaps, {"n_neighbors": 30}, sheet(20_000)),
    "laplacian, radius": (lowdim.LaplacianEigenmaps, {"radius": 0.6}, sheet(4000)),
    "diffusion_map": (lowdim.DiffusionMap, {}, gaussian(20_000, 10)),
    "phate": (lowdim.PHATE, {"landmarks": 1000}, gaussian(20_000, 10)),
    "phate, all": (lowdim.PHATE, {}, gaussian(1800, 10)),
    "pacmap": (lowdim.PaCMAP, {"max_iter": 3, "random_state": 0}, gaussian(20_000, 10)),
    "isomap": (lowdim.Isomap, {}, sheet(4000)),
    "isomap, small": (lowdim.Isomap, {}, sheet(1500)),
    "isomap, landmarks": (lowdim.Isomap, {"landmarks": 500}, sheet(16_000)),
    "lle": (lowdim.LLE, {}, sheet(20_000)),
    "lle, many": (lowdim.LLE, {"n_neighbors": 40}, sheet(8000)),
    "lle, filling": (lowdim.LLE, {"random_state": 0}, gaussian(4000, 10)),
    "lle, deep": (lowdim.LLE, {"random_state": 0}, gaussian(8000, 4)),
    "tsne": (lowdim.TSNE, {"max_iter": 5, "random_state": 0}, gaussian(20_000, 8)),
    "sne": (lowdim.SNE, {"max_iter": 5, "random_state": 0}, gaussian(20_000, 8)),
    "select": (lowdim.SequentialFeatureSelector, {}, gaussian(3000, 20)),
    "rank": (lowdim.RankFeatures, {}, gaussian(300_000, 10)),
    "rank, relief": (lowdim.RankFeatures, {"by": "relief", "random_state": 0}, gaussian(10_000, 400)),
    "umap": (lowdim.UMAP, {"n_epochs": 3, "random_state": 0}, gaussian(20_000, 8)),
    "umap, density": (lowdim.UMAP, {"n_epochs": 3, "random_state": 0, "densmap": True}, gaussian(20_000, 8)),
    "tsne, density": (lowdim.TSNE, {"max_iter": 5, "random_state": 0, "densmap": True}, gaussian(20_000, 8)),
}
if find_spec("torch"):  # Autoencoder has no case: what it takes is PyTorch's
    LITTLE = {"hidden": (16,), "max_epochs": 2, "random_state": 0}
    CASES |= {
        "parametric_umap": (lowdim.ParametricUMAP, LITTLE, gaussian(20_000, 8)),
        "parametric_tsne": (lowdim.ParametricTSNE, LITTLE, gaussian(20_000, 8)),
    }


def measure(name):
    """Bytes foreseen at the most, what was taken already with what was asked for, and the growth of the process."""
    cls, params, (X, y) = CASES[name]
    cls(**params).fit(X[:_WARM, : max(5, X.shape[1] // 10)], y[:_WARM])
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    foreseen, require, before = [], memory.require, field("VmRSS")

    def listen(n_bytes, *words):
        foreseen.append(field("VmRSS") - before + n_bytes)
        require(n_bytes, *words)

    memory.require = listen
    with Resident() as peak:
        cls(**params).fit(X, y)
    return max(foreseen), peak.growth


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for case in sys.argv[1:]:
        child = os.fork()
        if not child:
            print(json.dumps([case, *measure(case)]), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
